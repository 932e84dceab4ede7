"""Report of a search as one self-contained HTML file."""

import io
import math
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from string import Template
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo.inspection._evaluations import Evaluations, ResultLike, read_evaluations
from skbo_silbo.inspection._journal_evaluations import ReportData, read_journal
from skbo_silbo.inspection._pareto_display import ParetoDisplay, objective_values
from skbo_silbo.inspection._search_display import SearchDisplay
from skbo_silbo.inspection._value_axis import format_number
from skbo_silbo.optimizers import EmbeddedOptimizer
from skbo_silbo.space import parameter_domains
from skbo_silbo.space.values import format_value

SourceLike: TypeAlias = ResultLike | str | os.PathLike[str]

NORMAL_90 = 1.6449  # half width of a 90 % interval, in standard deviations
N_CURVES = 4  # number of inputs for which dependence curves are drawn
N_LISTED = 12  # largest number of inputs, and of values per input, in a list
SELDOM = 0.05  # a category was hardly tried if it has a smaller share of the evaluations
LEAST_GAIN = 0.01  # smallest expected improvement, relative to the spread, worth continuing
LONGEST_CELL = 200  # characters
NAMESPACES_AND_IDS = re.compile(r' (?:xmlns(?::xlink)?="[^"]*"|id="[A-Za-z2.]+_\d+")')


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
        File to which the page is written. If None, no file is written.

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
    A journal only describes its search space. For a report, the default model is fitted to its
    evaluations, whatever model the search uses. The same holds for an Optuna study with a sampler
    other than `SILBOSampler`.

    The pictures are those of `SearchDisplay` and `ParetoDisplay`. Without matplotlib the page has
    tables in their place.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> from skbo_silbo.inspection import report
    >>> result = minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], n_calls=12, random_state=0)
    >>> page = report(result)
    >>> "<h2>Recommended point</h2>" in page, "http" in page
    (True, False)
    """
    page = _read(source)
    evaluations = page.evaluations
    front = _front(source)
    sections = {
        "Next step": _paragraph(_next_step(evaluations, front, page.n_open)),
        "What was searched": _facts(page) + _space(evaluations),
        "Recommended point": "" if front else _recommended(evaluations),
        "Pareto front": front,
        **_what_was_learnt(evaluations),
        "Evaluations that do not count": _failures(page.table),
        "Categories hardly tried": _seldom(evaluations),
        "All evaluations": make_table(page.table, is_sortable=True),
    }
    body = "".join(f"<section><h2>{k}</h2>{v}</section>" for k, v in sections.items() if v)
    title = escape(f"Report: {next(iter(page.facts.values()))}")
    template = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    html = Template(template).substitute(title=title, body=body)
    if path is not None:
        Path(path).write_text(html, encoding="utf-8")
    return html


def _read(source: SourceLike) -> ReportData:
    if isinstance(source, str | os.PathLike):
        return read_journal(source)
    evaluations = read_evaluations(source)
    facts = {"Source": type(source).__name__}
    if ended := getattr(source, "message", getattr(source, "stop_reason_", None)):
        facts["Ended"] = str(ended)
    table = getattr(source, "evaluation_table", evaluations.optimizer.evaluation_table)
    return ReportData(facts, evaluations, table())


def _paragraph(text):
    return f"<p>{escape(text)}</p>"


def make_table(columns: Mapping[str, Any], *, is_sortable: bool = False) -> str:
    """Return columns as an HTML table, or an empty string if there are no rows."""
    rows = list(zip(*columns.values(), strict=True))
    if not rows:
        return ""
    heads = zip(columns, rows[0], strict=True)
    head = "".join(f'<th scope="col"{_kind(v)}>{escape(str(name))}</th>' for name, v in heads)
    head = f"<thead><tr>{head}</tr></thead>" if any(str(name).strip() for name in columns) else ""
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    kind = ' class="sortable"' if is_sortable else ""
    return f'<div class="wide"><table{kind}>{head}<tbody>{body}</tbody></table></div>'


def _cell(value):
    if isinstance(value, float | np.floating):
        is_nan = np.isnan(value)
        key, text = ("", "") if is_nan else (repr(float(value)), f"{value:.5g}")
        return f'<td class="number" data-key="{key}">{text}</td>'
    text = "" if value is None else str(value)
    text = text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"
    return f"<td{_kind(value)}>{escape(text)}</td>"


def _kind(value):
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return ' class="number"' if is_number else ""


def _picture(draw: Callable[..., object], n_panels: int = 1) -> str:
    """Return the picture drawn by `draw(ax=...)` as SVG, or "" if matplotlib is not installed."""
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    written = {"svg.fonttype": "none", "svg.hashsalt": "report"}
    with style.context(["default", written]), io.StringIO() as stream:
        figure = Figure((4.2 * n_panels, 3.4), layout="constrained")
        draw(ax=figure.subplots(1, n_panels))
        no_metadata = dict.fromkeys(["Creator", "Date", "Format", "Type"])
        figure.savefig(stream, format="svg", transparent=True, metadata=no_metadata)
        svg = stream.getvalue()
    return NAMESPACES_AND_IDS.sub("", svg[svg.index("<svg") :])


def _facts(page):
    evaluations = page.evaluations
    aim = "highest" if evaluations.greater_is_better else "lowest"
    facts = page.facts | {"Looked for": f"the {aim} {evaluations.name}"}
    facts |= {"Evaluations": str(len(evaluations.values))}
    facts |= {"With a value": str(np.isfinite(evaluations.values).sum())}
    if page.n_open:
        facts["Begun and not ended"] = f"{page.n_open} (running, or interrupted)"
    return make_table({"": facts, " ": facts.values()})


def _space(evaluations):
    """List the inputs and their values."""
    domains = parameter_domains(evaluations.optimizer.space_)
    return make_table({"Input": domains, "Values": map(_describe, domains.values())})


def _describe(domain):
    if domain.values is not None and (not domain.is_numeric or len(domain.values) <= N_LISTED):
        return ", ".join(map(format_value, domain.values))
    scale = ", logarithmic" if domain.is_logarithmic else ""
    kind = "integers " if domain.is_integer else ""
    return f"{kind}{format_number(domain.low)} to {format_number(domain.high)}{scale}"


def _recommended(evaluations):
    optimizer, values = evaluations.optimizer, evaluations.values
    sign = 1.0 if evaluations.greater_is_better == optimizer.maximize else -1.0
    std = math.nan
    with suppress(NotFittedError):
        point, mean, std = optimizer.recommended_
    if math.isfinite(std):
        mean *= sign
        low, high = (format_number(mean + k * std) for k in (-NORMAL_90, NORMAL_90))
        expected = f"Expected {evaluations.name}: {format_number(mean)}"
        text = f"{expected} (90 % interval {low} to {high})."
        if optimizer.constraints_.shape[1]:
            probability = optimizer.predict(point).probability
            text += f" The learnt constraints hold with probability {probability:.2f}."
    elif np.isfinite(values).any():
        i = (np.nanargmax if evaluations.greater_is_better else np.nanargmin)(values)
        point, observed = evaluations.points[i], format_number(values[i])
        text = f"Observed {evaluations.name}: {observed}. There is no model yet."
    else:
        return _paragraph("No evaluation returned a value that counts.")
    named = point if isinstance(point, Mapping) else {f"x{j}": x for j, x in enumerate(point)}
    return _paragraph(text) + make_table({"Input": named, "Value": named.values()})


def _front(source):
    """Return the Pareto front as picture and table, or "" if there is a single objective."""
    if not hasattr(source, "pareto_front_"):
        return ""
    rows, params = source.pareto_front_.tolist(), source.cv_results_["params"]
    n = len(source.refit)
    picture = _picture(lambda ax: ParetoDisplay.from_result(source, ax=ax), n * (n - 1) // 2)
    columns = dict(zip(source.refit, objective_values(source)[rows].T, strict=True))
    inputs = dict.fromkeys(name for i in rows for name in params[i])
    columns |= {name: [params[i].get(name) for i in rows] for name in inputs}
    columns = {"row": rows, **columns}
    return f'<div class="charts">{picture}</div>' + make_table(columns, is_sortable=True)


def _what_was_learnt(evaluations):
    """Return the sections on convergence and on the inputs."""
    model = evaluations.optimizer.input_model_
    shares = model.shares
    names = shares.ranked[:N_CURVES]
    display = SearchDisplay.from_evaluations(evaluations, names)

    def charts(*kinds, table=""):
        drawn = [_picture(lambda ax, kind=kind: display.plot(kind=kind, ax=ax)) for kind in kinds]
        return f'<div class="charts">{"".join(drawn)}{table}</div>'

    rows = [shares.names.index(name) for name in shares.ranked[:N_LISTED]]
    percent = [[f"{100 * v:.0f}" for v in shares.intervals[i]] for i in rows]
    table = {"Input": [shares.names[i] for i in rows]}
    table |= {"Share of the variance, %": [int(share) for share, *_ in percent]}
    table |= {"90 % interval": [f"{low} to {high}" for _, low, high in percent]}
    curves = [charts(*names)] + [_curve(name, display.dependences[name]) for name in names]
    return {
        "Best so far": charts("convergence") + _improvements(evaluations),
        "What matters": _paragraph(" ".join([shares.verdict, *shares.cautions]))
        + (charts("shares", table=make_table(table)) if rows else ""),
        "Dependence on the most important inputs": "".join(curves) if names else "",
    }


def _improvements(evaluations):
    """List the evaluations that were better than all earlier ones."""
    sign = 1.0 if evaluations.greater_is_better else -1.0
    scores = np.nan_to_num(sign * evaluations.values, nan=-np.inf)
    before = np.maximum.accumulate(np.append(-np.inf, scores[:-1]))
    rows = np.flatnonzero(scores > before)
    return _folded(make_table({"Evaluation": rows + 1, evaluations.name: evaluations.values[rows]}))


def _curve(name, curve):
    columns = {name: map(format_value, curve.x), "mean": curve.mean}
    columns |= {"low": np.minimum(curve.low, curve.high), "high": np.maximum(curve.low, curve.high)}
    return _folded(make_table(columns), f"Table of {name}")


def _folded(table, title="Table"):
    return f"<details><summary>{escape(title)}</summary>{table}</details>"


def _failures(table):
    status = table[list(table)[-1]]
    counts = {text: status.count(text) for text in dict.fromkeys(status) if text != "ok"}
    if not counts:
        return _paragraph("None: no evaluation failed, timed out or violated constraints.")
    return make_table({"Why": counts, "Evaluations": counts.values()})


def _seldom(evaluations):
    rows = []
    for name, domain in parameter_domains(evaluations.optimizer.space_).items():
        if domain.is_numeric or domain.values is None or len(domain.values) < 2:
            continue
        tried = [format_value(p[name]) for p in evaluations.points if name in p]
        counts = {value: tried.count(value) for value in map(format_value, domain.values)}
        rows += [(name, v, n) for v, n in counts.items() if n <= SELDOM * len(tried)]
    columns = zip(*rows, strict=True) if rows else [[], [], []]
    return make_table(dict(zip(("Input", "Category", "Evaluations"), columns, strict=True)))


def _next_step(evaluations: Evaluations, front: str, n_open: int) -> str:
    """Return the advice in one sentence."""
    n, finite = len(evaluations.values), evaluations.values[np.isfinite(evaluations.values)]
    if not len(finite):
        return "Check the objective and constraints: no evaluation returned a value that counts."
    if n_open:
        return "Wait, and make the report again: the search has not ended."
    if front:
        return "Choose a row of the Pareto front and refit the model with its parameters."
    more = f"Continue with about {max(10, n // 2)} more evaluations"
    optimizer = evaluations.optimizer
    gain = optimizer.expected_gain() if isinstance(optimizer, EmbeddedOptimizer) else math.inf
    if not math.isfinite(gain):
        return f"{more}: there is no model yet that says what they are worth."
    least = LEAST_GAIN * (float(np.subtract(*np.quantile(finite, [0.75, 0.25]))) or np.ptp(finite))
    improvement = f"expected to improve the best value by {format_number(gain)}."
    std = optimizer.recommended_.std
    if gain > least:
        return f"{more}: the next one is {improvement}"
    if math.isfinite(std) and std > least:
        return (
            "Evaluate the recommended point again: its expected value is uncertain by "
            f"{format_number(std)} (standard deviation), and further points promise less."
        )
    return f"Stop: another evaluation is {improvement}"
