"""Noise on top of a problem whose truth stays known."""

from dataclasses import dataclass, field, fields
from numbers import Real

import numpy as np

from skbo_silbo._typing import ArrayLike, FloatArray, RandomState
from skbo_silbo.problems._problem import Problem
from skbo_silbo.problems._random import as_generator


@dataclass(frozen=True, eq=False, repr=False)
class NoisyProblem(Problem):
    """A problem whose evaluations carry Gaussian noise; made by `noisy`.

    `__call__` and `evaluate` are noisy; `truth`, `evaluate_truth`, `regret`, `optimum` and
    `check_optimum` are about the function without noise.

    Parameters
    ----------
    name, function, bounds, optimum, optimisers, active_directions
        See `Problem`.
    sd : float
        Standard deviation of the noise, in the unit of the function.
    generator : numpy.random.Generator
        Source of the noise; every evaluation advances it.

    Examples
    --------
    >>> from skbo_silbo.problems import branin, noisy
    >>> problem = noisy(branin(), sd=0.5, random_state=0)
    >>> problem([0.0, 0.0]) == problem([0.0, 0.0])
    False
    >>> problem.truth([0.0, 0.0]) == branin()([0.0, 0.0])
    True
    """

    sd: float = field(kw_only=True)
    generator: np.random.Generator = field(kw_only=True)

    def evaluate(self, X: ArrayLike) -> FloatArray:
        """Return the values at several points, each with noise of its own; see `Problem`."""
        truth = self.evaluate_truth(X)
        return truth + self.sd * self.generator.standard_normal(truth.shape)


def noisy(problem: Problem, sd: float, random_state: RandomState = None) -> NoisyProblem:
    """Return the problem with independent Gaussian noise on every evaluation.

    Parameters
    ----------
    problem : Problem
        Without noise.
    sd : float
        Standard deviation, in the unit of the function; 0 is allowed.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the noise. The i-th evaluation of two problems with the same seed has the same
        noise, whatever the point.

    Returns
    -------
    problem : NoisyProblem
        The same function and optimum.

    Raises
    ------
    ValueError
        If `sd` is negative or not finite, or the problem is noisy already.

    Examples
    --------
    >>> from skbo_silbo.problems import branin, noisy
    >>> noisy(branin(), sd=0.1, random_state=0)
    NoisyProblem('noisy(branin, sd=0.1)', n_dims=2)
    """
    if isinstance(problem, NoisyProblem):
        raise ValueError(
            f"problem must be without noise: got {problem!r}. Add the variances and call noisy "
            "once."
        )
    if not isinstance(sd, Real) or isinstance(sd, bool) or not 0 <= sd < np.inf:
        raise ValueError(f"sd must be a finite number >= 0: got {sd!r}. Use sd=0 for no noise.")
    known = {f.name: getattr(problem, f.name) for f in fields(problem)}
    known["name"] = f"noisy({problem.name}, sd={sd:g})"
    return NoisyProblem(**known, sd=float(sd), generator=as_generator(random_state))
