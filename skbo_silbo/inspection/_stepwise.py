"""Choosing features one by one, by coordinate tests."""

from dataclasses import dataclass

import numpy as np

from .._checks import check_choice, check_share
from .._typing import ArrayLike, BoolArray, FloatArray, IntArray
from ._coordinate import RowsUnderTest


@dataclass(frozen=True, eq=False)
class StepwiseSelection:
    """Features chosen one by one.

    Attributes
    ----------
    support : ndarray of shape (d,) of bool
        Features chosen.
    order : ndarray of shape (m,)
        Indices of the features that came in ("forward") or went ("backward"), in that order.
    p_values : ndarray of shape (m,)
        Of the test at which each did; times the number of candidates in "forward".
    names : list of str
        Of all features, x0, x1, ... where they have none.
    """

    support: BoolArray
    order: IntArray
    p_values: FloatArray
    names: list[str]


def stepwise_selection(
    X: ArrayLike,
    y: ArrayLike,
    *,
    direction: str = "backward",
    level: float = 0.05,
    n_slices: int | ArrayLike = 10,
    categorical: bool | str = "auto",
    variance: str = "general",
    sample_weight: ArrayLike | None = None,
    group: ArrayLike | None = None,
) -> StepwiseSelection:
    """Choose the features that sliced inverse regression needs, by coordinate tests.

    A feature in which y is even is not among them: slice means do not see it.

    Backward elimination starts from all features and drops the one that is missed least, until
    every test rejects. Forward selection starts from none and takes in the one whose test beside
    those chosen rejects most, until none does [1]_.

    Parameters
    ----------
    X : array-like of shape (n, d)
        More labelled rows than features, unless `direction` is "forward", which needs more rows
        than features chosen.
    y, n_slices, categorical, variance, sample_weight, group
        As in `coordinate_test`.
    direction : {"backward", "forward"}, default="backward"
        "backward" judges every feature beside all others that are left, and so sees those that
        matter only together. "forward" does not see these, but starts where d exceeds n.
    level : float, default=0.05
        In (0, 1): a feature goes while its p-value is above, or comes in while it is not. "forward"
        multiplies the least p-value by the number of candidates (Holm's correction): on noise it
        takes in a feature in a share `level` of the sets at most, about.

    Returns
    -------
    StepwiseSelection
        With at least one feature chosen where the direction is "backward". The p-values are those
        of a search, not of single tests.

    Raises
    ------
    ValueError
        As in `coordinate_test`, or for a `level` outside (0, 1) or an unknown `direction`.

    Notes
    -----
    The statistic of one feature beside some is n times what it adds to the trace of the variance of
    the whitened slice means: forward selection is trace pursuit [1]_.

    References
    ----------
    .. [1] Yu, Dong and Zhu, "Trace Pursuit: A General Framework for Model-Free Variable Selection",
       JASA 111, 2016, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.inspection import stepwise_selection
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = X[:, 0] + np.exp(X[:, 1])
    >>> stepwise_selection(X, y, level=0.01).support.nonzero()[0]
    array([0, 1])
    >>> stepwise_selection(X, y, direction="forward", level=0.01).order
    array([1, 0])
    """
    check_choice("direction", direction, ("backward", "forward"))
    check_share("level", level, default=0.05)
    rows = RowsUnderTest.of(X, y, n_slices, categorical, variance, sample_weight, group)
    if direction == "forward":
        order, p_values = _forward(rows, level)
    else:
        order, p_values = _backward(rows, level)
    support = np.isin(np.arange(rows.X.shape[1]), order, invert=direction == "backward")
    return StepwiseSelection(support, np.array(order, dtype=int), np.array(p_values), rows.names)


def _backward(rows, level):
    """Features dropped, in turn, and their p-values."""
    kept, dropped, p_values = list(range(rows.X.shape[1])), [], []
    while len(kept) > 1:
        current = rows.with_features(kept)
        tests = [current.test([place])[2] for place in range(len(kept))]
        least_missed = int(np.argmax(tests))
        if tests[least_missed] <= level:
            break
        dropped.append(kept.pop(least_missed))
        p_values.append(tests[least_missed])
    return dropped, p_values


def _forward(rows, level):
    """Features taken in, in turn, and their p-values."""
    taken, p_values = [], []
    while len(taken) + 1 < rows.slices.n_rows - 1 and len(left := rows.free_beside(taken)):
        place = [len(taken)]
        tests = [rows.with_features([*taken, feature]).test(place) for feature in left]
        ranks = [(p, -statistic) for statistic, _, p in tests]  # p-values can both be 0
        best = min(range(len(left)), key=ranks.__getitem__)
        p_value = min(1.0, len(left) * ranks[best][0])
        if p_value > level:
            break
        taken.append(int(left[best]))
        p_values.append(p_value)
    return taken, p_values
