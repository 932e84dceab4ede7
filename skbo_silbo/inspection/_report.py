"""Report of a search as one self-contained HTML file."""

import math
import os
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from typing import TypeAlias

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo.inspection._evaluations import Evaluations, ResultLike, read_evaluations
from skbo_silbo.inspection._journal_evaluations import read_journal
from skbo_silbo.inspection._report_charts import bar, chart, grid
from skbo_silbo.inspection._report_style import PAGE
from skbo_silbo.inspection._value_axis import format_number
from skbo_silbo.optimizers import EmbeddedOptimizer
from skbo_silbo.space import parameter_domains
from skbo_silbo.space._values import format_value, is_number

SourceLike: TypeAlias = ResultLike | str | os.PathLike[str]

NORMAL_90 = 1.6449  # half width of a 90 % interval, in standard deviations
N_CURVES = 4  # inputs whose dependence is drawn
N_SHARES = 12  # inputs listed
SELDOM = 0.05  # share of the evaluations below which a category was hardly tried
LEAST_GAIN = 0.01  # expected improvement, relative to the spread of the values, worth continuing


def report(source: SourceLike, path: str | os.PathLike[str] | None = None) -> str:
    """Describe a search in one HTML page that needs neither a network nor other files.

    The page says what was searched, which point is recommended and what is expected of it, which
    inputs matter, how many evaluations failed, which categories were hardly tried, and what to do
    next. A table that can be sorted lists all evaluations.

    Parameters
    ----------
    source : fitted SILBOSearchCV, AskTellOptimizer, OptimizeResult of `minimize`, optuna.Study, \
str or path-like
        Search to describe. A path is that of a journal; the search that writes it may be running.
    path : str or path-like, default=None
        File to write. If None, none is written.

    Returns
    -------
    html : str
        The page.

    Raises
    ------
    TypeError
        If `source` is of an unsupported type.
    NotFittedError
        If a search is not fitted or an optimiser has no evaluations.
    OSError
        If a file cannot be read or written.
    ValueError
        If `source` is a path but the file is not a journal.

    Notes
    -----
    A journal only describes its search space. For a report, the default model is fitted to its
    evaluations, whatever model the search uses.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> from skbo_silbo.inspection import report
    >>> result = minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], n_calls=12, random_state=0)
    >>> page = report(result)
    >>> "<h2>Recommended point</h2>" in page, "http" in page
    (True, False)
    """
    n_open = 0
    if isinstance(source, str | os.PathLike):
        settings, evaluations, table, n_open = read_journal(source)
        facts = {"Journal": os.fsdecode(source), "Written by": settings["entry point"]}
    else:
        evaluations = read_evaluations(source)
        read_table = getattr(source, "evaluation_table", evaluations.optimizer.evaluation_table)
        table = read_table()
        facts = {"Source": type(source).__name__}
        ended = getattr(source, "message", getattr(source, "stop_reason_", None))
        facts |= {"Ended": str(ended)} if ended else {}
    if n_open:
        facts["Begun and not ended"] = f"{n_open} (running, or interrupted)"
    front = _front_rows(source)
    sections = {
        "Next step": _paragraph(_next_step(evaluations, front, n_open)),
        "What was searched": _facts(facts, evaluations) + _space_table(evaluations),
        "Recommended point": "" if front else _recommended(evaluations),
        "Pareto front": front,
        "Best so far": _convergence(evaluations),
        "What matters": _shares(evaluations),
        "Dependence on the most important inputs": _dependence(evaluations),
        "Evaluations that do not count": _failures(table),
        "Categories hardly tried": _seldom(evaluations),
        "All evaluations": grid(table, is_sortable=True),
    }
    body = "".join(f"<section><h2>{k}</h2>{v}</section>" for k, v in sections.items() if v)
    page = PAGE.format(title=escape(f"Report: {next(iter(facts.values()))}"), body=body)
    if path is not None:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(page)
    return page


