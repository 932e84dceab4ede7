"""The table of runs on one problem, as text: who found the lowest values, and at what cost."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ._recorder import curve

NUMBERS = ("runs", "mean", "sd", "median", "mean half-way")
HEADER = ("method", *NUMBERS, "s a proposal")
ABOUT = (
    "Lowest value found, minimised; of a problem with noise without it. Half-way: after half of "
    "the evaluations. Seconds of the processor, median of the second half of the proposals."
)


def comparison(results, words):
    """Return the `Table` of runs on one problem, the lowest mean first.

    Parameters
    ----------
    results : list of dict
        As `run_once` returns them.
    words : str
        Its title.
    """
    by_method = defaultdict(list)
    for result in results:
        by_method[result["method"]].append(result)
    ordered = sorted(by_method.items(), key=lambda pair: values_of(pair[1])[:, -1].mean())
    rows = [(name, *numbers(own), median_seconds(own)) for name, own in ordered]
    return Table(words, HEADER, rows, ABOUT)


def values_of(results):
    """Return the lowest value after each evaluation of every run, (runs, n)."""
    return np.array([curve(r["steps"], r["problem"]["n"]) for r in results])


def numbers(results):
    """Return the cells of `NUMBERS` of the runs of one method."""
    values = values_of(results)
    last, half = values[:, -1], values[:, max(values.shape[1] // 2 - 1, 0)]
    spread = f"{last.std(ddof=1):.2g}" if len(last) > 1 else ""
    middle = f"{np.median(last):.4g}"
    return str(len(last)), f"{last.mean():.4g}", spread, middle, f"{half.mean():.4g}"


def median_seconds(results):
    """Return the median processor time of a proposal, as words."""
    return f"{np.median([r['median_seconds'] for r in results]):.3f}"


@dataclass(frozen=True)
class Table:
    """A titled table.

    Attributes
    ----------
    title : str
    header : tuple of str
    rows : list of tuple
        Strings.
    note : str
        Printed below.
    """

    title: str
    header: tuple
    rows: list
    note: str = ""


def render_text(blocks):
    """Blocks (str or `Table`) as aligned plain text."""
    return "\n\n".join(_text_table(b) if isinstance(b, Table) else b for b in blocks) + "\n"


def _text_table(table):
    lines = [table.header, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    aligned = ["  ".join(v.ljust(w) for v, w in zip(line, widths, strict=True)) for line in lines]
    aligned.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(
        [table.title, *(line.rstrip() for line in aligned), *filter(None, [table.note])]
    )
