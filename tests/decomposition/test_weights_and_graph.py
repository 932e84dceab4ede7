"""Sample weights beside unlabelled rows: labels are weighed, the graph has every row once."""

import numpy as np
import pytest
from drawn import numbers_of_rows, weighted_rows
from scipy import linalg
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import Pipeline

from skbo_silbo import SemiSlicedInverseRegression

pytestmark = pytest.mark.filterwarnings(
    "ignore:No direction was found", "ignore:Little was found", "ignore:The linearity condition"
)


def pencil_by_hand(X, codes, rest, w, alpha, ridge, n_neighbors=7):
    """(Gamma, T) and the weighted mean, from the formulas, without roots of weights."""
    mean = np.average(X, axis=0, weights=w)
    C, rows = X - mean, np.concatenate([X, rest]) - mean
    near = kneighbors_graph(rows, n_neighbors).toarray()
    S = np.maximum(near, near.T)
    i, j = np.nonzero(np.triu(S))
    differences = rows[i] - rows[j]
    roughness = differences.T @ differences / len(i)
    T = C.T @ (w[:, None] * C) + alpha * w.sum() * roughness
    T += ridge * np.trace(T) / X.shape[1] * np.eye(X.shape[1])
    gamma = np.zeros_like(T)
    for h in np.unique(codes):
        inside = codes == h
        gap = np.average(C[inside], axis=0, weights=w[inside])
        gamma += w[inside].sum() * np.outer(gap, gap)
    return gamma, T, mean


@pytest.mark.parametrize(
    ("d", "solver"), [(4, "dense"), (4, "randomized"), (120, "dual"), (120, "dense")]
)
def test_weighted_labels_match_explicit_graph(d, solver):
    X, y, rest, _, weights = weighted_rows(0, d=d)
    w, codes = numbers_of_rows(weights), np.digitize(y, [-1.0, 0.0, 1.0])
    sir = SemiSlicedInverseRegression(
        2, alpha=0.7, ridge=0.2, scale=False, solver=solver, random_state=0
    ).fit(X, codes, rest, sample_weight=weights)
    gamma, T, mean = pencil_by_hand(X, codes, rest, w, 0.7, 0.2)
    eigenvalues, B = linalg.eigh(gamma, T)
    np.testing.assert_allclose(sir.mean_, mean)
    np.testing.assert_allclose(sir.eigenvalues_[:2], eigenvalues[::-1][:2], rtol=1e-6)
    expected = np.sqrt(w.sum()) * B.T[::-1][:2]
    size = np.abs(expected).max()
    np.testing.assert_allclose(np.abs(sir.components_), np.abs(expected), atol=1e-4 * size)


def test_routed_weights_match_manual_loop():
    X, y, rest, _, weights = weighted_rows(10)
    folds = KFold(3, shuffle=True, random_state=0)
    with config_context(enable_metadata_routing=True):
        sdr = SemiSlicedInverseRegression(1, n_slices=4)
        sdr.set_fit_request(X_unlabeled=True, sample_weight=True)
        last = LinearRegression().set_fit_request(sample_weight=True)
        last.set_score_request(sample_weight=True)
        model = Pipeline([("sdr", sdr), ("last", last)], transform_input=["X_unlabeled"])
        params = {"X_unlabeled": rest, "sample_weight": weights}
        scores = cross_val_score(model, X, y, cv=folds, params=params)
        grid = {"sdr__alpha": ["auto", 0.0, 10.0]}
        search = GridSearchCV(model, grid, cv=folds, error_score="raise").fit(X, y, **params)
    for k, alpha in enumerate(grid["sdr__alpha"]):
        for fold, (train, test) in enumerate(folds.split(X)):
            sir = clone(sdr).set_params(alpha=alpha)
            sir.fit(X[train], y[train], rest, sample_weight=weights[train])
            last = LinearRegression()
            last.fit(sir.transform(X[train]), y[train], sample_weight=weights[train])
            expected = last.score(sir.transform(X[test]), y[test], sample_weight=weights[test])
            found = search.cv_results_[f"split{fold}_test_score"][k]
            assert found == pytest.approx(expected)
            if alpha == "auto":
                assert scores[fold] == pytest.approx(expected)
