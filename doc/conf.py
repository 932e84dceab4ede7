"""Sphinx configuration; `-W` makes every warning an error, and nothing is fetched.

``SKBO_SILBO_GALLERY=0`` lays out the examples without running them.
"""

import os
import sys
import tempfile
import zlib
from importlib.metadata import metadata
from importlib.metadata import version as installed_version
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from gallery import FOLDERS, crop_thumbnails, guide_pages  # noqa: E402

from benchmarks.engine import draw_pictures  # noqa: E402
from benchmarks.experiments import EXPERIMENTS  # noqa: E402

project = "skbo_silbo"
copyright = "2026, the skbo_silbo developers"
release = installed_version("skbo_silbo")
version = ".".join(release.split(".")[:2])
addresses = dict(line.split(", ", 1) for line in metadata("skbo_silbo").get_all("Project-URL"))
source = addresses.get("Source", "the checkout that this site was built from")
rst_epilog = f".. |source| replace:: {source}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "conda", "paper"]
templates_path = ["_templates"]
autosummary_generate = True
autosummary_context = {"guide_pages": guide_pages(HERE)}
autodoc_typehints = "none"  # the docstrings have them, in words
autodoc_default_options = {"members": True, "inherited-members": False}
numpydoc_show_class_members = False
copybutton_exclude = ".linenos, .gp, .go"

# -- links into other libraries ---------------------------------------------------------------
# `inventories/NAME.txt` holds the lines of an objects.inv that we refer to, one a name:
# "name domain:role priority address title". Add a line by hand where a link is missing.
OTHERS = {
    "joblib": "https://joblib.readthedocs.io/en/stable/",
    "matplotlib": "https://matplotlib.org/stable/",
    "numpy": "https://numpy.org/doc/stable/",
    "optuna": "https://optuna.readthedocs.io/en/stable/",
    "pandas": "https://pandas.pydata.org/docs/",
    "python": "https://docs.python.org/3/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "sklearn": "https://scikit-learn.org/stable/",
}


def pack_inventory(name, folder):
    """Write inventories/NAME.txt as Sphinx's inventory of version 2; return its path."""
    head = (
        f"# Sphinx inventory version 2\n# Project: {name}\n# Version: stable\n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    path = Path(folder) / f"{name}.inv"
    lines = (HERE / "inventories" / f"{name}.txt").read_bytes()
    path.write_bytes(head.encode() + zlib.compress(lines))
    return str(path)


_inventories = tempfile.TemporaryDirectory()
intersphinx_mapping = {
    name: (address, pack_inventory(name, _inventories.name)) for name, address in OTHERS.items()
}

# -- formulas: KaTeX from _static reads the delimiters that Sphinx writes for MathJax ---------
mathjax_path = "katex/start.js"
mathjax_options = {"defer": "defer"}

# -- appearance -------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "skbo_silbo"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["katex/katex.min.css", "site.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "how_to": [], "when_not": []}
html_theme_options = {
    "logo": {
        "alt_text": "skbo_silbo, the first page",
        "text": "skbo_silbo",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_center": ["navbar-nav"],
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_depth": 3,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["version"],
    "pygments_light_style": "tango",
}

# -- gallery ----------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "plot_gallery": os.environ.get("SKBO_SILBO_GALLERY", "1") == "1",
    "abort_on_example_error": True,
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("skbo_silbo",),
    "reference_url": {"skbo_silbo": None},
    "subsection_order": [f"../examples/{folder}" for folder in FOLDERS],
    "within_subsection_order": "gallery.ReadingOrder",
    "image_scrapers": ("gallery.scrape_labelled",),
    "inspect_global_variables": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "image_srcset": ["2x"],
}


def draw_benchmarks(app):
    """Draw the pictures of the benchmark pages from their results."""
    draw_pictures(EXPERIMENTS, Path(app.srcdir) / "benchmarks")


def setup(app):
    """Draw the benchmarks' pictures, and crop thumbnails after sphinx-gallery (priority 500)."""
    app.connect("builder-inited", draw_benchmarks)
    app.connect("builder-inited", crop_thumbnails, priority=600)
