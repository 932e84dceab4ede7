"""Bootstrap intervals of the directions, and how stable the subspace is.

Two sets of r directions are compared through their centred scores on the same rows, Z and W
(n, r), which do not depend on the units of the features.
"""

import warnings
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.stats import norm
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from .._checks import check_integer, check_share, warn_user
from .._typing import ArrayLike, FloatArray, LegacyRandomState, TransformerLike
from ..decomposition import LabelledData, SparseSlicedInverseRegression
from ..decomposition.rows._columns import about_group_means
from ..decomposition.rows._labels import split_as_fitted

ROWS_PER_FEATURE = 2  # labelled rows a feature below which intervals are refused
# labelled rows a feature below which a warning says that intervals cover less than they say
ROWS_THAT_COVER = 3
# parameters that, beside the number of directions, are not chosen anew in a resample
RESOLVED = ("alpha", "ridge")
# draws of one resample, after which the estimator is taken to fit no resample of these rows
MAX_DRAWS = 20


@dataclass(frozen=True, eq=False)
class DirectionBootstrap:
    """What resampling the labelled rows does to fitted directions.

    Attributes
    ----------
    components : ndarray of shape (r, d)
        Fitted to all rows.
    resampled_components : ndarray of shape (n_resamples, r, d)
        Fitted to each resample, turned to lie nearest `components`.
    low, high : ndarray of shape (r, d)
        Interval of each entry at `confidence_level`.
    standard_errors : ndarray of shape (r, d)
        Standard deviation over the resamples.
    stability : ndarray of shape (n_resamples,)
        Hooper's squared trace correlation between the subspace of each resample and the fitted
        one, in the metric of the scores: 1 for the same subspace, about r / d for an unrelated one.
    confidence_level : float
    n_redrawn : int
        Resamples that could not be fitted and were drawn anew.
    feature_names : list of d str
        Those of X, or x0, x1, ...
    """

    components: FloatArray
    resampled_components: FloatArray = field(repr=False)
    low: FloatArray
    high: FloatArray
    standard_errors: FloatArray
    stability: FloatArray = field(repr=False)
    confidence_level: float
    n_redrawn: int
    feature_names: list[str]

    def to_frame(self) -> Any:
        """Return a pandas frame, a row an entry: estimate, standard error and interval.

        The index has the levels "direction", from 0, and "feature".
        """
        import pandas as pd

        index = pd.MultiIndex.from_product(
            [range(len(self.components)), self.feature_names], names=["direction", "feature"]
        )
        parts = self.components, self.standard_errors, self.low, self.high
        names = ["estimate", "standard_error", "low", "high"]
        return pd.DataFrame(np.stack(parts, axis=-1).reshape(-1, 4), index, names)


