"""Sphinx configuration; `-W` makes every warning an error."""

import os
from importlib.metadata import version as installed_version

import matplotlib

matplotlib.use("Agg")

project = "skbo_silbo"
copyright = "2026, the skbo_silbo developers"
version = release = installed_version("skbo_silbo")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
]
autosummary_generate = True
numpydoc_show_class_members = False
autodoc_default_options = {"members": True, "inherited-members": False}
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "sidebar_width": "260px"}

if os.environ.get("SKBO_SILBO_GALLERY", "1") == "1":
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": "../examples",
        "gallery_dirs": "auto_examples",
        "abort_on_example_error": True,
        "show_memory": False,
    }
