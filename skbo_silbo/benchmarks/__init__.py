"""Experiments as data: speed, memory and quality, side by side with peers, one JSON line a cell.

``python -m skbo_silbo.benchmarks run NAME --out FILE`` measures, ``... report FILE`` tells.
"""

from ._experiment import Cell, Experiment, Grid
from ._report import Table, render_rst, render_text
from ._runner import run_experiment
from ._store import Store

__all__ = [
    "Cell",
    "Experiment",
    "Grid",
    "Store",
    "Table",
    "render_rst",
    "render_text",
    "run_experiment",
]