def bootstrap_directions(
    estimator: TransformerLike,
    X: ArrayLike,
    y: ArrayLike,
    *,
    X_unlabeled: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    group: ArrayLike | None = None,
    n_resamples: int = 200,
    confidence_level: float = 0.95,
    random_state: LegacyRandomState = None,
    n_jobs: int | None = None,
) -> DirectionBootstrap:
    """Resample the labelled rows with replacement and fit the directions anew, many times.

    Parameters
    ----------
    estimator : SemiSlicedInverseRegression, ActiveSubspace
        Or any estimator with the parameter ``n_components`` that has ``components_`` (r, d) once
        fitted; ``fit`` gets `X_unlabeled` only where there are unlabelled rows. It is cloned,
        fitted or not; not `SparseSlicedInverseRegression`. Whatever is "auto" among
        `n_components`, `alpha` and `ridge` is resolved once, on all rows, and kept:
        cross-validation would be misled by copies of a row.
    X : array-like of shape (n, d)
        At least two labelled rows a feature; of relative weights the effective number counts,
        ``(sum w)^2 / sum w^2``.
    y : array-like of shape (n,) or (n, q)
        As in ``estimator.fit``; NaN marks an unlabelled row.
    X_unlabeled : array-like of shape (n_u, d), default=None
        Further unlabelled rows.
    sample_weight : array-like of shape (n,), default=None
        As in ``estimator.fit``, which has to take it. Integers are counts: resamples are drawn from
        the rows written out, each as often as it counts (without a graph the numbers are those of
        repeated rows; memory grows with the sum of the counts). Floats are relative: a row is drawn
        as often as any other, takes its weight along, and the errors hold whatever the weights
        depend on. Rows of weight 0 are left out.
    group : array-like of shape (n,), default=None
        As in ``estimator.fit``, which has to take it; rows are drawn with their category.
    n_resamples : int, default=200
        At least 2.
    confidence_level : float, default=0.95
        In (0, 1). An interval is the estimate plus or minus a normal quantile times the standard
        error.
    random_state : int, RandomState instance or None, default=None
        Of the resamples, and of the estimator wherever its own ``random_state`` is not an int.
    n_jobs : int or None, default=None
        Processes, as in joblib. The result does not depend on it.

    Returns
    -------
    DirectionBootstrap

    Raises
    ------
    ValueError
        For a parameter outside its range, fewer than two labelled rows a feature, a lasso, whatever
        ``estimator.fit`` refuses on all rows, or rows of which 20 resamples in a row cannot be
        fitted.
    TypeError
        When the estimator has no ``n_components``, or no ``components_`` once fitted, or when its
        ``fit`` takes no `sample_weight`, or no `group`, and there is one.

    Warns
    -----
    UserWarning
        When resamples could not be fitted (all labels equal, fewer slices than directions). They
        are drawn anew, so the intervals are conditional on resamples that can be fitted. With fewer
        than three labelled rows a feature, where intervals cover too little.

    Notes
    -----
    Directions have no sign, and those with near eigenvalues no order. Each resample's components
    are multiplied by the orthogonal matrix that brings their scores nearest those of the fitted
    ones over all rows given (orthogonal Procrustes; for one direction this is a sign). For r > 1
    the intervals therefore speak of how the subspace moves, not of turns within it: they cover the
    entries of the true subspace's basis nearest the fitted one. Errors in ``summary(X, y)`` include
    turns. Both are of `components_`, which ``summary`` shows divided by its length.

    Fitting shrinks the entries that matter, and fitting to a resample shrinks them again: with two
    or more directions percentile intervals lie too low by that much and cover .65 to .93 at a
    nominal .95, normal ones .94 to .97 (`doc/benchmarks/sdr_defaults.rst`). A resample holds
    63 % of the rows: with fewer than two a feature its T is all but singular and no interval of
    this kind covers anything, so it is refused. With heavy tails (Student's t with 3 degrees of
    freedom for X) they cover .81 and .85: a few rows decide, and resampling does not know the
    others that might have been. A ridge adds a bias that no resample shows, and shrinks the scale:
    the truth that intervals cover is then the direction scaled to ``b'Tb`` as the fitted ones are,
    ridge included, and not the one of unit score variance.

    Unlabelled rows are kept as they are: the intervals are conditional on them. Copies of a row are
    each other's nearest neighbours, so that localised slices and the graph over the rows are
    somewhat tighter than in the data.

    References
    ----------
    Chatterjee and Lahiri, "Bootstrapping lasso estimators", JASA 106, 2011.
    Efron, "Bootstrap methods: another look at the jackknife", Ann. Statist. 7, 1979.
    Hooper, "Simultaneous equations and canonical correlation theory", Econometrica 27, 1959.
    Ye and Weiss, "Using the bootstrap to select one of a new class of dimension reduction
    methods", JASA 98, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.decomposition import SemiSlicedInverseRegression
    >>> from skbo_silbo.inspection import bootstrap_directions
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] ** 3
    >>> result = bootstrap_directions(SemiSlicedInverseRegression(1), X, y, random_state=0)
    >>> (result.low > 0) | (result.high < 0)
    array([[ True,  True,  True, False]])
    """
    check_integer("n_resamples", n_resamples, 2)
    check_share("confidence_level", confidence_level, default=0.95)
    refuse_pipeline(estimator)
    rng = check_random_state(random_state)
    seeded = _seeded(clone(estimator), rng)
    if isinstance(estimator, SparseSlicedInverseRegression):
        raise ValueError(
            "estimator must not be SparseSlicedInverseRegression: the bootstrap of a lasso has no "
            "valid intervals. Fit SlicedInverseRegression to other rows of the features that its "
            "support_ keeps, and bootstrap that."
        )
    given = {"X_unlabeled": X_unlabeled, "sample_weight": sample_weight, "group": group}
    fitted = _fit_all(seeded, X, y, **given)
    rows = split_as_fitted(clone(seeded), X, y, X_unlabeled, sample_weight, reset=True)
    rows = about_group_means(rows, group).counts_written_out()
    _check_enough_rows(rows.n_rows, rows.X_labeled.shape[1])
    params = seeded.get_params(deep=False)
    chosen = {name: vars(fitted)[f"{name}_"] for name in RESOLVED if params.get(name) == "auto"}
    fixed = clone(seeded).set_params(n_components=len(fitted.components_), **chosen)
    resampler = _Resampler(fixed, rows, fitted.components_)
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_resamples)
    resamples = Parallel(n_jobs=n_jobs)(delayed(resampler.draw)(seed) for seed in seeds)
    _warn_of_failures([message for *_, failures in resamples for message in failures], n_resamples)
    components = np.stack([aligned for aligned, *_ in resamples])
    standard_errors = components.std(axis=0, ddof=1)
    reach = norm.isf((1 - confidence_level) / 2) * standard_errors
    return DirectionBootstrap(
        components=fitted.components_,
        resampled_components=components,
        low=fitted.components_ - reach,
        high=fitted.components_ + reach,
        standard_errors=standard_errors,
        stability=np.array([stability for _, stability, _ in resamples]),
        confidence_level=float(confidence_level),
        n_redrawn=sum(len(failures) for *_, failures in resamples),
        feature_names=input_names(fitted, X),
    )


