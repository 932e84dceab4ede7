"""Optimisers of other libraries with a common ask-and-tell interface on the unit cube.

All are created from the number of inputs and a seed, and use the defaults of their library unless
their docstring states otherwise.
"""

import numpy as np
from scipy.stats import qmc

from skbo_silbo.baselines._silbo_as_printed import quiet_options

SIGMA = 0.25  # initial step size of CMA-ES, as recommended by its documentation


class Sobol:
    """Optimiser that evaluates the points of a scrambled Sobol sequence."""

    def __init__(self, d, seed):
        self._sequence = qmc.Sobol(d, seed=np.random.default_rng(seed))

    def ask(self):
        """Return the next point to evaluate."""
        return self._sequence.random(1)[0]

    def tell(self, u, y):
        """Do nothing, because the sequence does not depend on the observed values."""


class CMAES:
    """CMA-ES optimiser of the package cma."""

    def __init__(self, d, seed):
        import cma

        rng = np.random.default_rng(seed)
        options = quiet_options(rng) | {"bounds": [0.0, 1.0]}
        self._strategy = cma.CMAEvolutionStrategy(rng.random(d), SIGMA, options)
        self._generation, self._values = [], []

    def ask(self):
        """Return the next point to evaluate."""
        if not self._generation:
            self._generation, self._values = self._strategy.ask(), []
        return np.clip(self._generation[len(self._values)], 0.0, 1.0)

    def tell(self, u, y):
        """Record an observed value, and update the distribution after each generation."""
        self._values.append(y)
        if len(self._values) == len(self._generation):
            self._strategy.tell(self._generation, self._values)
            self._generation = []


class OptunaTPE:
    """Optuna's TPE sampler as an ask-and-tell optimiser."""

    def __init__(self, d, seed):
        self._study = new_study(import_quiet_optuna().samplers.TPESampler(seed=seed))
        self._distributions = unit_distributions(d)

    def ask(self):
        """Return the next point to evaluate."""
        self._trial = self._study.ask(self._distributions)
        return np.array([self._trial.params[name] for name in self._distributions])

    def tell(self, u, y):
        """Record an observed value."""
        self._study.tell(self._trial, y)


class OptunaTPEFromMiddle(OptunaTPE):
    """Optuna's TPE sampler, which evaluates the middle of the cube first."""

    def __init__(self, d, seed):
        super().__init__(d, seed)
        self._study.enqueue_trial(dict.fromkeys(self._distributions, 0.5))


def import_quiet_optuna():
    """Import Optuna with its log output limited to warnings."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def new_study(sampler):
    """Create an Optuna study with the given sampler."""
    return import_quiet_optuna().create_study(sampler=sampler)


def unit_distributions(d):
    """Return a uniform distribution on [0, 1] for each of d inputs, by name."""
    from optuna.distributions import FloatDistribution

    return {f"x{j}": FloatDistribution(0.0, 1.0) for j in range(d)}
