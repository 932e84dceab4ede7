"""Problems with few active directions among many inputs.

Each embedded problem is defined on ``[-1, 1]^d`` and evaluates a problem g with k inputs. The box
of g is mapped linearly to ``[-1, 1]^k``.

=========  =======  ======================================================================
symbol     shape    meaning
=========  =======  ======================================================================
x          (d,)     point of the embedded problem, in ``[-1, 1]^d``
u          (k,)     point of g in scaled coordinates, in ``[-1, 1]^k``
Q          (k, d)   orthonormal rows
s          (k,)     scales of the rows, ``3 / ||Q_i||_1``
=========  =======  ======================================================================

Coordinates u outside ``[-1, 1]`` are clipped. Consequently, g is only evaluated inside its box, its
minimum is preserved, and the embedded function is continuous. Beyond the box of g it is constant
along the clipped coordinate.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skbo_silbo._checks import check_count
from skbo_silbo._numerics.preimages import nearest_preimages
from skbo_silbo._typing import FloatArray, RandomState
from skbo_silbo.problems._problem import Problem, as_generator, check_noiseless

SHIFT = 0.4  # largest translation
MARGIN = 0.1  # smallest distance of the translated optimum from the bounds
REACH = 3.0  # s_i Q_i x covers [-3, 3]
MAX_ROTATIONS = 20
SHRINK = 1.0 - 1e-3  # preimages are computed in a smaller box, to allow for rounding


def embedded(problem: Problem, d: int) -> Problem:
    """Add irrelevant inputs to a problem, for d inputs in total.

    The k inputs of the problem come first, unchanged except for their scale. The published curves
    of the SILBO paper use this setting. `planted` and `rotated` give fairer comparisons, because
    methods that start at the centre or the corners of the box have an advantage here.

    Parameters
    ----------
    problem : Problem
        Problem to embed, with k inputs and a known optimum.
    d : int
        Number of inputs of the embedded problem, at least k.

    Returns
    -------
    embedded : Problem
        Problem on ``[-1, 1]^d`` with k active directions. Its optimisers are 0 at the irrelevant
        inputs.

    Raises
    ------
    ValueError
        If d < k, the problem is noisy or its optimum is unknown.

    Examples
    --------
    >>> from skbo_silbo.problems import branin, embedded
    >>> problem = embedded(branin(), 100)
    >>> problem.name, problem.bounds.shape
    ('embedded(branin, d=100)', (100, 2))
    """
    _check_embeddable(problem, d)
    return _with_coordinates("embedded", problem, d, np.arange(problem.n_dims))


def planted(problem: Problem, d: int, random_state: RandomState = None) -> Problem:
    """Hide a problem in k of d inputs, which are chosen, shifted and reflected at random.

    Input ``columns[j]`` of the planted problem is ``x = r_j u_j + t_j``, where u_j is the j-th
    input of the original problem scaled to [-1, 1], r_j is 1 or -1 with equal probability, and t_j
    is uniform on [-0.4, 0.4]. The translations are restricted such that a randomly chosen optimiser
    is at most 0.9 in absolute value. Conversely, ``u_j = clip(r_j (x - t_j))``, so the function is
    constant along x in a strip of width abs(t_j) at one side of the box.

    Parameters
    ----------
    problem : Problem
        Problem to embed, with k inputs and a known optimum.
    d : int
        Number of inputs of the planted problem, at least k.
    random_state : int, RandomState, Generator or None, default=None
        Controls the choice of inputs, reflections and translations.

    Returns
    -------
    planted : Problem
        Problem on ``[-1, 1]^d`` with the same optimum. At least one optimiser of the original
        problem remains inside the box; irrelevant inputs are 0 at the optimisers. Its
        `active_directions` are k rows of the identity matrix.

    Raises
    ------
    ValueError
        If d < k, the problem is noisy or its optimum is unknown.

    Examples
    --------
    >>> from skbo_silbo.problems import hartmann6, planted
    >>> problem = planted(hartmann6(), 100, random_state=0)
    >>> round(problem(problem.optimisers[0]), 5)
    -3.32237
    >>> problem.active_directions.shape
    (6, 100)
    """
    _check_embeddable(problem, d)
    rng, k = as_generator(random_state), problem.n_dims
    columns = rng.choice(d, size=k, replace=False)
    signs = rng.choice([-1.0, 1.0], size=k)
    first = rng.integers(len(problem.optimisers))
    reflected = signs * _to_cube(problem, problem.optimisers[first])
    lowest = np.maximum(-SHIFT, -(1 - MARGIN) - reflected)
    highest = np.minimum(SHIFT, (1 - MARGIN) - reflected)
    shifts = rng.uniform(lowest, highest)
    return _with_coordinates("planted", problem, d, columns, signs, shifts, first)


def rotated(problem: Problem, d: int, random_state: RandomState = None) -> Problem:
    """Hide a problem in k random directions of a space with d inputs.

    The rotated function is ``g(clip(s Q x))``, where Q has uniformly distributed orthonormal rows
    and row i is scaled by ``s_i = 3 / ||Q_i||_1``. Over the box, ``s_i Q_i x`` covers [-3, 3],
    three times the range of the original input.

    Parameters
    ----------
    problem : Problem
        Problem to embed, with k inputs and a known optimum.
    d : int
        Number of inputs of the rotated problem, at least k.
    random_state : int, RandomState, Generator or None, default=None
        Controls the rotation Q.

    Returns
    -------
    rotated : Problem
        Problem on ``[-1, 1]^d`` with the same optimum and `active_directions` Q. Its optimisers are
        the shortest solutions x of ``s Q x = u`` for each optimiser u of the original problem,
        unless they lie outside the box (shrunk by 0.1 %).

    Raises
    ------
    ValueError
        If d < k, the problem is noisy, its optimum is unknown or none of 20 rotations reaches an
        optimiser.

    Notes
    -----
    Rotations from which no optimiser can be reached are drawn again. For d much larger than k, the
    reachable u fill a ball of radius 3. With up to 9 inputs all optimisers lie in this ball. With
    more, it depends on the problem (Styblinski-Tang: up to 26 inputs).

    Examples
    --------
    >>> from skbo_silbo.problems import branin, rotated
    >>> problem = rotated(branin(), 50, random_state=0)
    >>> round(problem(problem.optimisers[0]), 6)
    0.397887
    """
    _check_embeddable(problem, d)
    rng, k = as_generator(random_state), problem.n_dims
    targets = _to_cube(problem, problem.optimisers)
    for _ in range(MAX_ROTATIONS):
        # the QR factor of a Gaussian matrix with diag(R) > 0 is uniformly distributed
        Q, R = np.linalg.qr(rng.standard_normal((d, k)))
        Q = (Q * np.sign(np.diag(R))).T
        scales = REACH / np.abs(Q).sum(axis=1)
        Z = targets / scales
        X = SHRINK * nearest_preimages(Z / SHRINK, Q.T, np.zeros(d))
        X = X + (Z - X @ Q.T) @ Q  # exact since Q Q' = I; leaves the box if z cannot be reached
        X = X[(np.abs(X) <= 1.0).all(axis=1)]
        if len(X):
            return _along_directions("rotated", problem, Q, scales, np.zeros(k), X)
    raise ValueError(
        f"problem must have an optimiser that rotations can reach, but none of {MAX_ROTATIONS} "
        f"rotations of {problem.name} to d={d} reached one. Use a problem with fewer inputs or, "
        f"if an optimiser is within {REACH:g} half ranges of the centre, a larger d."
    )


def _along_directions(
    kind: str,
    problem: Problem,
    Q: FloatArray,
    scales: FloatArray | float,
    shifts: FloatArray | float,
    optimisers: FloatArray,
) -> Problem:
    """Create the problem ``g(clip(scales (Q x - shifts)))`` with the given optimisers."""
    d = Q.shape[1]
    function = partial(_on_directions, problem, Q, scales, shifts)
    bounds = np.tile([-1.0, 1.0], (d, 1))
    name = f"{kind}({problem.name}, d={d})"
    return Problem(name, function, bounds, problem.optimum, optimisers, Q)


def _on_directions(
    problem: Problem,
    Q: FloatArray,
    scales: FloatArray | float,
    shifts: FloatArray | float,
    X: FloatArray,
) -> FloatArray:
    lower, upper = problem.bounds.T
    share = (np.clip(scales * (X @ Q.T - shifts), -1, 1) + 1) / 2
    return problem.evaluate_truth(np.clip(lower + share * (upper - lower), lower, upper))


def _with_coordinates(
    kind: str,
    problem: Problem,
    d: int,
    columns: NDArray[np.intp],
    signs: FloatArray | float = 1.0,
    shifts: FloatArray | float = 0.0,
    first: int | np.intp = 0,
) -> Problem:
    """Add irrelevant inputs to a problem, and reflect and translate its own inputs.

    The optimiser with index `first` becomes the first optimiser of the embedded problem.
    """
    points = signs * _to_cube(problem, problem.optimisers) + shifts
    points = np.vstack([points[first], np.delete(points, first, axis=0)])
    points = points[(np.abs(points) <= 1.0).all(axis=1)]
    optimisers = np.zeros((len(points), d))
    optimisers[:, columns] = points
    return _along_directions(kind, problem, np.eye(d)[columns], signs, shifts, optimisers)


def _to_cube(problem: Problem, X: Any) -> FloatArray:
    lower, upper = problem.bounds.T
    return np.clip(2 * (X - lower) / (upper - lower) - 1, -1, 1)


def _check_embeddable(problem: Problem, d: int) -> None:
    """Check that a problem can be embedded in d inputs."""
    check_noiseless(problem)
    check_count(f"d for {problem.name}", d, problem.n_dims)
    problem.known_optimum()
