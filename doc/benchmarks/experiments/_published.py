"""Our curves beside published ones, twice: by the evaluations plotted, and by those truly made.

A table of published results has the columns method, problem, dim, acquisition, repeats,
plotted_evaluations, true_evaluations, mean_best and sd_best, values maximised.
"""

import csv
from collections import defaultdict
from types import MappingProxyType

import numpy as np
from scipy.stats import ttest_ind_from_stats

from benchmarks.engine import Table, by_method
from benchmarks.registry import TABLES
from benchmarks.search.problem_data import problem_in_words
from benchmarks.search.search_report import FEWEST, incumbent_values

PUBLISHED = TABLES / "published.csv"
CURVES = MappingProxyType(  # (method, acquisition) in the table, by the names of contestants
    {
        "silbo-bu": ("SILBO-BU", "UCB"),
        "silbo-bu-ei": ("SILBO-BU", ""),
        "silbo-td": ("SILBO-TD", "UCB"),
        "silbo-td-ei": ("SILBO-TD", ""),
        "silbo-bu-as-run": ("SILBO-BU", "UCB"),
        "silbo-td-as-run": ("SILBO-TD", "UCB"),
        "rembo": ("REMBO", ""),
        "rembo-kx": ("REMBO-KX", ""),
        "rembo-kpsi": ("REMBO-Kpsi", ""),
        "hesbo": ("HeSBO", ""),
        "sir-bo": ("SIR-BO", ""),
        "rembo-as-run": ("REMBO", ""),
        "hesbo-as-run": ("HeSBO", ""),
        "sir-bo-as-run": ("SIR-BO", ""),
        "add-bo": ("ADD-BO", ""),
    }
)
AT = (50, 150, 250, 550, 1600)  # evaluations of ours at which the curves are compared
LEVEL = 0.05  # of a verdict
# what the authors ran under the name in the table: their Colville is not the textbook's, and on
# Branin every embedding had four coordinates (the names of their files of results say d4)
NAMES = MappingProxyType({"colville_as_run": "colville", "colville": None})
WITHOUT_EMBEDDING = ("ADD-BO",)
R_ON_BRANIN = 4
COLUMNS = (
    *("method", "problem", "dim", "acquisition", "repeats"),
    *("plotted_evaluations", "true_evaluations", "mean_best", "sd_best"),
)

HEADER = (
    *("problem", "method", "evaluations", "ours, mean", "sd"),
    *("published, as plotted", "verdict", "published, true count", "verdict"),
)
NOTE = (
    "Higher is better. The verdict is by Welch's t test at 95 %: not significant (=), ours "
    f"better (+), ours worse (-). It is missing for fewer than {FEWEST} runs, or without a "
    "published value. Published curves of another problem are left out: the published Colville "
    "is `colville_as_run`, and on Branin all embeddings except ADD-BO had four coordinates."
)


def read_published(path):
    """Return the rows of a table of published results.

    Raises
    ------
    ValueError
        When a column is missing.
    """
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    lacking = [name for name in COLUMNS if not rows or name not in rows[0]]
    if lacking:
        raise ValueError(
            f"path must be that of a CSV file with the columns {', '.join(COLUMNS)}: {path} lacks "
            f"{', '.join(lacking)}. Add them."
        )
    return rows


def published_curves(path=PUBLISHED):
    """Return {(problem, d, (method, acquisition)): rows} of a table that `read_published` reads."""
    curves = defaultdict(list)
    for row in read_published(path):
        key = row["problem"], int(row["dim"]), (row["method"], row["acquisition"])
        curves[key].append(row)
    return curves


def compare_published(results, path=PUBLISHED):
    """Return a table, or none: our mean and the published one at as many evaluations.

    Parameters
    ----------
    results : list of dict
        Of an experiment on unmoved functions.
    path : path-like, default=PUBLISHED
        A table that `read_published` reads.
    """
    curves = published_curves(path)
    rows = [
        (f"{problem_in_words(problem)}, {problem['n']} evaluations", *row)
        for problem, methods in ((dict(key), own) for key, own in by_method(results).items())
        if problem["kind"] == "embedded"
        for method, own in methods.items()
        for theirs in [curves.get(published_key(problem, method))]
        if theirs
        for row in _rows(method, own, theirs)
    ]
    return [Table("Comparison with the published means", HEADER, rows, NOTE)] if rows else []


def published_key(problem, method):
    """Return problem, d and curve to compare with, None where theirs was another problem."""
    curve = CURVES.get(method)
    name = NAMES.get(problem["function"], problem["function"])
    if not curve or name is None:
        return None
    is_embedded = curve[0] not in WITHOUT_EMBEDDING
    if name == "branin" and is_embedded and problem["r"] != R_ON_BRANIN:
        return None
    return name, problem["d"], curve


def _rows(method, results, published):
    values = -incumbent_values(results)
    rows = []
    for n in (n for n in AT if n <= values.shape[1]):
        ours = values[:, n - 1]
        found = [
            cell
            for axis in ("plotted_evaluations", "true_evaluations")
            for cell in _beside(ours, value_at(published, axis, n))
        ]
        sd = f"{ours.std(ddof=1):.2g}" if ours.size > 1 else ""
        rows.append((method, str(n), f"{ours.mean():.4g}", sd, *found))
    return rows


def value_at(published, axis, n):
    """Return mean, sd and repeats of a published curve after n evaluations, between its points."""
    counts = np.array([float(row[axis]) for row in published])
    order = np.argsort(counts)
    if n < counts.min() or n > counts.max():
        return None
    mean, sd = (
        np.interp(n, counts[order], [float(published[i][name]) for i in order])
        for name in ("mean_best", "sd_best")
    )
    return mean, sd, int(published[0]["repeats"])


def _beside(ours, theirs):
    """Return the published mean and the verdict, as words."""
    if theirs is None:
        return "", ""
    mean, sd, repeats = theirs
    return f"{mean:.4g}", verdict(ours, mean, sd, repeats)


def verdict(ours, mean, sd, repeats):
    """Return "=" where Welch's t leaves the difference of two means open at 95 %, else "+" or "-".

    Of fewer than five runs there is no verdict.

    Examples
    --------
    >>> import numpy as np
    >>> ours = np.array([1.0, 1.5, 2.0, 2.5, 3.0])
    >>> verdict(ours, 2.5, 1.0, 100), verdict(ours, -2.0, 1.0, 100), verdict(ours, 9.0, 1.0, 100)
    ('=', '+', '-')
    >>> verdict(np.array([1.0]), 2.5, 1.0, 100)
    '1 run'
    """
    if ours.size < FEWEST:
        return f"{ours.size} run{'s' if ours.size > 1 else ''}"
    found = ttest_ind_from_stats(
        ours.mean(), ours.std(ddof=1), ours.size, mean, sd, repeats, equal_var=False
    )
    if not found.pvalue <= LEVEL:  # nor where all values are one
        return "="
    return "+" if ours.mean() > mean else "-"