def _paragraph(text):
    return f"<p>{escape(text)}</p>"


def _n_finite(evaluations):
    return int(np.isfinite(evaluations.values).sum())


def _facts(facts, evaluations):
    aim = "highest" if evaluations.greater_is_better else "lowest"
    facts = {**facts, "Looked for": f"the {aim} {evaluations.name}"}
    facts |= {"Evaluations": len(evaluations.values), "With a value": _n_finite(evaluations)}
    return grid({"": list(facts), " ": list(map(str, facts.values()))})


def _space_table(evaluations):
    """List the inputs and their values."""
    domains = parameter_domains(evaluations.optimizer.space_)
    return grid({"Input": list(domains), "Values": list(map(_describe, domains.values()))})


def _describe(domain):
    if domain.values is not None and (not domain.is_numeric or len(domain.values) <= N_SHARES):
        return ", ".join(map(format_value, domain.values))
    scale = ", logarithmic" if domain.is_logarithmic else ""
    kind = "integers " if domain.is_integer else ""
    return f"{kind}{format_number(domain.low)} to {format_number(domain.high)}{scale}"


def _recommendation(evaluations):
    """Return point, mean in the sign of the values, and deviation; None if there is no point."""
    optimizer = evaluations.optimizer
    with suppress(NotFittedError):
        return optimizer.recommended_
    finite = np.flatnonzero(np.isfinite(evaluations.values))
    if not len(finite):
        return None
    best = (np.argmax if evaluations.greater_is_better else np.argmin)(evaluations.values[finite])
    i = finite[best]
    return evaluations.points[i], evaluations.values[i] * _sign(evaluations), math.nan


def _sign(evaluations):
    """Return -1 if the optimiser minimises the negative of the values that are shown."""
    return 1.0 if evaluations.greater_is_better == evaluations.optimizer.maximize else -1.0


def _recommended(evaluations):
    found = _recommendation(evaluations)
    if found is None:
        return _paragraph("No evaluation returned a value that counts.")
    point, mean, std = found
    mean *= _sign(evaluations)
    text = f"Observed {evaluations.name}: {format_number(mean)}. There is no model yet."
    if math.isfinite(std):
        low, high = mean - NORMAL_90 * std, mean + NORMAL_90 * std
        interval = f"90 % interval {format_number(low)} to {format_number(high)}"
        text = f"Expected {evaluations.name}: {format_number(mean)} ({interval})."
        if evaluations.optimizer.constraints_.shape[1]:
            probability = evaluations.optimizer.predict(point).probability
            text += f" The learnt constraints hold with probability {probability:.2f}."
    named = point if isinstance(point, Mapping) else {f"x{j}": x for j, x in enumerate(point)}
    return _paragraph(text) + grid({"Input": list(named), "Value": list(named.values())})


def _front_rows(source):
    """Return the Pareto front as picture and table, or "" where there is a single objective."""
    if not hasattr(source, "pareto_front_"):
        return ""
    table = source.evaluation_table()
    names = ["seconds" if name == "fit_time" else name for name in source.refit]
    names = [name if name in table else "value" for name in names]
    rows = source.pareto_front_.tolist()
    x, y = (np.array(table[name], dtype=float) for name in names[:2])
    picture = chart(x, y, marked=rows, labels=(names[0], names[1]))
    parameters = dict.fromkeys(k for row in rows for k in source.cv_results_["params"][row])
    shown = {"row": rows} | {k: [table[k][i] for i in rows] for k in (*names, *parameters)}
    return picture + grid(shown, is_sortable=True)


def _convergence(evaluations):
    values = evaluations.values
    accumulate = (np.fmax if evaluations.greater_is_better else np.fmin).accumulate
    n = np.arange(1.0, len(values) + 1)
    labels = "evaluations", evaluations.name
    return chart(n, values, line=(n, accumulate(values)), labels=labels, is_step=True)


