"""What the site adds to sphinx-gallery.

A sentence for every picture, thumbnails of one panel, and pages of the guide for every name.
"""

import re
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx_gallery.scrapers import matplotlib_scraper
from sphinx_gallery.utils import scale_image

FOLDERS = {  # of the gallery and their examples, in reading order
    "tune": "one_line tune_pipeline tune_subspace current_first several_goals early_stopped "
    "rules_between_parameters when_to_stop killed_and_resumed search_display better_score dask",
    "minimise": "simulator many_inputs log_scale mixture space optuna",
    "reduce": "few_labels unlabeled_rows sdr_subspace how_many predict_along_directions "
    "four_truths sparse_and_curled sites_and_survival",
    "paper": "paper_figure learnt_plane baselines",
    "extend": "own_parts own_surrogate problems",
}
READING_ORDER = " ".join(FOLDERS.values()).split()


class ReadingOrder:
    """Order of the examples in a folder of the gallery."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, file_name):
        """Return the place of an example, or the end if it is not listed."""
        name = Path(file_name).stem.removeprefix("plot_")
        known = name in READING_ORDER
        return READING_ORDER.index(name) if known else len(READING_ORDER), file_name


def scrape_labelled(block, block_vars, gallery_conf, **kwargs):
    """Save figures as sphinx-gallery does; the label of a figure becomes its alternative text."""
    from matplotlib import pyplot as plt

    labels = [plt.figure(number).get_label() for number in plt.get_fignums()]
    if not all(labels):
        raise ExtensionError(
            f"every figure of {block_vars['src_file']} must say what one sees: "
            "give it figure.set_label('...') before it is shown."
        )
    if not len(block_vars["image_path_iterator"]) and labels:
        save_first_panel(plt.figure(plt.get_fignums()[0]), block_vars["image_path_iterator"])
    waiting = iter(labels)
    rst = matplotlib_scraper(block, block_vars, gallery_conf, **kwargs)
    return re.sub(r":alt: .*", lambda _: f":alt: {' '.join(next(waiting).split())}", rst)


def save_first_panel(figure, paths):
    """Save the first of several panels as picture 0, which no page shows."""
    if len(figure.axes) > 1:
        figure.canvas.draw()
        panel = figure.axes[0].get_tightbbox().transformed(figure.dpi_scale_trans.inverted())
        figure.savefig(paths.image_path.format(0), bbox_inches=panel.padded(0.05))


def crop_thumbnails(app):
    """Make thumbnails of the pictures 0, once sphinx-gallery has made its own."""
    for panel in Path(app.srcdir, "auto_examples").glob("*/images/*_000.png"):
        thumbnail = panel.parent / "thumb" / panel.name.replace("_000.png", "_thumb.png")
        size = app.config.sphinx_gallery_conf["thumbnail_size"]
        scale_image(str(panel), str(thumbnail), *size)


def guide_pages(folder):
    """Return, by full name, the pages of the guide that have code and name an object in a role.

    Parameters
    ----------
    folder : Path
        Of the documentation's sources.

    Returns
    -------
    pages : dict of str to list of str
        Names of documents, without suffix.
    """
    pages = {}
    for path in sorted(Path(folder).glob("*.rst")):
        text = path.read_text()
        if path.name == "api.rst" or ">>>" not in text:
            continue
        roles = re.findall(r":(?:class|func|mod|meth|exc):`~?(skbo_silbo[\w.]+)`", text)
        for module, names in re.findall(r">>> from (skbo_silbo[\w.]*) import ([\w, ]+)", text):
            roles += [f"{module}.{name.strip()}" for name in names.split(",")]
        for name in set(roles):
            pages.setdefault(name, []).append(path.stem)
    return pages