@dataclass(frozen=True, eq=False)
class _Resampler:
    estimator: BaseEstimator
    rows: LabelledData
    reference: FloatArray  # (r, d)

    def draw(self, seed):
        """Draw until a resample can be fitted.

        Return its components, aligned, how near their span is, and what went wrong before.
        """
        rng = np.random.default_rng(seed)
        failures: list[str] = []
        while len(failures) < MAX_DRAWS:
            try:
                return *self._compare(self._fit(rng)), failures
            except ValueError as error:
                failures.append(str(error))
        raise ValueError(
            f"y must let its resamples be fitted: {MAX_DRAWS} draws in a row could not be, the "
            f"last with: {failures[-1]} Label more rows, or ask for fewer components."
        )

    def _fit(self, rng):
        rows = self.rows
        drawn = rng.integers(len(rows.y), size=len(rows.y))
        given = {"sample_weight": rows.weights, "group": rows.groups}
        given = {name: None if v is None else v[drawn] for name, v in given.items()}
        if len(rows.X_unlabeled) and has_fit_parameter(self.estimator, "X_unlabeled"):
            given["X_unlabeled"] = rows.X_unlabeled
        with warnings.catch_warnings():
            # of conditions: copies of rows depend on y, whatever y is
            warnings.filterwarnings("ignore", "Little was found")
            return _fit_all(clone(self.estimator), rows.X_labeled[drawn], rows.y[drawn], **given)

    def _compare(self, fitted):
        Z, W = self._scores(fitted.components_), self._scores(self.reference)
        aligned = orthogonal_procrustes(Z, W)[0].T @ fitted.components_
        return aligned, squared_trace_correlation(Z, W)

    def _scores(self, components):
        """Centred scores of all rows, times the roots of their weights; unlabelled ones weigh 1."""
        rows = self.rows
        Z = np.concatenate([X @ components.T for X in (rows.X_labeled, rows.X_unlabeled)])
        if rows.weights is None:
            return Z - Z.mean(axis=0)
        w = np.concatenate([rows.weights, np.ones(len(rows.X_unlabeled))])
        return np.sqrt(w)[:, None] * (Z - np.average(Z, axis=0, weights=w))


def _fit_all(estimator, X, y, **given):
    fitted = estimator.fit(X, y, **{name: v for name, v in given.items() if v is not None})
    if not hasattr(fitted, "components_"):
        raise TypeError(
            f"estimator must have components_ once fitted: {type(estimator).__name__} has none. "
            "Use SemiSlicedInverseRegression or ActiveSubspace, or the reducer of an SDRRegressor."
        )
    return fitted


def _seeded(estimator, rng):
    """Return the estimator with an int for its random state, so that every process has the same."""
    params = estimator.get_params(deep=False)
    if "random_state" in params and not isinstance(params["random_state"], Integral):
        estimator.set_params(random_state=rng.randint(np.iinfo(np.int32).max))
    return estimator


def _warn_of_failures(failures, n_resamples):
    if failures:
        warn_user(
            f"{len(failures)} of {len(failures) + n_resamples} resamples could not be fitted "
            f"and were drawn anew: the intervals are conditional on those that can. The last "
            f"failure: {failures[-1]}"
        )


def _check_enough_rows(n, d):
    if n < ROWS_PER_FEATURE * d:
        raise ValueError(
            f"X must have at least {ROWS_PER_FEATURE} labelled rows a feature for intervals: got "
            f"{n:.6g} labelled rows of {d} features. A resample holds 63 % of the rows, and its "
            "intervals would cover nothing. Reduce the features first, or label more rows."
        )
    if n < ROWS_THAT_COVER * d:
        warn_user(
            f"With fewer than {ROWS_THAT_COVER} labelled rows a feature intervals cover less than "
            f"they say: .79 to .85 at a nominal .95 with two. Got {n:.6g} labelled rows of {d} "
            "features. Reduce the features first, or label more rows."
        )


def squared_trace_correlation(Z, W):
    """Mean squared canonical correlation of Z and W (Hooper 1959): 1 where they span the same."""
    overlap = np.linalg.qr(Z)[0].T @ np.linalg.qr(W)[0]
    return float(np.sum(overlap**2) / Z.shape[1])


def input_names(estimator, X=None):
    """Names of the features fitted, of the columns of X where the fit saw none, or x0, x1, ..."""
    d = estimator.components_.shape[1]
    columns = [name for name in getattr(X, "columns", []) if isinstance(name, str)]
    fallback = columns if len(columns) == d else [f"x{j}" for j in range(d)]
    return list(getattr(estimator, "feature_names_in_", fallback))


def refuse_pipeline(estimator):
    """Refuse a Pipeline, whose step it is that has directions.

    Raises
    ------
    TypeError
    """
    if hasattr(estimator, "steps"):
        raise TypeError(
            f"estimator must be a transformer: got a {type(estimator).__name__}. Pass its step, "
            "such as model[-2], and the rows that reach it, model[:-2].transform(X)."
        )
