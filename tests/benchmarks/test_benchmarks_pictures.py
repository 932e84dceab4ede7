"""Pictures of the search benchmarks: methods can be told apart, longer runs stand beside others."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.engine import Store
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.search_figures import COLOURS, style_of

pytestmark = pytest.mark.bench

FOLDER = Path(__file__).parents[2] / "doc" / "benchmarks"
APART = 18.0  # CIELAB units; about 2 are just seen side by side, thin lines need far more
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def lab(colour):
    """Colour as L*, a*, b* (CIE 1976), from sRGB "#rrggbb"."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ linear / WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])])


def are_apart(one, other):
    styles = [style_of(name) for name in (one, other)]
    far = np.linalg.norm(lab(styles[0]["color"]) - lab(styles[1]["color"])) >= APART
    return far or styles[0]["ls"] != styles[1]["ls"]


@pytest.mark.parametrize("page", ["default", "methods", "public-peers"])
def test_methods_of_a_page_have_lines_that_differ(page):
    methods = sorted({r["method"] for r in Store(FOLDER / f"{page}.jsonl").read()})
    assert len(methods) > 3
    assert [pair for pair in combinations(methods, 2) if not are_apart(*pair)] == []


def test_no_two_methods_share_their_line():
    styles = {(style_of(m)["color"], style_of(m)["ls"]) for m in COLOURS}
    assert len(styles) == len(COLOURS)
    assert set(CONTESTANTS) >= set(COLOURS)
