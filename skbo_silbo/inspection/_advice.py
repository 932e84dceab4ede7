"""Sentences about the recommended point of a search, and about the next step."""

import math
from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo.inspection._evaluations import SCORE_NAME, Evaluations
from skbo_silbo.inspection._value_axis import format_number, middle_spread, significant_digits
from skbo_silbo.optimizers import EmbeddedOptimizer
from skbo_silbo.sensitivity._input_shares import join_names
from skbo_silbo.space import parameter_domains

NORMAL_90 = 1.6449  # half width of a 90 % interval, in standard deviations
LEAST_GAIN = 0.01  # smallest expected improvement, relative to the progress, worth continuing
NEAR_LIMIT = 0.01  # distance from a limit, relative to the range, that counts as being at it
LEAST_OF_STD = 0.25  # the same, relative to the uncertainty of the recommended value
# What else to change before a search that ended early goes on, by the reason for its end
CONDITIONS = MappingProxyType(
    {
        "max_time": " and a larger max_time",
        "patience": " and more patience",
        "callback": ", if the callback that ended the search allows it",
    }
)


def next_step(evaluations: Evaluations) -> str:
    """Return one sentence that recommends what to do next with a finished search."""
    n, optimizer = len(evaluations.values), evaluations.optimizer
    finite = evaluations.values[np.isfinite(evaluations.values)]
    if step := _step_without_model(evaluations, finite):
        return step
    if evaluations.n_open:
        return "Wait, and make the report again: the search has not ended."
    if evaluations.front is not None:
        return "Choose a row of the Pareto front and refit the model with its parameters."
    if evaluations.stop_reason == "target":
        return "Stop: the target was reached."
    condition = CONDITIONS.get(evaluations.stop_reason, "")
    more, has_model = f"about {max(10, n // 2)} more", isinstance(optimizer, EmbeddedOptimizer)
    over = "recommended" if evaluations.is_noisy else "observed"
    gain = optimizer.expected_gain(over) if has_model else math.inf
    if not math.isfinite(gain):
        known = len(optimizer.func_vals_)
        if has_model and (n_needed := optimizer.n_initial_ - known) > 0:
            start = f"the model is fitted from {optimizer.n_initial_} values on, got {known}"
            return f"Continue with at least {n_needed} more evaluations{condition}: {start}."
        return f"Continue with {more} evaluations{condition}: no model predicts their values."
    shares = optimizer.input_model_.shares
    if not shares.is_informative and math.isfinite(shares.held_out_r2):
        return (
            f"Evaluate {more} random or space-filling points, search other inputs, or stop: the "
            f"model does not predict held-out values (R² {shares.held_out_r2:.2f})."
        )
    scores, std = evaluations.sign * finite, optimizer.recommended_.std
    least = LEAST_GAIN * ((scores.max() - np.quantile(scores, 0.25)) or np.ptp(scores))
    reference = "the recommended point" if evaluations.is_noisy else "the best observed value"
    improvement = f"expected to improve on {reference} by {format_number(gain)}."
    if gain > np.fmax(least, LEAST_OF_STD * std):
        return f"Continue with {more} evaluations{condition}: the next one is {improvement}"
    if not std > least:
        return f"Stop: another evaluation is {improvement}"
    return _repetition(evaluations, format_number(std))


def _repetition(evaluations, std):
    """Return the advice to measure the value of the recommended point again."""
    doubt = f"expected value is uncertain by {std} (standard deviation)"
    if evaluations.name.startswith(SCORE_NAME):
        return f"Score the recommended parameters on other splits: their {doubt}."
    if evaluations.is_noisy:
        return f"Evaluate the recommended point again: its {doubt}."
    return f"If values are noisy, evaluate the recommended point again: its {doubt}. Else, stop."


def _step_without_model(evaluations, finite):
    """Return the next step of a search that cannot or need not go on, or an empty string."""
    if not len(finite):
        if evaluations.n_open:
            return "Wait, and make the report again: the first evaluations have not ended."
        return "Check the objective and constraints: no evaluation returned a value that counts."
    inside = evaluations.is_inside
    if inside.any() and not np.isfinite(evaluations.values[inside]).any():
        return "Check the search space: only points outside it returned a value that counts."
    X = evaluations.X[inside]
    if len(np.unique(X, axis=0)) >= getattr(evaluations.optimizer.space_, "n_points", math.inf):
        return "Stop: every point of the search space was evaluated."
    is_constant = len(finite) > 1 and np.ptp(finite) == 0.0
    return "Check the objective: all values are equal." if is_constant else ""


