"""Progress output of a run, as a bar or as lines."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any

from skbo_silbo.evaluation.budget import Progress, Show


@contextmanager
def show_progress(verbose: int, title: str, total: float | None, unit: str) -> Iterator[Show]:
    """Return a context manager for a progress display.

    Parameters
    ----------
    verbose : int
        Verbosity. 0 shows nothing. 1 shows a progress bar if tqdm is installed, and otherwise a
        line per evaluation. 2 or more shows lines that include the points.
    title : str
    total : int or float
        Maximum number of evaluations, infinite if only the time is limited.
    unit : str
        Name of one evaluation in the output, such as "call".
    """
    show_bar: Any = None
    total = None if total == math.inf else total
    if verbose == 1:
        with suppress(ImportError):
            show_bar = import_module("tqdm.auto").tqdm
    if not verbose:
        yield None
    elif show_bar is None:
        yield partial(_print_line, title, total, verbose > 1)
    else:
        style = TIMER if total is None else BAR
        with show_bar(total=total, desc=title, unit=unit, bar_format=style) as bar:
            yield partial(_move, bar)


# Without tqdm's own estimate, which does not know of `max_time`.
BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}, {rate_fmt}{postfix}]"
TIMER = "{desc}: {n_fmt} [{elapsed}, {rate_fmt}{postfix}]"  # there is no total


def _move(bar: Any, progress: Progress) -> None:
    bar.set_postfix_str(_format_best(progress), refresh=False)
    bar.update()


def _print_line(title: str, total: float | None, with_point: bool, progress: Progress) -> None:
    point = f": {_format_inputs(progress.point)}" if with_point else ""
    n = f"{progress.n_evaluations}" + ("" if total is None else f"/{total}")
    print(
        f"[{title} {n}] value {progress.value:.4g}, "
        f"{_format_best(progress)}, {progress.elapsed:.1f} s{point}"
    )


def _format_best(progress: Progress) -> str:
    left = progress.seconds_left
    known = f", {left:.0f} s left" if math.isfinite(left) else ""
    return f"best {progress.best_value:.4g}{known}"


def _format_inputs(point: Any) -> str:
    if not isinstance(point, dict):
        return ", ".join(f"{value:.4g}" for value in point)
    shown = (f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in point.items())
    return ", ".join(shown)
