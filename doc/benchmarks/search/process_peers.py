"""Other libraries' optimisers with a Gaussian process, on a scale of values that is none of ours.

Every peer has its own defaults, which its docstring repeats where they matter.
"""

import numpy as np
from sklearn.preprocessing import power_transform

from .peers import import_quiet_optuna, new_study, unit_distributions


class ProcessPeer:
    """Base of peers whose process sees the values on another scale.

    Parameters
    ----------
    d : int
        Inputs.
    seed : int
    """

    def __init__(self, d, seed):
        self.d, self.seed = d, seed
        self.U, self.y = np.empty((0, d)), np.empty(0)

    def tell(self, u, y):
        """Record the value of the point that was asked for."""
        self.U, self.y = np.vstack([self.U, u]), np.append(self.y, y)

    def scaled(self):
        """Return all values on that scale, (n,)."""
        return yeo_johnson(self.y)


class OptunaGP(ProcessPeer):
    """Optuna's GPSampler: 10 random points first.

    It is given a study of all trials anew at every step, as the scale of the values may change; the
    sampler, and with it the parameters of its last fit, stays.
    """

    def __init__(self, d, seed):
        super().__init__(d, seed)
        self._sampler = import_quiet_optuna().samplers.GPSampler(seed=seed)
        self._distributions = unit_distributions(d)
        self._trials = []

    def ask(self):
        """Return the next point, (d,)."""
        study = new_study(self._sampler)
        for trial, value in zip(self._trials, self.scaled(), strict=True):
            trial.value = float(value)
        study.add_trials(self._trials)
        params = study.ask(self._distributions).params
        return np.array([params[name] for name in self._distributions])

    def tell(self, u, y):
        """Record the value."""
        super().tell(u, y)
        params = dict(zip(self._distributions, map(float, u), strict=True))
        self._trials.append(
            import_quiet_optuna().trial.create_trial(
                params=params, distributions=self._distributions, value=float(y)
            )
        )


class ScikitOptimize(ProcessPeer):
    """scikit-optimize's Optimizer: 10 random points, a Gaussian process, a hedge of gains."""

    def __init__(self, d, seed):
        super().__init__(d, seed)
        from skopt import Optimizer

        self._optimizer = Optimizer([(0.0, 1.0)] * d, random_state=seed)

    def ask(self):
        """Return the next point, (d,)."""
        return np.array(self._optimizer.ask())

    def tell(self, u, y):
        """Record the value; the earlier ones move to the present scale."""
        super().tell(u, y)
        *before, last = self.scaled().tolist()
        self._optimizer.yi[:] = before
        self._optimizer.tell(u.tolist(), last)


def yeo_johnson(y):
    """Return the values after the power transform of Yeo and Johnson that makes them most normal.

    Raw values over many orders of magnitude would be held against a peer, not against its search;
    the scale is none of ours, so that kept results of peers stay true when our method changes.

    Parameters
    ----------
    y : ndarray of shape (n,)

    Returns
    -------
    scaled : ndarray of shape (n,)
        A rising function of y, mean 0 and deviation 1; y less its mean where all are (nearly) the
        same.
    """
    if y.size == 0:
        return y
    centred = y - y.mean()
    spread = centred.std()
    if spread <= 1e-12 * max(np.abs(y).max(), 1e-300):
        return centred
    return power_transform((centred / spread)[:, None], method="yeo-johnson")[:, 0]