def describe_recommended(evaluations: Evaluations) -> tuple[str, Any]:
    """Return a description of the recommended point in sentences, and the point."""
    if not np.isfinite(evaluations.values).any():
        return "No evaluation returned a value that counts.", None
    best = int(np.nanargmax(evaluations.sign * evaluations.values))
    try:
        point, rows, mean, std = _recommended(evaluations, best)
    except NotFittedError:
        shown, point = _observed(evaluations, best, math.nan), evaluations.points[best]
        return f"{_row(evaluations, best)}. {shown}. There is no model yet.", point
    sentences = [
        _expectation(evaluations, rows, mean, std),
        _probability(evaluations, point),
        _best_observed(evaluations, rows, best, std),
        _limits(evaluations, point),
    ]
    return " ".join(filter(None, sentences)), point


def _recommended(evaluations, best):
    """Return the recommended point, the rows of its evaluations, and its prediction."""
    optimizer, values = evaluations.optimizer, evaluations.values
    point, mean, std = optimizer.recommended_
    if not math.isfinite(std):
        raise NotFittedError("There is no model.")
    is_same = (optimizer.space_.encode([point]) == evaluations.X).all(axis=1)
    rows = np.flatnonzero(is_same & evaluations.is_inside)
    if len(rows) and not np.isfinite(values[rows]).any():  # only pruned trials of a study
        point, rows = evaluations.points[best], np.array([best])
        mean, std, _ = optimizer.predict(point)
    is_negated = evaluations.greater_is_better and not optimizer.maximize
    return point, rows, -mean if is_negated else mean, std


def _expectation(evaluations, rows, mean, std):
    where = _row(evaluations, rows[0]) if len(rows) else "A candidate of initial_results"
    ends = mean, mean - NORMAL_90 * std, mean + NORMAL_90 * std
    expected, low, high = (format_number(value, std) for value in ends)
    seen = [_format(evaluations, row, std) for row in rows if np.isfinite(evaluations.values[row])]
    observed = f"; observed: {', '.join(seen)}" if seen else ""
    interval = f"90 % interval {low} to {high}"
    return f"{where}. Expected {evaluations.name}: {expected} ({interval}){observed}."


def _probability(evaluations, point):
    if not evaluations.optimizer.constraints_.shape[1]:
        return ""
    probability = evaluations.optimizer.predict(point).probability
    return f"The learnt constraints hold with probability {probability:.2f}."


def _best_observed(evaluations, rows, best, std):
    """Explain why the recommended point does not have the best observed value."""
    values, name = evaluations.values, evaluations.name
    if np.isclose(values[rows], values[best], rtol=1e-12, atol=0.0).any() or not len(rows):
        return ""
    row = _row(evaluations, best).lower()
    attribute = f" ({evaluations.best_name})" if evaluations.best_name else ""
    text = f"The best observed {name}, {_format(evaluations, best, std)}, is in {row}{attribute}. "
    if not evaluations.is_inside[best]:
        return text + "It lies outside the search space, so the model does not know it."
    if evaluations.is_noisy:
        values = "scores" if name.startswith(SCORE_NAME) else "values"
        return f"{text}The best of many noisy {values} is often a lucky one."
    return (
        f"{text}If values are exact, use {row}. If they are noisy, use the recommended point, "
        "because the best of many noisy values is often a lucky one."
    )


def _limits(evaluations, point):
    """Name the important inputs whose recommended value is at a limit of its range."""
    shares, at_limit = evaluations.optimizer.input_model_.shares, []
    matters = dict(zip(shares.names, shares.is_significant, strict=True))
    for name, domain in parameter_domains(evaluations.optimizer.space_).items():
        value = point.get(name) if isinstance(point, Mapping) else point[int(name[1:])]
        is_range = domain.is_numeric and (domain.values is None or len(domain.values) > 2)
        if not (is_range and isinstance(value, Real) and matters.get(name)):
            continue
        low, value, high = domain.low, value, domain.high
        if domain.is_logarithmic:
            low, value, high = np.log([low, value, high])
        position = (value - low) / (high - low)
        if not NEAR_LIMIT < position < 1.0 - NEAR_LIMIT:
            end = "upper" if position > 0.5 else "lower"
            at_limit.append(f"{name} is at the {end} limit of its range")
    beyond = "If values beyond are possible, widen the search space and search again."
    return f"{join_names(at_limit)}. {beyond}" if at_limit else ""


def _row(evaluations, i):
    return f"{evaluations.row_name.capitalize()} {evaluations.numbers[i]}"


def _observed(evaluations, row, std):
    return f"Observed {evaluations.name}: {_format(evaluations, row, std)}"


def _format(evaluations, row, std):
    value = evaluations.values[row]
    spread = std if std > 0.0 else middle_spread(evaluations.values)
    return f"{value:.{significant_digits(value, spread, 5)}g}"
