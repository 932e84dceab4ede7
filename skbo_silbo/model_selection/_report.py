"""Predicted scores of a fitted search."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo.model_selection._final_models import ranking_metric
from skbo_silbo.model_selection._goals import ParEGO
from skbo_silbo.model_selection._initial_candidates import is_point_of
from skbo_silbo.optimizers import EmbeddedOptimizer
from skbo_silbo.optimizers.history import as_points
from skbo_silbo.optimizers.predictions import Prediction
from skbo_silbo.space.values import same


def expected_score(search: Any, params: Any) -> Prediction:
    """Predict the scores of candidates with the surrogate of a fitted search.

    Raises
    ------
    NotFittedError
        If no surrogate was fitted.
    ValueError
        If the search was multi-objective, or a candidate is outside the space.
    """
    optimizer = search.optimizer_
    if not isinstance(optimizer, EmbeddedOptimizer):
        raise NotFittedError(
            f"predict_score needs a model, which method={search.method!r} does not have. Use "
            "another method, such as 'silbo'."
        )
    if isinstance(optimizer, ParEGO):
        raise ValueError(
            "predict_score is not available for a multi-objective search, got "
            f"refit={search.refit!r}. Search for a single objective instead."
        )
    points, single = as_points(params, optimizer.space_)
    measured = {i: score for i, p in enumerate(points) for score in _measured(search, p)}
    rest = [i for i in range(len(points)) if i not in measured]
    values = np.zeros((3, len(points)))
    values[0], values[2] = [-measured.get(i, 0.0) for i in range(len(points))], 1.0
    if rest or not points:
        try:
            predicted = optimizer.predict([points[i] for i in rest])
        except NotFittedError:
            raise NotFittedError(
                "predict_score needs a fitted surrogate, but all "
                f"{len(optimizer.func_vals_)} candidates were initial ones. "
                f"{remedy_without_model(search)} or "
                "reduce the number of initial candidates by initial_params='current'."
            ) from None
        values[:, rest] = predicted
    mean, *others = values
    return Prediction(*(float(v[0]) if single else v for v in (-mean, *others)))


def remedy_without_model(search: Any) -> str:
    """Return advice on how to get a model if a search evaluated too few candidates for one."""
    if search.stop_reason_ == "interrupted":
        return "Search to the end"
    return f"Increase `{'max_time' if search.stop_reason_ == 'max_time' else 'n_iter'}`"


def _measured(search: Any, params: Any) -> list[float]:
    """Return [score] for a candidate outside the search space, and [] for other candidates."""
    if not isinstance(params, Mapping) or is_point_of(params, search.optimizer_.space_):
        return []
    results = search.cv_results_
    rows = zip(results["params"], results[f"mean_test_{ranking_metric(search)}"], strict=True)
    return [float(score) for row, score in rows if same(row, dict(params))][:1]