def _shares(evaluations):
    if _n_finite(evaluations) < 2:
        return ""
    shares = evaluations.optimizer.input_model_.shares
    text = _paragraph(" ".join([shares.verdict, *shares.cautions]))
    rows = [shares.names.index(name) for name in shares.ranked[:N_SHARES]]
    bars = [bar(*shares.intervals[i]) for i in rows]
    percent = [" to ".join(f"{100 * v:.0f}" for v in shares.intervals[i, 1:]) for i in rows]
    columns = {"Input": [shares.names[i] for i in rows], "Share of the variance": bars}
    return text + (grid({**columns, "90 % interval, %": percent}) if rows else "")


def _dependence(evaluations):
    if _n_finite(evaluations) < 2:
        return ""
    domains = parameter_domains(evaluations.optimizer.space_)
    names = evaluations.optimizer.input_model_.shares.ranked[:N_CURVES]
    return "".join(_curve(evaluations, name, domains[name]) for name in names if name in domains)


def _curve(evaluations, name, domain):
    curve = evaluations.dependence(name)
    low, high = np.minimum(curve.low, curve.high), np.maximum(curve.low, curve.high)  # maximised
    if not domain.is_numeric or not all(map(is_number, curve.x)):
        columns = {name: list(map(format_value, curve.x)), "mean": curve.mean.tolist()}
        return grid(columns | {"low": low.tolist(), "high": high.tolist()})
    x = np.asarray(curve.x, dtype=float)
    labels = name, f"expected {evaluations.name}"
    return chart(
        line=(x, curve.mean), band=(low, high), labels=labels, is_log=domain.is_logarithmic
    )


def _failures(table):
    status = table[list(table)[-1]]
    counts = {text: status.count(text) for text in dict.fromkeys(status) if text != "ok"}
    if not counts:
        return _paragraph("None: no evaluation failed, timed out or violated constraints.")
    return grid({"Why": list(counts), "Evaluations": list(counts.values())})


def _seldom(evaluations):
    items = []
    for name, domain in parameter_domains(evaluations.optimizer.space_).items():
        if domain.is_numeric or domain.values is None or len(domain.values) < 2:
            continue
        tried = [format_value(p[name]) for p in evaluations.points if name in p]
        counts = {format_value(v): tried.count(format_value(v)) for v in domain.values}
        items += [(name, v, n) for v, n in counts.items() if n <= SELDOM * len(tried)]
    columns = zip(*items, strict=True) if items else ()
    return grid(dict(zip(("Input", "Category", "Evaluations"), columns, strict=False)))


def _next_step(evaluations: Evaluations, front: str, n_open: int) -> str:
    """Return the advice in one sentence."""
    n, finite = len(evaluations.values), evaluations.values[np.isfinite(evaluations.values)]
    if not len(finite):
        return (
            "Check the objective and its constraints: no evaluation returned a value that counts."
        )
    if n_open:
        return "Wait, and make the report again: the search has not ended."
    if front:
        return "Choose a row of the Pareto front and refit the model with its parameters."
    more = f"Continue with about {max(10, n // 2)} more evaluations"
    optimizer = evaluations.optimizer
    gain = optimizer.expected_gain() if isinstance(optimizer, EmbeddedOptimizer) else math.inf
    if not math.isfinite(gain):
        return f"{more}: there is no model yet that says what they are worth."
    spread = float(np.subtract(*np.quantile(finite, [0.75, 0.25]))) or float(np.ptp(finite))
    if gain > LEAST_GAIN * spread:
        return (
            f"{more}: the next one is expected to improve the best value by {format_number(gain)}."
        )
    std = optimizer.recommended_.std
    if math.isfinite(std) and std > LEAST_GAIN * spread:
        return (
            "Evaluate the recommended point again: its expected value is uncertain by "
            f"{format_number(std)} (standard deviation), and further points promise less."
        )
    return (
        f"Stop: another evaluation is expected to improve the best value by {format_number(gain)}."
    )
