"""Other libraries' optimisers, each asked for one point of the unit cube and given its value.

Every peer has its own defaults, which its docstring repeats where they matter.
"""

import numpy as np
from scipy.stats import qmc
from sklearn.preprocessing import power_transform

from skbo_silbo.baselines._evolution import quiet_options

SIGMA = 0.25  # first step of CMA-ES: a quarter of the range, as its manual proposes


class Peer:
    """What all peers share: the points asked for and their values.

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
        """Return all values on the scale of a peer with a Gaussian process, (n,)."""
        return yeo_johnson(self.y)


class Sobol(Peer):
    """A scrambled Sobol sequence."""

    def __init__(self, d, seed):
        super().__init__(d, seed)
        self._sequence = qmc.Sobol(d, seed=np.random.default_rng(seed))

    def ask(self):
        """Return the next point, (d,)."""
        return self._sequence.random(1)[0]


class CMAES(Peer):
    """CMA-ES (package cma) from a random point, first step a quarter of the range."""

    def __init__(self, d, seed):
        super().__init__(d, seed)
        import cma

        rng = np.random.default_rng(seed)
        options = quiet_options(rng) | {"bounds": [0.0, 1.0]}
        self._strategy = cma.CMAEvolutionStrategy(rng.random(d), SIGMA, options)
        self._generation, self._values = [], []

    def ask(self):
        """Return the next point, (d,)."""
        if not self._generation:
            self._generation, self._values = self._strategy.ask(), []
        return np.clip(self._generation[len(self._values)], 0.0, 1.0)

    def tell(self, u, y):
        """Record the value; a full generation moves the distribution."""
        super().tell(u, y)
        self._values.append(y)
        if len(self._values) == len(self._generation):
            self._strategy.tell(self._generation, self._values)
            self._generation = []


class OptunaTPE(Peer):
    """Optuna's TPESampler: 10 random points first."""

    def __init__(self, d, seed):
        super().__init__(d, seed)
        self._study = _new_study(_optuna().samplers.TPESampler(seed=seed))
        self._distributions = _unit_distributions(d)

    def ask(self):
        """Return the next point, (d,)."""
        self._trial = self._study.ask(self._distributions)
        return np.array([self._trial.params[name] for name in self._distributions])

    def tell(self, u, y):
        """Record the value."""
        super().tell(u, y)
        self._study.tell(self._trial, y)


class OptunaGP(Peer):
    """Optuna's GPSampler: 10 random points first.

    It is given a study of all trials anew at every step, as the scale of the values may change; the
    sampler, and with it the parameters of its last fit, stays.
    """

    def __init__(self, d, seed):
        super().__init__(d, seed)
        self._sampler = _optuna().samplers.GPSampler(seed=seed)
        self._distributions = _unit_distributions(d)
        self._trials = []

    def ask(self):
        """Return the next point, (d,)."""
        study = _new_study(self._sampler)
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
            _optuna().trial.create_trial(
                params=params, distributions=self._distributions, value=float(y)
            )
        )


class ScikitOptimize(Peer):
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


def _optuna():
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _new_study(sampler):
    return _optuna().create_study(sampler=sampler)


def _unit_distributions(d):
    from optuna.distributions import FloatDistribution

    return {f"x{j}": FloatDistribution(0.0, 1.0) for j in range(d)}


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
