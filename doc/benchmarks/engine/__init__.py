"""What every experiment runs on: cells, store, runner, recorder, report, command line."""

from ._cell_process import measure_cell
from ._command_line import run_command_line
from ._experiment import Cell, Experiment, Grid, all_is_fixed, nothing
from ._measure import peak_rss_mib
from ._pages import csv_lines, render_rst, write_rst
from ._pictures import draw_pictures
from ._results import by_method, missing_cells
from ._runner import MissingPeerError, run_cell, run_experiment
from ._store import Recorder, Store, curve
from ._tables import Table, render_text
from ._words import shape, spread

__all__ = [
    "Cell",
    "Experiment",
    "Grid",
    "MissingPeerError",
    "Recorder",
    "Store",
    "Table",
    "all_is_fixed",
    "by_method",
    "csv_lines",
    "curve",
    "draw_pictures",
    "measure_cell",
    "missing_cells",
    "nothing",
    "peak_rss_mib",
    "render_rst",
    "render_text",
    "run_cell",
    "run_command_line",
    "run_experiment",
    "shape",
    "spread",
    "write_rst",
]
