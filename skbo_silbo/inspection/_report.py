"""Report of a search as one self-contained HTML file."""

import os
from collections import Counter
from collections.abc import Mapping
from datetime import date
from html import escape
from pathlib import Path
from string import Template
from typing import TypeAlias

import numpy as np

from skbo_silbo.inspection._advice import describe_recommended, next_step
from skbo_silbo.inspection._evaluations import ResultLike, read_evaluations
from skbo_silbo.inspection._from_journal import read_journal
from skbo_silbo.inspection._page import folded, paragraph, picture, table
from skbo_silbo.inspection._search_display import SearchDisplay
from skbo_silbo.inspection._value_axis import format_number
from skbo_silbo.space import parameter_domains
from skbo_silbo.space.values import format_value

SourceLike: TypeAlias = ResultLike | str | os.PathLike[str]

N_CURVES = 4  # number of inputs for which dependence curves are drawn
N_LISTED = 12  # largest number of inputs, and of values per input, in a list
TIE_NOTE = (
    "Fit times that differ by less than the standard deviation of their difference over the splits "
    "count as equal, so a row of the front may be slightly slower than another row."
)
ROW_NOTE = "Rows are counted from 0, as in to_frame()."
SOURCE_NOTE = (
    "Sources: given (by you, or the current parameters), known (good on other data, or your "
    "parameters moved into the space), init (initial design, chosen without a model), model "
    "(proposed by the model)."
)
SELDOM = 0.05  # a category was hardly tried if it has a smaller share of the evaluations


def report(
    source: SourceLike,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
) -> str:
    """Describe a search in one HTML page that needs neither a network nor other files.

    The page names the search space, the recommended point with its predicted value, the inputs that
    matter, the number of failed evaluations, the categories that were hardly tried, and the next
    step. A table that can be sorted lists all evaluations.

    Parameters
    ----------
    source : fitted SILBOSearchCV, AskTellOptimizer, OptimizeResult of `minimize`, optuna.Study, \
str or path-like
        Search to describe. A path must lead to a journal, which a running search may still be
        writing.
    path : str or path-like, default=None
        File to which the page is written. If None, no file is written.
    title : str, default=None
        Title of the page. If None, the title consists of the name of the estimator or objective,
        the size of the problem and the date.

    Returns
    -------
    html : str
        The page as a string of HTML.

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
    A journal does not contain the model of the search. The report fits the default model to the
    evaluations, whatever model the search uses. The same holds for an Optuna study with a sampler
    other than `SILBOSampler`.

    `SearchDisplay` and `ParetoDisplay` draw the pictures. Without matplotlib the page has tables in
    their place.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> from skbo_silbo.inspection import report
    >>> result = minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], n_calls=12, random_state=0)
    >>> page = report(result)
    >>> "<h2>Recommended point</h2>" in page, "http" in page
    (True, False)
    """
    if isinstance(source, str | os.PathLike):
        evaluations = read_journal(source)
    else:
        evaluations = read_evaluations(source)
    front = _front(evaluations)
    sections = {
        "Next step": paragraph(next_step(evaluations)),
        "What was searched": _facts(evaluations) + _space(evaluations),
        "Recommended point": "" if front else _recommended(evaluations),
        "Pareto front": front,
        **_what_was_learnt(evaluations),
        "Evaluations that do not count": _failures(evaluations.table),
        "Categories hardly tried": _seldom(evaluations),
        "All evaluations": _all(evaluations),
    }
    body = "".join(f"<section><h2>{k}</h2>{v}</section>" for k, v in sections.items() if v)
    if title is None:
        title = f"Report: {evaluations.title}, {date.today().isoformat()}"
    template = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    html = Template(template).substitute(title=escape(title), body=body)
    if path is not None:
        Path(path).write_text(html, encoding="utf-8")
    return html


def _facts(evaluations):
    """Describe as HTML the search, and the evaluations that the model does not use."""
    aim = f"the {'highest' if evaluations.greater_is_better else 'lowest'} {evaluations.name}"
    if evaluations.front is not None:
        goals = evaluations.front.names
        shown = (f"{'lowest' if goal == 'fit_time' else 'highest'} {goal}" for goal in goals)
        aim = f"the Pareto front: {', '.join(shown)}"
    n, optimizer = len(evaluations.values), evaluations.optimizer
    n_told, n_modelled = len(optimizer.func_vals_), optimizer.input_model_.shares.n_values
    outside = np.flatnonzero(~evaluations.is_inside).tolist()
    listed = ", ".join(str(evaluations.numbers[i]) for i in outside[:N_LISTED]) + ", …" * (
        len(outside) > N_LISTED
    )
    row = evaluations.row_name
    listed += ", the untuned model," * isinstance(evaluations.initial_params, str)
    lie = f"{row} {listed} lies" if len(outside) == 1 else f"{row}s {listed} lie"
    n_extra, n_unusable = n_told - (n - len(outside)), n_told - n_modelled
    why = [f"{lie} outside the search space"] * bool(outside)
    why += [f"{n_extra} of initial_results"] * bool(n_extra)
    why += [f"{n_unusable} without a value that the model can use"] * bool(n_unusable)
    facts = evaluations.facts | {"Looked for": aim, "Evaluations": str(n)}
    if why:
        facts["In the model"] = f"{n_modelled} ({', '.join(why)})"
    if evaluations.n_open:
        facts["Begun and not ended"] = f"{evaluations.n_open} (running, or interrupted)"
    return table({"": facts, " ": facts.values()})


