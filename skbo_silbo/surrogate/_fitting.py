"""When hyperparameters are searched again, and how well a surrogate predicts left-out values."""

from copy import copy

import numpy as np

# Those of all runs of doc/search_log.rst, not tuned.
TUNE_GROWTH = 1.05  # labels, relative, between searches of the hyperparameters
LONG_GROWTH = 1.1  # the same where a search takes long
LONG_WORK = 2 * 10**7  # labels squared times inputs: about a second (doc/benchmarks/overhead.rst)
N_FOLDS = 5


def refit(template, state, Z, y, noise, *, moved=False, tune=True, rng=None):
    """Return a fitted copy of a surrogate and its state; hyperparameters searched where due.

    Parameters
    ----------
    template : Surrogate
        It is not changed.
    state : dict or None
        What this function returned before; None the first time.
    Z, y, noise
        As in `Surrogate.fit`.
    moved : bool, default=False
        Whether the embedding has changed since: then a search is due.
    tune : bool, default=True
        Else the hyperparameters of `state` are kept, and it is returned as it is.
    rng : numpy.random.Generator or None, default=None
    """
    surrogate = copy(template)
    if state is not None and not tune:
        surrogate.fit(Z, y, noise, state=state, tune=False, rng=None)
        return surrogate, state
    tuned_at = 0 if moved or state is None else state["tuned_at"]
    growth = TUNE_GROWTH if y.size**2 * Z.shape[1] <= LONG_WORK else LONG_GROWTH
    tune = y.size >= growth * tuned_at
    surrogate.fit(Z, y, noise, state=state, tune=tune, rng=rng)
    return surrogate, {**surrogate.to_state(), "tuned_at": y.size if tune else tuned_at}


def left_out_log_density(template, Z, y, rng):
    """Return the log density of every value, (n,), each left out, or else by folds."""
    if hasattr(template, "leave_one_out_log_density"):
        return refit(template, None, Z, y, np.zeros(y.size), rng=rng)[0].leave_one_out_log_density()
    folds = rng.permutation(y.size) % N_FOLDS
    density = np.empty(y.size)
    for fold in np.unique(folds):
        out = folds == fold
        surrogate, _ = refit(template, None, Z[~out], y[~out], np.zeros((~out).sum()), rng=rng)
        density[out] = surrogate.log_predictive_density(Z[out], y[out])
    return density
