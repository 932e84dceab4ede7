"""How much each parameter matters to the score, by a model of the scores of a search.

==========  ==========  ==============================================================
symbol      shape       meaning
==========  ==========  ==============================================================
A, B        (k, m)      independent uniform draws from the cube, rounded to the space
A_g         (k, m)      A with the columns of parameter g taken from B
f           (k, m)->k   the posterior mean of a Gaussian process fitted to the scores
==========  ==========  ==============================================================
"""

import numpy as np

from ..surrogate import GaussianProcessSurrogate

N_DRAWS = 1024
N_FOLDS = 5
LEAST_SCORES = 2 * N_FOLDS


def parameter_relevance(space, embedding, X, scores):
    """Return the share of the score's variance that each parameter takes part in.

    The total effect ``E[(f(A) - f(A_g))^2] / (2 Var f(A))`` (Jansen 1999, eq. 13 of Saltelli et al.
    2010 for its estimator): 0 if a parameter does not matter, 1 if no other does; interactions
    count for all that take part, so that the shares can add up to more than 1.

    Parameters
    ----------
    space : Space or SpaceUnion
    embedding : LinearEmbedding
        Through which the model sees the points.
    X : ndarray of shape (n, m)
        Points of the cube.
    scores : ndarray of shape (n,)
        Those that are not finite are left out.

    Returns
    -------
    relevance : dict of str to float
        For every parameter that is not a constant.
    """
    groups = {name: columns for name, columns in space.column_groups().items() if columns}
    finite = np.isfinite(scores)
    if finite.sum() < 2 or np.ptp(scores[finite]) == 0.0:
        return dict.fromkeys(groups, 0.0)
    model = GaussianProcessSurrogate().fit(embedding.project(X[finite]), scores[finite])
    rng = np.random.default_rng(0)
    A, B = rng.uniform(-1.0, 1.0, (2, N_DRAWS, space.n_features_))

    def f(X):
        return model.predict(embedding.project(space.round(X)))[0]

    base = f(A)
    relevance = {}
    for name, columns in groups.items():
        A_g = A.copy()
        A_g[:, columns] = B[:, columns]
        relevance[name] = float(0.5 * np.mean((base - f(A_g)) ** 2) / max(base.var(), 1e-300))
    return relevance


def held_out_share(embedding, X, scores):
    """Return the share of the variance of held-out scores that the model explains (R^2).

    NaN with fewer than ten finite scores or equal ones. Negative if the model is worse than their
    mean.
    """
    finite = np.isfinite(scores)
    Z, scores = embedding.project(X[finite]), scores[finite]
    if scores.size < LEAST_SCORES or np.ptp(scores) == 0.0:
        return float("nan")
    folds, predicted = np.arange(scores.size) % N_FOLDS, np.empty(scores.size)
    for fold in range(N_FOLDS):
        out = folds == fold
        model = GaussianProcessSurrogate().fit(Z[~out], scores[~out])
        predicted[out] = model.predict(Z[out])[0]
    return float(1.0 - np.mean((scores - predicted) ** 2) / scores.var())
