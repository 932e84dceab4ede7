"""Problems with few active directions hidden among many inputs (MATH section 3).

Every embedded problem lives on ``[-1, 1]^d`` and calls a problem g of k inputs, whose own box is
mapped linearly to ``[-1, 1]^k``: u = -1 is its lower bound, u = 1 its upper bound.

=========  =======  ======================================================================
symbol     shape    meaning
=========  =======  ======================================================================
x          (d,)     point of the embedded problem, in ``[-1, 1]``
u          (k,)     point of g in cube coordinates, in ``[-1, 1]``
Q          (k, d)   orthonormal rows
s          (k,)     scales of the rows, ``3 / ||Q_i||_1``
=========  =======  ======================================================================

A coordinate u that leaves ``[-1, 1]`` is clipped. So g is never asked outside its own box, its
least value stays the least value whatever g is, and the embedded function is continuous; beyond
the box of g it is constant along that coordinate.
"""

from functools import partial

import numpy as np

from skbo_silbo._checks import check_count
from skbo_silbo._numerics._preimages import nearest_preimages
from skbo_silbo._typing import RandomState
from skbo_silbo.problems._problem import Problem, as_generator, refuse_noise

SHIFT = 0.4  # coordinates are translated by at most this
MARGIN = 0.1  # and the optimum stays this far inside the box
REACH = 3.0  # s_i Q_i x covers [-3, 3]
MAX_ROTATIONS = 20
SHRINK = 1.0 - 1e-3  # preimages are sought in a slightly smaller box, to have room for rounding


def embedded(problem: Problem, d: int) -> Problem:
    """Return the problem with d - k inputs added that do nothing, nothing moved.

    The k inputs of the problem come first and cover their own boxes exactly. This is the setting of
    the published curves of the SILBO paper. `planted` and `rotated` are fairer. Here methods that
    start at the centre or in the corners of the box can look better than they are.

    Parameters
    ----------
    problem : Problem
        With k inputs and a known optimum.
    d : int
        Number of inputs of the result, at least k.

    Returns
    -------
    problem : Problem
        On ``[-1, 1]^d``; optimisers with 0 at every added input; k active directions.

    Raises
    ------
    ValueError
        If d < k, or `problem` is noisy or its optimum is not known.

    Examples
    --------
    >>> from skbo_silbo.problems import branin, embedded
    >>> problem = embedded(branin(), 100)
    >>> problem.name, problem.bounds.shape
    ('embedded(branin, d=100)', (100, 2))
    """
    _check(problem, d)
    k = problem.n_dims
    return _with_coordinates("embedded", problem, d, np.arange(k), np.ones(k), np.zeros(k))


def planted(problem: Problem, d: int, random_state: RandomState = None) -> Problem:
    """Return the problem on k of d inputs, at random places, reflected and translated.

    Input ``columns[j]`` of the result is ``x = r_j u_j + t_j`` for the j-th input u_j of the
    problem in cube coordinates. Here r_j is 1 or -1 with equal probability, and t_j is uniform
    on [-0.4, 0.4], given that the x of one of the optimisers (drawn among them) is at most 0.9 in
    size. Going back, ``u_j = clip(r_j (x - t_j))``: a strip of width abs(t_j) at one side of
    the box lies outside the problem's own box, where the function is constant along x.

    Parameters
    ----------
    problem : Problem
        With k inputs and a known optimum.
    d : int
        Number of inputs of the result, at least k.
    random_state : int, RandomState, Generator or None, default=None
        Seed of places, reflections and translations.

    Returns
    -------
    problem : Problem
        On ``[-1, 1]^d``, with the same optimum. Its optimisers, with 0 at every inactive input, are
        those of the problem that are still in the box (one at least, which comes first). Its
        `active_directions` are k rows of the identity.

    Raises
    ------
    ValueError
        If d < k, or `problem` is noisy or its optimum is not known.

    Examples
    --------
    >>> from skbo_silbo.problems import hartmann6, planted
    >>> problem = planted(hartmann6(), 100, random_state=0)
    >>> round(problem(problem.optimisers[0]), 5)
    -3.32237
    >>> problem.active_directions.shape
    (6, 100)
    """
    optimisers = _check(problem, d)
    rng, k = as_generator(random_state), problem.n_dims
    columns = rng.choice(d, size=k, replace=False)
    signs = rng.choice([-1.0, 1.0], size=k)
    first = rng.integers(len(optimisers))
    kept = signs * _to_cube(problem, optimisers[first])
    lowest = np.maximum(-SHIFT, -(1 - MARGIN) - kept)
    highest = np.minimum(SHIFT, (1 - MARGIN) - kept)
    shifts = rng.uniform(lowest, highest)
    return _with_coordinates("planted", problem, d, columns, signs, shifts, first)


