"""Whether a bootstrap over rows tells by how much the best cross-validated score is too good.

``python doc/benchmarks/known_too_good.py`` prints the table of the page, of every eleventh task
of ``known_judge.jsonl``, with 50 candidates each: ten known and 40 random ones. The bootstrap is
BBC-CV (Tsamardinos, Greasidou and Borboudakis, Machine Learning 107, 2018): rows are drawn with
replacement, the candidate best on them is scored on those not drawn, by the folds' predictions.
"""

import warnings

import numpy as np
from known_data import SETS, judged_sets
from known_judge import POOL, _cells, _parts, _task, read
from known_portfolio import estimator_of
from sklearn.model_selection import ParameterSampler

EVERY = 11  # of the rows
DRAWS = 500


def measure(name, kind, X, y, X_others, y_others):
    """Return five scores of the best candidate.

    Cross-validated; by the bootstrap; of the model of all rows on other rows; the mean of the
    folds' models there; and whether the 5th percentile of the draws is below the third.
    """
    _, space, own = _task(name, X, y)
    folds, parts = _parts(kind, X, y, X_others, y_others)
    tried = [{}, *own, *ParameterSampler(space, POOL, random_state=0)]
    values = [_values(name, params, parts) for params in tried]  # of each fold, then other rows
    of_fold = [[v[i] for v in values] for i in range(len(folds))]
    rng, shares = np.random.default_rng(0), []
    counts = rng.multinomial(len(y), np.full(len(y), 1 / len(y)), DRAWS)
    weights = [counts, counts == 0, np.ones((1, len(y)))]
    for w in weights:  # (DRAWS, candidates) of each
        pairs = zip([rows for _, rows in folds], of_fold, strict=True)
        shares.append(np.mean([_weighted(kind, y[b], of, w[:, b]) for b, of in pairs], axis=0))
    drawn, left, whole = shares
    kept = np.isfinite(drawn).all(axis=1) & np.isfinite(left).all(axis=1)
    draws = left[kept, np.argmax(drawn[kept], axis=1)]
    best = np.argmax(whole[0])
    others = [_weighted(kind, y_others, [v], np.ones((1, len(y_others)))) for v in values[best][3:]]
    of_folds, of_all = np.mean(others[1:]), others[0]
    return [whole[0, best], draws.mean(), of_all.item(), of_folds, np.quantile(draws, 0.05)]


def _values(name, params, parts):
    """Return predicted values, of the rows of each fold, then of other rows by all models."""
    model = estimator_of(name)[0].set_params(**{n.partition("__")[2]: v for n, v in params.items()})
    X_others, found = parts[-1][2], []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        others = []
        for X, y, X_test, _ in parts:
            model.fit(X, y)
            found.append(_predicted(model, X_test))
            others.append(_predicted(model, X_others))
    return [*found[:-1], others[-1], *others[:-1]]


def _predicted(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


def _weighted(kind, y, values, weights):
    """Return scores, (weights, values), of rows that count as often as their weights say."""
    with np.errstate(all="ignore"):
        if kind == "classification":
            own, other = weights[:, y == 1].astype(float), weights[:, y == 0].astype(float)
            won = [np.subtract.outer(v[y == 1], v[y == 0]) for v in values]
            won = [np.einsum("bi,bi->b", own @ (0.5 + 0.5 * np.sign(w)), other) for w in won]
            return np.array(won).T / (own.sum(axis=1) * other.sum(axis=1))[:, None]
        total = weights.sum(axis=1)
        spread = weights @ y**2 / total - (weights @ y / total) ** 2
        return 1.0 - (weights @ ((np.array(values) - y) ** 2).T) / total[:, None] / spread[:, None]


def report():
    sets = {data: (kind, *rest) for kind in SETS for data, *rest in judged_sets(kind)}
    rows = [(r["data"], r["class"]) for r in read()[::EVERY]]
    for kind, score in (("classification", "area under the curve"), ("regression", "R²")):
        own = [(data, name) for data, name in rows if sets[data][0] == kind]
        found = np.array([measure(name, *sets[data]) for data, name in own])
        best, bootstrap, of_all, of_folds, low = found.T
        names = [data for data, _ in own]
        for which, truth in (("all rows", of_all), ("folds", of_folds)):
            closer = (np.abs(bootstrap - truth) < np.abs(best - truth)).sum()
            cells = [_cells(names, v, v - truth)[1] for v in (best, bootstrap)]
            print(score, which, len(own), *cells, closer, (low <= truth).sum(), sep=",")


if __name__ == "__main__":
    print("score,models of,tasks,best less it,bootstrap less it,bootstrap closer,above its 5 %")
    report()