def _space(evaluations):
    """List the inputs of a search and their possible values as HTML."""
    domains = parameter_domains(evaluations.optimizer.space_)
    return table({"Input": domains, "Values": map(_describe, domains.values())})


def _describe(domain):
    if domain.values is not None and (not domain.is_numeric or len(domain.values) <= N_LISTED):
        return ", ".join(map(_format, domain.values))
    scale = ", logarithmic" if domain.is_logarithmic else ""
    kind = "integers " if domain.is_integer else ""
    return f"{kind}{format_number(domain.low)} to {format_number(domain.high)}{scale}"


def _format(value):
    return f"{value:.5g}" if isinstance(value, float) else format_value(value)


def _recommended(evaluations):
    text, point = describe_recommended(evaluations)
    if point is None:
        return paragraph(text)
    named = point if isinstance(point, Mapping) else {f"x{j}": x for j, x in enumerate(point)}
    return paragraph(text) + table({"Input": named, "Value": map(_format, named.values())})


def _front(evaluations):
    """Show the Pareto front as HTML with a plot and a table, or return ""."""
    if (front := evaluations.front) is None:
        return ""
    rows, params, names = front.front.tolist(), evaluations.points, front.names
    drawn = picture(lambda ax: front.plot(ax=ax), len(names) * (len(names) - 1) // 2)
    columns = dict(zip(names, front.values[rows].T, strict=True))
    inputs = dict.fromkeys(name for i in rows for name in params[i])
    columns |= {name: [params[i].get(name) for i in rows] for name in inputs}
    note = paragraph(TIE_NOTE) if "fit_time" in names else ""
    return f'<div class="charts">{drawn}</div>{note}' + table({"row": rows, **columns})


def _what_was_learnt(evaluations):
    """Return the sections of the report on convergence and on the inputs."""
    shares = evaluations.optimizer.input_model_.shares
    names = shares.ranked[:N_CURVES]
    display = SearchDisplay.from_evaluations(evaluations, names)

    def charts(*kinds, beside=""):
        drawn = [picture(lambda ax, kind=kind: display.plot(kind=kind, ax=ax)) for kind in kinds]
        return f'<div class="charts">{"".join(drawn)}{beside}</div>'

    learnt = [shares.verdict, *shares.cautions]
    if shares.is_informative and np.sum(shares.share) > 1.005:
        learnt.append(
            "The shares in the table sum to more than 100 %, because the interactions of inputs "
            "count in each."
        )
    rows = sorted(map(shares.names.index, shares.ranked[:N_LISTED]), key=lambda i: -shares.share[i])
    percent = np.round(100 * shares.intervals[rows]).astype(int)
    listed = {"Input": [shares.names[i] for i in rows], "Share with interactions, %": percent[:, 0]}
    listed |= {"90 % interval": [f"{low} to {high}" for _, low, high in percent]}
    curves = [charts(*names)]
    for name in names:
        curve = display.dependences[name]
        ends = np.sort([curve.low, curve.high], axis=0)
        columns = {name: map(_format, curve.x), "mean": curve.mean, "low": ends[0], "high": ends[1]}
        curves.append(folded(table(columns), f"Table of {name}"))
    scores = np.nan_to_num(evaluations.sign * evaluations.values, nan=-np.inf)
    better = np.flatnonzero(scores > np.maximum.accumulate([-np.inf, *scores[:-1]]))
    rows = [evaluations.numbers[i] for i in better]
    improvements = {evaluations.row_name: rows, evaluations.name: evaluations.values[better]}
    return {
        "Best so far": charts("convergence") + folded(table(improvements)),
        "What matters": paragraph(" ".join(learnt))
        + (charts("shares", beside=table(listed)) if rows else ""),
        "Dependence on the most important inputs": "".join(curves) if names else "",
    }


def _all(evaluations):
    columns, name, points = dict(evaluations.table), evaluations.row_name, evaluations.points
    if not isinstance(points, np.ndarray):  # a branch without a parameter is left blank
        for key in {key for point in points for key in point}:
            pairs = zip(columns[key], points, strict=True)
            columns[key] = ["None" if point.get(key, key) is None else v for v, point in pairs]
    notes = [ROW_NOTE] * (name == "row") + [SOURCE_NOTE] * ("source" in columns)
    name += "_" * (name in columns)  # an input may have this name, too
    return paragraph(" ".join(notes)) + table({name: list(evaluations.numbers), **columns})


def _failures(columns):
    *_, status = columns.values()
    counts = Counter(text for text in status if not text.startswith("ok"))
    if not counts:
        return paragraph("None: no evaluation failed, timed out or violated constraints.")
    return table({"Why": counts, "Evaluations": counts.values()})


def _seldom(evaluations):
    X = evaluations.X[evaluations.is_inside]
    rows = []
    for category in evaluations.optimizer.space_.categories():
        counts = category.counts(X).tolist()
        seldom = [i for i, n in enumerate(counts) if n <= SELDOM * sum(counts)]
        rows += [(category.name, _format(category.values[i]), counts[i]) for i in seldom]
    names = ("Input", "Category", "Evaluations")
    return table(dict(zip(names, zip(*rows, strict=True), strict=True))) if rows else ""
