"""Stepwise feature selection based on coordinate tests."""

from dataclasses import dataclass

import numpy as np

from skbo_silbo._checks import check_choice, check_share
from skbo_silbo._typing import ArrayLike, BoolArray, FloatArray, IntArray
from skbo_silbo.inspection._coordinate_test import CoordinateTest, RowsUnderTest, format_tests


@dataclass(frozen=True, eq=False, repr=False)
class StepwiseSelection:
    """Features selected by `stepwise_selection`, displayed as a table of the steps.

    Attributes
    ----------
    support : ndarray of shape (d,) of bool
        Mask of the selected features.
    order : ndarray of shape (m,)
        Indices of the features in the order in which they were added ("forward") or removed
        ("backward").
    p_values : ndarray of shape (m,)
        p-value at which each of these features was added or removed. In forward selection it is
        multiplied by the number of candidates.
    names : list of str
        Names of all features. They are x0, x1, ... if the features have no names.
    tests : list of CoordinateTest, of length m
        Coordinate test of each step. Its `p_value` is not multiplied by the number of candidates.
    """

    support: BoolArray
    order: IntArray
    p_values: FloatArray
    names: list[str]
    tests: list[CoordinateTest]

    def __repr__(self) -> str:
        kept = ", ".join(self.names[j] for j in np.flatnonzero(self.support))
        done = "Added" if self.support[self.order].any() else "Removed"
        steps = format_tests(self.tests, self.p_values) if self.tests else "none"
        return f"Selected:\n{kept or 'none'}\n\n{done}, in this order:\n{steps}"


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
    """Select the features that sliced inverse regression needs, using coordinate tests.

    Backward elimination starts from all features and repeatedly removes the one with the largest
    p-value, until all tests reject. Forward selection starts from none and repeatedly adds the
    feature with the smallest p-value given those already selected, until no test rejects [1]_.

    A feature whose effect on y is symmetric is not selected, because the slice means do not change
    with it.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training data. Backward elimination needs more labelled rows than features, forward
        selection more rows than selected features.
    y : array-like of shape (n,)
        Response, see `coordinate_test`.
    direction : {"backward", "forward"}, default="backward"
        Direction of the selection. Backward elimination detects features that only matter jointly.
        Forward selection may miss them, but can be used if there are more features than rows.
    level : float, default=0.05
        Significance level, between 0 and 1. Forward selection multiplies the smallest p-value by
        the number of candidates (Holm's correction). If no feature matters, the probability that it
        selects any is about `level`.
    n_slices, categorical, variance, sample_weight, group
        See `coordinate_test`.

    Returns
    -------
    selection : StepwiseSelection
        Selected features. Backward elimination always keeps at least one. The p-values do not
        account for the selection.

    Raises
    ------
    ValueError
        If `level` or `direction` is invalid, or for the same reasons as in `coordinate_test`.

    Notes
    -----
    The test statistic is n times the increase of the trace of the covariance of the whitened slice
    means when the feature is added. Forward selection is therefore trace pursuit [1]_.

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
    >>> stepwise_selection(X, y, direction="forward", level=0.01)
    Selected:
    x0, x1
    <BLANKLINE>
    Added, in this order:
         Stat      F     df df.weights    p.value
    x1 187.52 25.923 6.4163     939.46 1.7155e-29
    x0 137.01  18.18 6.9591     801.05 1.0206e-21
    """
    check_choice("direction", direction, ("backward", "forward"))
    check_share("level", level, default=0.05)
    rows = RowsUnderTest.from_data(X, y, n_slices, categorical, variance, sample_weight, group)
    steps = _forward(rows, level) if direction == "forward" else _backward(rows, level)
    order = np.array([feature for feature, *_ in steps], dtype=int)
    p_values = np.array([p_value for _, p_value, _ in steps])
    support = np.isin(np.arange(rows.X.shape[1]), order, invert=direction == "backward")
    tests = [test for *_, test in steps]
    return StepwiseSelection(support, order, p_values, rows.names, tests)


def _backward(rows, level):
    """Return (feature, p-value, test) for each feature that backward elimination removes."""
    kept, steps = list(range(rows.X.shape[1])), []
    while len(kept) > 1:
        current = rows.with_features(kept)
        tests = [current.test([j]) for j in range(len(kept))]
        weakest = int(np.argmax([test.p_value for test in tests]))
        if tests[weakest].p_value <= level:
            break
        steps.append((kept.pop(weakest), tests[weakest].p_value, tests[weakest]))
    return steps


def _forward(rows, level):
    """Return (feature, p-value, test) for each feature that forward selection adds."""
    selected, steps = [], []
    while len(selected) + 1 < rows.slices.n_rows - 1:
        candidates = rows.independent_of(selected)
        if not len(candidates):
            break
        last = [len(selected)]  # position of the candidate
        tests = [rows.with_features([*selected, feature]).test(last) for feature in candidates]
        ranks = [(test.p_value, -test.statistic) for test in tests]  # several p-values can be 0
        best = min(range(len(candidates)), key=ranks.__getitem__)
        p_value = min(1.0, len(candidates) * ranks[best][0])
        if p_value > level:
            break
        selected.append(int(candidates[best]))
        steps.append((selected[-1], p_value, tests[best]))
    return steps
