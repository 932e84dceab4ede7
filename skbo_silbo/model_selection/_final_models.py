"""Fit final models from a finished search: one candidate, or an ensemble of the best candidates."""

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import VotingClassifier, VotingRegressor

from skbo_silbo._sklearn import fit_parameters
from skbo_silbo._typing import BoolArray
from skbo_silbo.space.values import alike


def fit_candidate(search: Any, index: int, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """Fit the estimator with the parameters in one row of ``cv_results_``.

    Raises
    ------
    IndexError
        If ``cv_results_`` has no row `index`.
    """
    table = search.cv_results_["params"]
    if index >= len(table):
        raise IndexError(
            f"`index` must be a row of cv_results_, from 0 to {len(table) - 1}, got {index}."
        )
    return _candidate(search, table[index]).fit(X, y, **fit_parameters(search, params))


def fit_ensemble(search: Any, X: Any, y: Any, n: int, params: dict[str, Any]) -> Any:
    """Fit a voting ensemble of the n best distinct candidates of a search.

    Raises
    ------
    ValueError
        If there are fewer than n candidates, or the estimator is neither a classifier nor a
        regressor.
    """
    rows = best_rows(search)
    if n > len(rows):
        raise ValueError(
            f"`n` must be at most the number of distinct candidates with a score, {len(rows)}, "
            f"got {n}. Decrease n, or search with a larger n_iter."
        )
    table = search.cv_results_["params"]
    models = [(f"candidate_{row}", _candidate(search, table[row])) for row in rows[:n]]
    ensemble = _voting(search, models, y)
    return ensemble.fit(X, y, **fit_parameters(search, params))


def best_rows(search: Any) -> list[int]:
    """Return the rows of ``cv_results_`` with distinct candidates and valid scores, best first."""
    table = search.cv_results_
    scores = np.array(table[f"mean_test_{ranking_metric(search)}"], dtype=float)
    scores[_have_failed(search)] = np.nan
    order = np.argsort(-scores, kind="stable")  # NaN last
    kept: dict[int, dict[str, Any]] = {}
    base = search.estimator.get_params()
    for row in order[np.isfinite(scores[order])].tolist():
        # the same settings can be written differently: with and without the estimator's own values
        settings = {**base, **table["params"][row]}
        if not any(_same_settings(settings, other) for other in kept.values()):
            kept[row] = settings
    return list(kept)


def ranking_metric(search: Any) -> str:
    """Return the name of the metric by which the candidates are ranked."""
    names = [key.removeprefix("mean_test_") for key in search.cv_results_ if "mean_test_" in key]
    if isinstance(search.refit, str) and search.refit in names:
        return search.refit
    return names[0]


def _have_failed(search: Any) -> BoolArray:
    """Return a mask of the candidates whose fits failed on every split."""
    metric = ranking_metric(search)
    scores = [search.cv_results_[f"split{i}_test_{metric}"] for i in range(search.n_splits_)]
    return np.all(np.array(scores, dtype=float) == search.error_score, axis=0)


def _same_settings(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(alike(a[name], b[name]) for name in a)


def _candidate(search: Any, params: dict[str, Any]) -> Any:
    return clone(search.estimator).set_params(**clone(params, safe=False))


def _voting(search: Any, models: list[tuple[str, Any]], y: Any) -> Any:
    if is_regressor(search.estimator):
        return VotingRegressor(models, n_jobs=search.n_jobs)
    if not is_classifier(search.estimator):
        raise ValueError(
            "`estimator` must be a classifier or a regressor for an ensemble, got "
            f"{search.estimator!r}. Fit single candidates with choose(index, X, y)."
        )
    _check_class_weight(models, y)
    soft = all(hasattr(model, "predict_proba") for _, model in models)
    return VotingClassifier(models, voting="soft" if soft else "hard", n_jobs=search.n_jobs)


def _check_class_weight(models: list[tuple[str, Any]], y: Any) -> None:
    """Reject class weights that a `VotingClassifier` would assign to the wrong classes.

    The classifier fits its members to classes encoded as 0, 1, ..., so weights that refer to other
    labels do not apply.
    """
    labels = np.unique(y)
    if np.array_equal(labels, np.arange(len(labels))):
        return
    for _, model in models:
        for name, value in model.get_params().items():
            if name.split("__")[-1] == "class_weight" and isinstance(value, dict):
                raise ValueError(
                    f"`{name}` must not be a dict unless the classes are 0, 1, ..., because "
                    f"VotingClassifier encodes them, got {value!r}. Use 'balanced' or encode y "
                    "before the search."
                )
