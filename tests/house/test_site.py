"""The documentation builds without warnings or network access, and its pages are linked."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parents[2]
MADE = shutil.ignore_patterns("_build", "generated", "auto_examples", "sg_execution_times.rst")


# Faster: no search index, no typographic quotes, no garbage collection of docutils' trees, and
# numpydoc compiles its template once.
UNINDEXED = (
    "import gc, sys; gc.disable(); from functools import cache;"
    "import numpydoc.docscrape_sphinx as n;"
    "n.BuiltinTemplateLoader = cache(n.BuiltinTemplateLoader);"
    "n.SandboxedEnvironment = cache(n.SandboxedEnvironment);"
    "from sphinx.builders.html import StandaloneHTMLBuilder as Builder;"
    "Builder.search = False; from sphinx.cmd.build import main;"
    "sys.exit(main(['-D', 'smartquotes=0', *sys.argv[1:]]))"
)


def build_site(folder, gallery, program=("-m", "sphinx")):
    """Build a copy, because Sphinx and the gallery write next to the sources."""
    shutil.copytree(ROOT / "doc", folder / "doc", ignore=MADE)
    shutil.copytree(ROOT / "examples", folder / "examples")
    for page in ("CONTRIBUTING.md", "CHANGELOG.md"):  # which pages of the site include
        shutil.copy(ROOT / page, folder)
    options = ("-W", "--keep-going", "-q", "-b", "html")
    result = subprocess.run(
        [sys.executable, *program, *options, folder / "doc", folder / "html"],
        cwd=ROOT,
        env=os.environ | {"SKBO_SILBO_GALLERY": gallery},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return folder / "html"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build_site(tmp_path_factory.mktemp("site"), "0", ("-c", UNINDEXED))


class Tags(HTMLParser):
    """Collects the tags of a page with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page.read_text())

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def loaded_addresses(page):
    """Return what a page makes a browser load."""
    tags = Tags(page).found
    sources = [a["src"] for tag, a in tags if tag in ("script", "img", "iframe") and a.get("src")]
    sheets = [
        a["href"] for tag, a in tags if tag == "link" and a.get("rel") in ("stylesheet", "icon")
    ]
    return sources + sheets


def pictures(page):
    """Return the pictures of a page, and whether a text describes each.

    Thumbnails decorate a link, whose title is beside them. An undescribed picture has the name of
    its file as text, if anything.
    """
    images = [attrs for tag, attrs in Tags(page).found if tag == "img"]
    return {a["src"]: "thumb" in a["src"] or " " in (a.get("alt") or "") for a in images}


def test_pages_load_only_local_files(site):
    pages = [site / "index.html", site / "maths.html", site / "auto_examples" / "index.html"]
    for page in pages:
        loaded = loaded_addresses(page)
        assert loaded
        assert not [address for address in loaded if "//" in address], page
    assert any("katex" in address for address in loaded_addresses(site / "maths.html"))
    fonts = re.findall(r"url\(([^)]+)\)", (site / "_static/katex/katex.min.css").read_text())
    assert fonts
    assert all((site / "_static" / "katex" / font).exists() for font in fonts)


def entries_by_section():
    text = (ROOT / "doc" / "api.rst").read_text()
    parts = re.split(r"^(.+)\n[=-]{3,}\n", text, flags=re.M)[1:]
    return {
        title: re.findall(r"^   ([\w.]+)$", body, re.M)
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }


IN_THE_GALLERY = (
    "Tune a model",
    "Reduce dimension",
    "Plot and test directions",
    "Compare with baselines",
    "Problems with a known optimum",
)


def test_reference_pages_link_to_examples_or_guide(site):
    """The rule is in doc/maintaining.rst."""
    sections = entries_by_section()
    assert sum(map(len, sections.values())) > 80
    silent = []
    for title, entries in sections.items():
        for entry in entries:
            page = (site / "api" / "generated" / f"skbo_silbo.{entry}.html").read_text()
            article = page[page.index("<article") : page.index("</article>")]
            links = re.findall(r'href="([^"#]+)', article)
            shown = any(re.search(r"auto_examples/\w+/plot_", link) for link in links)
            told = any(re.fullmatch(r"\.\./\.\./\w+\.html", link) for link in links)
            if not shown and (title in IN_THE_GALLERY or not told):
                silent.append(entry)
    assert not silent


def test_figures_have_alternative_text(site):
    shown = {page: pictures(page) for page in site.rglob("*.html")}
    assert any(shown.values())
    assert not [page for page, found in shown.items() if not all(found.values())]
    readme = re.findall(r"!\[(.*?)\]\((.+?)\)", (ROOT / "README.md").read_text())
    drawn = [(said, path) for said, path in readme if not path.startswith("https://")]  # badges
    assert drawn
    assert all(len(said) > 40 and (ROOT / path).exists() for said, path in drawn)


def test_examples_label_their_figures():
    scripts = list((ROOT / "examples").glob("*/plot_*.py"))
    assert scripts
    assert not [path.name for path in scripts if ".set_label(" not in path.read_text()]


def test_paper_figure_outside_checkout_names_missing_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="run this example in a checkout"):
        runpy.run_path(str(ROOT / "examples" / "paper" / "plot_paper_figure.py"))


@pytest.mark.slow
def test_gallery_runs_and_shows_figures(tmp_path):
    html = build_site(tmp_path, gallery="1")
    for script in (ROOT / "examples").glob("*/plot_*.py"):
        path = html / "auto_examples" / script.parent.name / f"{script.stem}.html"
        page = path.read_text()
        assert f"sphx_glr_{script.stem}_001" in page, script
        assert all(pictures(path).values()), script
        outputs = re.findall(r'<div class="sphx-glr-script-out.*?</pre>', page, re.S)
        assert all(output.count("\n") < 40 for output in outputs), script
