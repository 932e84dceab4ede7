"""Tables of experiments about optimisers: values against evaluations counted."""

from collections import defaultdict

import numpy as np
from scipy.stats import rankdata

from benchmarks.engine import Table, by_method, curve

from .contestants import settings_table
from .problem_data import problem_in_words
from .search_run import regrets

WITHIN = 0.01  # of the distance from the median random value to the optimum
FEWEST = 5  # runs on a problem of a method that is named without a reservation
LEAST_REGRET = 1e-4  # floor of a regret before logarithms are taken
COLUMNS = 3  # of panels in a picture
NUMBERS = ("runs", "mean", "sd", "median", "mean half-way")
HEADER = ("problem", "method", *NUMBERS, "within 1 %", "s a proposal")
ABOUT_RANKS = (
    "*Runs*: lowest number of runs on a problem. *Mean rank*: mean over problems of the rank by "
    "the mean final value; 1 is best. *Regret*: value minus optimum, divided by the distance from "
    "the median random value to the optimum, and at least "
    f"{LEAST_REGRET:g}; geometric mean over problems and runs."
)

ABOUT_WITHIN = (
    "*Within 1 %*: median number of evaluations until the regret is 0.01 of the distance from "
    "the median random value, and the number of runs that reached it."
)


def search_report(results):
    """Return a table over all problems, one of every problem, and who took part."""
    rows = [
        (f"{problem_in_words(problem)}, {problem['n']} evaluations", method, *_numbers(own))
        for problem, methods in ((dict(key), own) for key, own in by_method(results).items())
        for method, own in sorted(methods.items(), key=lambda pair: _mean_last(pair[1]))
    ]
    every = Table("Every problem", HEADER, rows, f"Lower is better. {ABOUT_WITHIN}")
    return [*_over_all(results), every, settings_table(results)]


def evaluations_within(result):
    """Return how many evaluations a run needs to be within 1 % of the range, or None."""
    regret = regrets(result)
    reached = np.flatnonzero(regret <= WITHIN)
    return int(reached[0]) + 1 if reached.size else None


def _mean_last(results):
    return float(incumbent_values(results)[:, -1].mean())


def _numbers(results):
    return (*summary_cells(results), _format_within(results), format_median_seconds(results))


def _format_within(results):
    if "optimum" not in results[0]:
        return ""
    reached = [count for count in map(evaluations_within, results) if count is not None]
    share = f"{len(reached)}/{len(results)}"
    return f"{np.median(reached):.0f} ({share})" if reached else f"never ({share})"


def at_main_budgets(results):
    """Return results with every problem once: at the budget that most methods have run.

    Among budgets of as many methods, the longest.

    Parameters
    ----------
    results : list of dict
    """
    methods = defaultdict(set)
    for r in results:
        methods[_untimed(r), r["problem"]["n"]].add(r["method"])
    main = {}
    for (problem, n), names in sorted(methods.items()):
        main[problem] = max((len(names), n), main.get(problem, (0, 0)))
    return [r for r in results if r["problem"]["n"] == main[_untimed(r)][1]]


def _untimed(result):
    return tuple(item for item in sorted(result["problem"].items()) if item[0] != "n")


def _over_all(results):
    """`Table` of mean ranks and regrets over the problems that all methods in it have in common."""
    every = by_method(at_main_budgets(results))
    grouped = _shared(every)
    complete = [m for m in _methods_of(grouped) if all(m in own for own in grouped.values())]
    if len(complete) < 2 or len(grouped) < 2:
        return []
    last = np.array([[_mean_last(own[m]) for m in complete] for own in grouped.values()])
    ranks = rankdata(last, axis=1).mean(axis=0)
    runs = {m: min(len(own[m]) for own in grouped.values()) for m in complete}
    rows = [
        (m, str(runs[m]), f"{rank:.2f}", *(_format_regret(grouped, m, s) for s in (0.5, 1.0)))
        for rank, m in sorted(zip(ranks, complete, strict=True))
    ]
    note = f"Over {len(grouped)} of {len(every)} problems. {ABOUT_RANKS}"
    left = sorted(set(_methods_of(every)) - set(complete))
    note += (
        f" Left out, because they did not run on every problem: {', '.join(left)}." if left else ""
    )
    few = [m for m in complete if runs[m] < FEWEST]
    without = "all of them" if len(few) == len(complete) else ", ".join(few)
    note += (
        f" With fewer than {FEWEST} runs, so no conclusion is possible: {without}." if few else ""
    )
    header = ("method", "runs", "mean rank", "regret half-way", "regret at the end")
    return [Table("All problems", header, rows, note)]


def _shared(grouped):
    """Return the problems that every method has run on, or all where those are fewer than two."""
    methods = set(_methods_of(grouped))
    shared = {key: own for key, own in grouped.items() if methods == set(own)}
    return shared if len(shared) > 1 else grouped


def _methods_of(grouped):
    return list(dict.fromkeys(m for own in grouped.values() for m in own))


def _format_regret(grouped, method, share):
    logs = [
        np.log(max(regret[max(int(share * regret.size) - 1, 0)], LEAST_REGRET))
        for own in grouped.values()
        for regret in map(regrets, own[method])
        if regret is not None
    ]
    return f"{np.exp(np.mean(logs)):.4f}" if logs else ""


def incumbent_values(results):
    """Return the incumbent's value in each run after each evaluation."""
    return np.array([curve(r["steps"], r["problem"]["n"]) for r in results])


def summary_cells(results):
    """Format the summary statistics of one method's runs as table cells."""
    values = incumbent_values(results)
    last, half = values[:, -1], values[:, max(values.shape[1] // 2 - 1, 0)]
    spread = f"{last.std(ddof=1):.2g}" if len(last) > 1 else ""
    middle = f"{np.median(last):.4g}"
    return str(len(last)), f"{last.mean():.4g}", spread, middle, f"{half.mean():.4g}"


def format_median_seconds(results):
    """Format the median CPU time per proposal."""
    return f"{np.median([r['median_seconds'] for r in results]):.3f}"
