"""What experiment `learnt-subspace` says: a verdict, one table, one picture."""

from pathlib import Path

import numpy as np
from scipy.stats import t as student

from benchmarks.engine import Table
from benchmarks.search.gap_closed import compared, gap_runs
from benchmarks.search.search_figures import drawn

from ._comparisons import LEVEL, holm

DEFAULT = "silbo"
FEWEST_RUNS = 60  # of a row beside the default: one with fewer is grey and supports no sentence
NAMES = {
    DEFAULT: "the default",
    "semi-sir": "semi-SIR",
    "semi-sir,surrogate=sklearn": "semi-SIR with scikit-learn's process",
    "active-subspace": "active subspace",
}
COLOURS = dict(zip(NAMES, ("#0072B2", "#d62728", "#ff9900", "#009e73"), strict=True))
KNOWN = ",n_components=known"
PLANTED, ROTATED, NATIVE, ALL, EARLY, SOONER, THEORY, THOUSAND = (
    "planted, 5 of 100 inputs",
    "rotated, 5 of 100 directions",
    "native, 20 inputs",
    "all of bbob",
    "all of bbob, after 50",
    "one or two of 100 directions, after 20",
    "one or two of 100 directions, after 50",
    "one or two of 1000 directions, after 50",
)
KINDS = {"planted": PLANTED, "rotated": ROTATED, "native": NATIVE}
COLUMNS = {  # evaluations of the share, and of the random search that it is a share of
    PLANTED: (100, 100),
    ROTATED: (100, 100),
    NATIVE: (100, 100),
    ALL: (100, 100),
    EARLY: (50, 50),
    SOONER: (20, 50),
    THEORY: (50, 50),
    THOUSAND: (50, 50),
}
NOTE = (
    "Mean share that a search closes of the gap between random search and the optimum, after 100 "
    "evaluations or as stated (:doc:`suites` defines the gap). In parentheses: difference from the "
    "default on the same problems and seeds ± one standard error, clustered by function. *One or "
    "two directions*: six functions that increase along every direction and are constant outside "
    f"the middle third of its range. Rows with fewer than {FEWEST_RUNS} runs are grey and support "
    "no claim. "
    "*s*: processor time of a proposal in the second half of 50 evaluations, median of the runs."
)


def place_of(problem):
    """Return the column of the table that a problem counts in."""
    if problem["suite"] == "ridge":
        return THEORY if problem["d"] == 100 else THOUSAND
    return KINDS[problem["kind"]]


def row_of(method):
    """Return the key of `NAMES` of a method, and whether the number of directions was known."""
    known = method.endswith(KNOWN)
    return method.removesuffix(KNOWN).rpartition("embedding=")[2], known


def format_row(method):
    """Return the words for a method.

    Examples
    --------
    >>> format_row("silbo:embedding=semi-sir,n_components=known")
    'semi-SIR (number known)'
    """
    name, known = row_of(method)
    return NAMES[name] + " (number known)" * known


def clustered(values, clusters):
    """Return mean, standard error of the mean with clusters, and how many clusters there are.

    Examples
    --------
    >>> mean, error, count = clustered([1.0, 1.0, 3.0, 3.0], ["a", "a", "b", "b"])
    >>> float(mean), round(float(error), 3), count
    (2.0, 1.0, 2)
    """
    values, clusters = np.asarray(values), np.asarray(clusters)
    names = np.unique(clusters)
    sums = np.array([(values[clusters == name] - values.mean()).sum() for name in names])
    correction = len(names) / max(len(names) - 1, 1)
    return values.mean(), np.sqrt(correction * (sums**2).sum()) / values.size, len(names)


def paired(runs, method, column):
    """Return the shares of a method and the default on the same places, and the functions."""
    n, of = COLUMNS[column]
    mine = [run for run in runs if _counts_in(run.problem, column)]
    sides = compared(mine, of, {method, DEFAULT})
    if method not in sides or DEFAULT not in sides:
        return np.empty(0), np.empty(0), []
    values, others = (
        np.array([run.share_of(run.values[n - 1], of) for run in sides[m]])
        for m in (method, DEFAULT)
    )
    return values, others, [run.problem["function"] for run in sides[method]]


def _counts_in(problem, column):
    if column in (ALL, EARLY):
        return problem["suite"] == "bbob"
    return place_of(problem) == (THEORY if column == SOONER else column)


def rows_that_count(runs):
    """Return the methods, without the default, that have enough runs beside it."""
    others = dict.fromkeys(run.method for run in runs if run.method != DEFAULT)
    counts = {
        m: sum(paired(runs, m, column)[0].size for column in (ALL, THEORY, THOUSAND))
        for m in others
    }
    return [method for method, count in counts.items() if count >= FEWEST_RUNS]


def differences(runs):
    """Return {(method, column): (difference, error, p after Holm)} of the rows that count."""
    found = {}
    for method in rows_that_count(runs):
        for column in COLUMNS:
            values, others, functions = paired(runs, method, column)
            if len(set(functions)) > 1:
                mean, error, count = clustered(values - others, functions)
                p = 2.0 * student.sf(abs(mean) / error, count - 1) if error else 1.0
                found[method, column] = mean, error, float(p)
    corrected = holm([p for *_, p in found.values()])
    return {key: (*found[key][:2], p) for key, p in zip(found, corrected, strict=True)}


