"""Other libraries' optimisers, each asked for one point of the unit cube and given its value.

All are made from the number of inputs and a seed. Every peer has its own defaults, which its
docstring repeats where they matter.
"""

import numpy as np
from scipy.stats import qmc

from skbo_silbo.baselines._silbo_as_printed import quiet_options

SIGMA = 0.25  # first step of CMA-ES: a quarter of the range, as its manual proposes


class Sobol:
    """A scrambled Sobol sequence."""

    def __init__(self, d, seed):
        self._sequence = qmc.Sobol(d, seed=np.random.default_rng(seed))

    def ask(self):
        """Return the next point, (d,)."""
        return self._sequence.random(1)[0]

    def tell(self, u, y):
        """Take no notice of a value."""


class CMAES:
    """CMA-ES (package cma) from a random point, first step a quarter of the range."""

    def __init__(self, d, seed):
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
        self._values.append(y)
        if len(self._values) == len(self._generation):
            self._strategy.tell(self._generation, self._values)
            self._generation = []


class OptunaTPE:
    """Optuna's TPESampler: 10 random points first."""

    def __init__(self, d, seed):
        self._study = new_study(optuna_quiet().samplers.TPESampler(seed=seed))
        self._distributions = unit_distributions(d)

    def ask(self):
        """Return the next point, (d,)."""
        self._trial = self._study.ask(self._distributions)
        return np.array([self._trial.params[name] for name in self._distributions])

    def tell(self, u, y):
        """Record the value."""
        self._study.tell(self._trial, y)


def optuna_quiet():
    """Return the package, which then says nothing of what it does."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def new_study(sampler):
    """Return a study by a sampler."""
    return optuna_quiet().create_study(sampler=sampler)


def unit_distributions(d):
    """Return those of d inputs, from 0 to 1, by name."""
    from optuna.distributions import FloatDistribution

    return {f"x{j}": FloatDistribution(0.0, 1.0) for j in range(d)}