def rotated(problem: Problem, d: int, random_state: RandomState = None) -> Problem:
    """Return the problem on k dense directions of d inputs: ``g(clip(s Q x))``.

    Q has orthonormal rows (uniformly distributed), and row i is scaled by s_i = 3 / ||Q_i||_1. So
    ``s_i Q_i x`` covers [-3, 3] on the box, and a third of it is the problem's own range.

    Parameters
    ----------
    problem : Problem
        With k inputs and a known optimum.
    d : int
        Number of inputs of the result, at least k.
    random_state : int, RandomState, Generator or None, default=None
        Seed of Q.

    Returns
    -------
    problem : Problem
        On ``[-1, 1]^d``, with the same optimum; `active_directions` is Q. Its optimisers are, for
        every optimiser u of the problem with ``s Q x = u`` somewhere in the box, the shortest such
        x (in the box shrunk by .1 %).

    Raises
    ------
    ValueError
        If d < k, `problem` is noisy or its optimum is not known, or none of 20 rotations leaves an
        optimiser in the box.

    Notes
    -----
    A rotation from which no optimiser can be reached is drawn again. For d much larger than k the
    reachable u fill a ball of radius 3, so that up to 9 inputs everything is reached, and above
    only optimisers in that ball (Styblinski-Tang: up to 26 inputs).

    Examples
    --------
    >>> from skbo_silbo.problems import branin, rotated
    >>> problem = rotated(branin(), 50, random_state=0)
    >>> round(problem(problem.optimisers[0]), 6)
    0.397887
    """
    _check(problem, d)
    rng, k = as_generator(random_state), problem.n_dims
    targets = _to_cube(problem, problem.optimisers)
    for _ in range(MAX_ROTATIONS):
        Q = _random_rows(rng, k, d)
        scales = REACH / np.abs(Q).sum(axis=1)
        X = _preimages(targets / scales, Q)
        if len(X):
            name = f"rotated({problem.name}, d={d})"
            function = partial(_on_directions, problem, Q, scales)
            return Problem(name, function, _cube(d), problem.optimum, X, Q)
    nearest = np.linalg.norm(targets, axis=1).min()
    raise ValueError(
        f"problem must have an optimiser that rotations can reach, for large d those within "
        f"{REACH:g} of the centre (in half ranges): got {problem.name} with distance "
        f"{nearest:.3g} at d={d}, and none of {MAX_ROTATIONS} rotations did. Use a problem with "
        "fewer inputs, or a larger d if the distance is less."
    )


def _on_coordinates(problem, columns, signs, shifts, X):
    """Return g(clip(signs (x[columns] - shifts)))."""
    return _on_cube(problem, signs * (X[:, columns] - shifts))


def _on_directions(problem, Q, scales, X):
    """Return g(clip(s Q x))."""
    return _on_cube(problem, scales * (X @ Q.T))


def _with_coordinates(kind, problem, d, columns, signs, shifts, first=0):
    """Return the problem on d coordinates; the image of optimiser number `first` comes first."""
    places = signs * _to_cube(problem, problem.optimisers) + shifts
    places = np.vstack([places[first], np.delete(places, first, axis=0)])
    places = places[(np.abs(places) <= 1.0).all(axis=1)]
    optimisers = np.zeros((len(places), d))
    optimisers[:, columns] = places
    function = partial(_on_coordinates, problem, columns, signs, shifts)
    name = f"{kind}({problem.name}, d={d})"
    return Problem(name, function, _cube(d), problem.optimum, optimisers, np.eye(d)[columns])


def _random_rows(rng, k, d):
    """Return k orthonormal rows, uniformly distributed: QR of a Gaussian matrix, diag(R) > 0."""
    Q, R = np.linalg.qr(rng.standard_normal((d, k)))
    return (Q * np.sign(np.diag(R))).T


def _preimages(Z, Q):
    """Return the x of the box, shortest where there are several, with ``Q x = z`` for rows of Z."""
    X = SHRINK * nearest_preimages(Z / SHRINK, Q.T, np.zeros(Q.shape[1]))
    X = X + (Z - X @ Q.T) @ Q  # to rounding, as Q Q' = I; a large step: z was out of reach
    return X[(np.abs(X) <= 1.0).all(axis=1)]


def _cube(d):
    return np.tile([-1.0, 1.0], (d, 1))


def _to_cube(problem, X):
    lower, upper = problem.bounds.T
    return np.clip(2 * (X - lower) / (upper - lower) - 1, -1, 1)


def _on_cube(problem, U):
    """Return the true values at cube coordinates, clipped to the cube."""
    lower, upper = problem.bounds.T
    share = (np.clip(U, -1, 1) + 1) / 2
    return problem.evaluate_truth(np.clip(lower + share * (upper - lower), lower, upper))


def _check(problem, d):
    """Refuse what cannot be embedded in d inputs; return the optimisers."""
    check_count("d", d, 1)
    refuse_noise(problem)
    if d < problem.n_dims:
        raise ValueError(
            f"d must be at least {problem.n_dims} (inputs of {problem.name}): got {d}. Use a "
            "larger d."
        )
    problem.known_optimum()
    return problem.optimisers
