"""Sentences about the recommended point of a search, and about what to do next."""

import math
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo.inspection._evaluations import SCORE_NAME, Evaluations
from skbo_silbo.inspection._value_axis import format_number, middle_spread, significant_digits
from skbo_silbo.optimizers import EmbeddedOptimizer

NORMAL_90 = 1.6449  # half width of a 90 % interval, in standard deviations
LEAST_GAIN = 0.01  # smallest expected improvement, relative to the progress, worth continuing
LEAST_OF_STD = 0.25  # the same, relative to the uncertainty of the recommended value


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
    more, has_model = f"about {max(10, n // 2)} more", isinstance(optimizer, EmbeddedOptimizer)
    gain = optimizer.expected_gain() if has_model else math.inf
    if not math.isfinite(gain):
        known = len(optimizer.func_vals_)
        if has_model and (n_needed := optimizer.n_initial_ - known) > 0:
            start = f"the model is fitted from {optimizer.n_initial_} values on, got {known}"
            return f"Continue with at least {n_needed} more evaluations: {start}."
        return f"Continue with {more} evaluations: no model predicts their values."
    shares = optimizer.input_model_.shares
    if not shares.is_informative and math.isfinite(shares.held_out_r2):
        return (
            f"Evaluate {more} random or space-filling points, search other inputs, or stop: the "
            f"model does not predict held-out values (R² {shares.held_out_r2:.2f})."
        )
    scores, std = evaluations.sign * finite, optimizer.recommended_.std
    least = LEAST_GAIN * ((scores.max() - np.quantile(scores, 0.25)) or np.ptp(scores))
    improvement = f"expected to improve on the recommended point by {format_number(gain)}."
    if gain > np.fmax(least, LEAST_OF_STD * std):
        return f"Continue with {more} evaluations: the next one is {improvement}"
    if not std > least:
        return f"Stop: another evaluation is {improvement}"
    doubt = f"expected value is uncertain by {format_number(std)} (standard deviation)"
    if evaluations.name.startswith(SCORE_NAME):
        return f"Score the recommended parameters on other splits: their {doubt}."
    return f"If values are noisy, evaluate the recommended point again: its {doubt}. Else, stop."


def _step_without_model(evaluations, finite):
    """Return the next step if the search cannot or need not go on, or an empty string."""
    if not len(finite):
        return "Check the objective and constraints: no evaluation returned a value that counts."
    X = evaluations.X[np.isfinite(evaluations.X).all(axis=1)]
    if len(np.unique(X, axis=0)) >= getattr(evaluations.optimizer.space_, "n_points", math.inf):
        return "Stop: every point of the search space was evaluated."
    is_constant = len(finite) > 1 and np.ptp(finite) == 0.0
    return "Check the objective: all values are equal." if is_constant else ""


def describe_recommended(evaluations: Evaluations) -> tuple[str, Any]:
    """Describe the recommended point in sentences, and return it with them."""
    optimizer, values, name = evaluations.optimizer, evaluations.values, evaluations.name
    if not np.isfinite(values).any():
        return "No evaluation returned a value that counts.", None
    best, std = int(np.nanargmax(evaluations.sign * values)), math.nan
    with suppress(NotFittedError):
        point, mean, std = optimizer.recommended_
    shown = _observed(values, best, std)
    if not math.isfinite(std):
        text = f"Row {best}. Observed {name}: {shown}. There is no model yet."
        return text, evaluations.points[best]
    rows = np.flatnonzero((optimizer.space_.encode([point]) == evaluations.X).all(axis=1))
    if len(rows) and not np.isfinite(values[rows]).any():  # only pruned trials of a study
        point, rows = evaluations.points[best], np.array([best])
        mean, std, _ = optimizer.predict(point)
    where = f"Row {rows[0]}" if len(rows) else "A candidate of initial_results"
    mean *= -1.0 if evaluations.greater_is_better and not optimizer.maximize else 1.0
    ends = mean, mean - NORMAL_90 * std, mean + NORMAL_90 * std
    expected, low, high = (format_number(value, std) for value in ends)
    seen = [_observed(values, row, std) for row in rows if np.isfinite(values[row])]
    observed = f"; observed: {', '.join(seen)}" if seen else ""
    text = f"{where}. Expected {name}: {expected} (90 % interval {low} to {high}){observed}."
    if optimizer.constraints_.shape[1]:
        probability = optimizer.predict(point).probability
        text += f" The learnt constraints hold with probability {probability:.2f}."
    if np.isclose(values[rows], values[best], rtol=1e-12, atol=0.0).any() or not len(rows):
        return text, point
    attribute = f" ({evaluations.best_name})" if evaluations.best_name else ""
    text += f" The best observed {name}, {shown}, is in row {best}{attribute}."
    if np.isnan(evaluations.X[best]).any():
        text += " It lies outside the search space, so the model does not know it."
    elif name.startswith(SCORE_NAME):
        text += " The best of many noisy scores is often a lucky one."
    else:
        text += (
            f" If values are exact, use row {best}. If they are noisy, use the recommended point, "
            "because the best of many noisy values is often a lucky one."
        )
    return text, point


def _observed(values, row, std):
    spread = std if std > 0.0 else middle_spread(values)
    return f"{values[row]:.{significant_digits(values[row], spread, 5)}g}"
