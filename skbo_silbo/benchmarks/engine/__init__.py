"""What every experiment runs on: cells, store, runner, recorder, report, command line."""

from ._cell_process import measure_cell
from ._command_line import run_command_line
from ._experiment import Cell, Experiment, Grid, RunOptions, all_is_fixed
from ._measure import peak_rss_mib
from ._recorder import Recorder, curve
from ._results import by_method, missing_cells
from ._runner import MissingPeerError, run_cell, run_experiment
from ._store import Store
from ._tables import Table, csv_lines, render_rst, render_text, write_rst
from ._words import shape, spread

__all__ = [
    "Cell",
    "Experiment",
    "Grid",
    "MissingPeerError",
    "Recorder",
    "RunOptions",
    "Store",
    "Table",
    "all_is_fixed",
    "by_method",
    "csv_lines",
    "curve",
    "measure_cell",
    "missing_cells",
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