def headline(results):
    """Return the first paragraph of the page: where a learnt subspace wins."""
    found = differences(gap_runs(results))
    if not found:
        return ["No row has enough runs yet to say where a learnt subspace wins."]
    wins = [key for key, (mean, _, p) in found.items() if mean > 0 and p < LEVEL]
    rows = ", ".join(dict.fromkeys(format_row(method) for method, _ in found))
    if wins:
        words = "; ".join(_format(key, found[key]) for key in wins)
        return [f"**Better than the default: {words}.** Compared: {rows}."]
    best = max(found, key=lambda key: found[key][0])
    words = f" The largest difference is {_format(best, found[best])}."
    words = words if found[best][0] > 0 else ""
    return [f"**No learnt subspace is significantly better than the default.**{words}"]


def other_verdicts(results):
    """Return the paragraph about the rest: what is behind the default, what decides nothing."""
    found = differences(gap_runs(results))
    behind = [key for key, (mean, _, p) in found.items() if mean < 0 and p < LEVEL]
    words = (
        "Significantly worse than the default: "
        f"{'; '.join(_format(key, found[key]) for key in behind)}. "
    )
    rest = "No other difference is significant at 5 % after Holm's correction over the table."
    return words * bool(behind) + rest * bool(found)


def _format(key, difference):
    (method, column), (mean, error, _) = key, difference
    return f"{format_row(method)} on {column} ({mean:+.2f} ± {error:.2f})"


def table(results):
    """Return the table of every row, and what the speed is."""
    runs = gap_runs(results)
    methods = list(dict.fromkeys(r["method"] for r in results if r["status"] == "ok"))
    kept = {DEFAULT, *rows_that_count(runs)}
    rows = []
    for method in sorted(methods, key=_order):
        count = sum(run.method == method for run in runs)
        cells = [format_row(method), str(count), *(_cell(runs, method, c) for c in COLUMNS)]
        cells += [_seconds(results, method, d) for d in (100, 1000)]
        grey = method not in kept or count < FEWEST_RUNS  # the default by itself
        rows.append(tuple(f":grey:`{c}`" if grey and c else c for c in cells))
    header = ("embedding", "runs", *COLUMNS, "s, 100 inputs", "s, 1000 inputs")
    return Table("Comparison with the default", header, rows, NOTE)


def _order(method):
    name, known = row_of(method)
    return list(NAMES).index(name), known


def _cell(runs, method, column):
    values, others, functions = paired(runs, method, column)
    if not values.size:
        return ""
    if method == DEFAULT:
        return f"{values.mean():.2f}"
    mean, error, count = clustered(values - others, functions)
    words = f" ± {error:.2f}" if count > 1 else ""
    return f"{values.mean():.2f} ({mean:+.2f}{words})"


def _seconds(results, method, d):
    wanted = "ok", method, d, "ridge"
    seconds = [
        r["median_seconds"]
        for r in results
        if (r["status"], r["method"], r["problem"]["d"], r["problem"]["suite"]) == wanted
    ]
    return f"{np.median(seconds):.3f}" if seconds else ""


def speeds(results):
    """Return the sentence about the time of a proposal, or "" for a single method."""
    methods = [DEFAULT, *rows_that_count(gap_runs(results))]
    timed = {m: _seconds(results, m, 1000) for m in methods if _seconds(results, m, 1000)}
    times = ", ".join(f"{format_row(m)} {seconds}" for m, seconds in timed.items())
    return f"Seconds per proposal with 1000 inputs: {times}." if len(timed) > 1 else ""


def report(results):
    """Return the paragraphs and the table."""
    paragraphs = [p for p in (other_verdicts(results), speeds(results)) if p]
    return [".. role:: grey", *paragraphs, table(results)]


def figures(results, folder):
    """Draw the mean share closed against evaluations, of the rows that count, on the same runs."""
    runs = gap_runs(results)
    shown = {DEFAULT, *rows_that_count(runs)}
    shown = shown if len(shown) > 1 else {run.method for run in runs}
    columns = (PLANTED, ROTATED, NATIVE, THEORY)
    name, lines = "learnt_subspace.png", {}
    with drawn(Path(folder) / name, 1, len(columns), (14, 3.8), sharey=True) as [panels]:
        for axes, column in zip(panels, columns, strict=True):
            mine = [r for r in runs if r.method in shown and place_of(r.problem) == column]
            n, title = 50 if column == THEORY else 100, column.removesuffix(", after 50")
            by_method = compared(mine, n)
            for method in sorted(by_method, key=_order):
                lines[format_row(method)] = _draw(axes, method, by_method[method], n)
            count = len(next(iter(by_method.values()), ()))
            axes.set_title(f"{title}\n({count} runs a curve)", fontsize=10)
            axes.set(xlabel="evaluations", xlim=(1, n), ylim=(-0.5, 1))
        panels[0].set_ylabel("mean share of the gap closed")
        style = {"loc": "outside lower center", "ncols": 3, "frameon": False}
        panels[0].figure.legend(lines.values(), lines, **style)
    caption = (
        "Mean share of the gap between chance and the optimum. All curves of a panel are over "
        "the same runs. Dashed: the number of directions was given."
    )
    return [(name, caption)]


def _draw(axes, method, runs, n):
    """Draw the mean of a method; return the line."""
    (name, known), shares = row_of(method), [run.share_of(run.values[:n], n) for run in runs]
    style = {"color": COLOURS[name], "ls": "--" if known else "-"}
    [line] = axes.plot(
        np.arange(1, n + 1), np.mean(shares, axis=0), lw=2.4 if name == DEFAULT else 1.4, **style
    )
    return line
