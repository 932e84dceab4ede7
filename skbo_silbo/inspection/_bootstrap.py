"""Bootstrap confidence intervals for the fitted directions and stability of the subspace.

Two subspaces are compared through their centred scores Z and W, of shape (n, r), on the same rows.
Scores do not depend on the units of the features.
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

from skbo_silbo._checks import check_integer, check_share, warn_user
from skbo_silbo._typing import ArrayLike, FloatArray, LegacyRandomState, TransformerLike
from skbo_silbo.decomposition import (
    LabelledData,
    SparseSlicedInverseRegression,
    split_labelled,
)
from skbo_silbo.decomposition.rows._columns import center_within_groups
from skbo_silbo.decomposition.rows._response import KINDS
from skbo_silbo.inspection._subspaces import compare_subspaces

MIN_ROWS_PER_FEATURE = 2  # fewer labelled rows per feature raise an error
RECOMMENDED_ROWS_PER_FEATURE = 3  # fewer give a warning: the intervals are too narrow
FIXED_PARAMETERS = ("alpha", "ridge")  # "auto" values chosen once on all rows
MAX_DRAWS = 20  # consecutive resamples that may fail to be fitted


@dataclass(frozen=True, eq=False)
class DirectionBootstrap:
    """Bootstrap distribution of fitted directions, returned by `bootstrap_directions`.

    Attributes
    ----------
    components : ndarray of shape (r, d)
        Directions fitted to all samples.
    resampled_components : ndarray of shape (n_resamples, r, d)
        Directions fitted to each resample, rotated to match `components` as closely as possible.
    low, high : ndarray of shape (r, d)
        Lower and upper bounds of the confidence interval for each entry of `components`.
    standard_errors : ndarray of shape (r, d)
        Standard deviation of each entry over the resamples.
    stability : ndarray of shape (n_resamples,)
        Similarity between the subspace fitted to each resample and the one fitted to all rows,
        measured on the scores by Hooper's squared trace correlation. It is 1 for identical
        subspaces and about r / d for unrelated subspaces.
    confidence_level : float
        Nominal coverage of the intervals.
    n_redrawn : int
        Number of bootstrap samples that were drawn again because the estimator could not be fitted.
    feature_names : list of str, of length d
        Names of the features: the column names of X, or x0, x1, ... if it has none.
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
        """Return the estimates, standard errors and intervals as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per entry of `components`. The index has the levels "direction", counted from 0,
            and "feature".
        """
        tables = {"estimate": self.components, "standard_error": self.standard_errors}
        return direction_frame(tables | {"low": self.low, "high": self.high}, self.feature_names)


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
    """Estimate confidence intervals of fitted directions by resampling the labelled samples.

    The estimator is refitted to `n_resamples` bootstrap samples of the labelled rows. The intervals
    are the estimates plus or minus a normal quantile times the bootstrap standard error.

    Parameters
    ----------
    estimator : SemiSlicedInverseRegression, ActiveSubspace or similar
        Any estimator that has a parameter ``n_components`` and, once fitted, ``components_`` of
        shape (r, d), except `SparseSlicedInverseRegression`. It is cloned and may be fitted or not.
        If `n_components`, `alpha` or `ridge` is "auto", its value is chosen once on all rows and
        then kept fixed, because the duplicated rows of a resample would bias cross-validation.
        ``fit`` receives `X_unlabeled` only if there are unlabelled rows.
    X : array-like of shape (n, d)
        Training data with at least two labelled rows per feature. With weights, the number of
        labelled rows is replaced by the effective sample size ``(sum w)^2 / sum w^2``.
    y : array-like of shape (n,) or (n, q)
        Response, as in ``estimator.fit``. NaN marks an unlabelled row.
    X_unlabeled : array-like of shape (n_u, d), default=None
        Additional unlabelled rows.
    sample_weight : array-like of shape (n,), default=None
        Sample weights, which ``estimator.fit`` must accept. All rows are drawn with the same
        probability and keep their weight. Rows of weight 0 are ignored.
    group : array-like of shape (n,), default=None
        Categories of a grouping variable, which ``estimator.fit`` must accept. Each row is drawn
        together with its category.
    n_resamples : int, default=200
        Number of bootstrap samples, at least 2.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals, between 0 and 1.
    random_state : int, RandomState instance or None, default=None
        Controls the resampling, and the randomness of the estimator unless its own ``random_state``
        is an int. Pass an int for reproducible results across multiple calls.
    n_jobs : int or None, default=None
        Number of jobs to run in parallel, as in joblib. The result does not depend on it.

    Returns
    -------
    result : DirectionBootstrap
        Estimates, standard errors and intervals.

    Raises
    ------
    ValueError
        If a parameter is out of range, there are fewer than two labelled rows per feature, the
        estimator is a `SparseSlicedInverseRegression` or cannot be fitted to all rows, or 20
        consecutive resamples cannot be fitted.
    TypeError
        If the estimator has no ``n_components`` or no ``components_`` once fitted, or if its
        ``fit`` does not accept the given `sample_weight` or `group`.

    Warns
    -----
    UserWarning
        If some resamples could not be fitted, for example because all labels were equal, and were
        drawn again. The intervals are then conditional on resamples that can be fitted. Also if
        there are fewer than three labelled rows per feature, where the intervals are too narrow.

    Notes
    -----
    Directions are defined up to sign, and directions with similar eigenvalues are easily swapped.
    The components of each resample are therefore rotated so that their scores on all rows match the
    scores of the fitted directions as closely as possible (orthogonal Procrustes; a sign change for
    one direction). For r > 1 the intervals consequently describe the variability of the subspace,
    not rotations within it.

    Estimation shrinks the entries of active features, and fitting to a resample shrinks them again.
    Percentile intervals are therefore biased towards zero: for two or more directions their
    coverage is .65 to .93 at a nominal .95, compared with .94 to .97 for normal intervals
    (`doc/benchmarks/sdr_defaults.rst`). The intervals have the following limitations:

    - A resample contains only 63 % of the distinct rows. With fewer than two labelled rows per
      feature its covariance matrix is nearly singular, and the function raises an error.
    - With heavy-tailed features (Student's t with 3 degrees of freedom) coverage drops to .81 and
      .85, because the directions depend on a few extreme rows.
    - A ridge introduces a bias that resampling cannot reveal. It also changes the scale: the
      intervals then refer to the direction scaled by ``b'Tb`` including the ridge, rather than to
      the one of unit score variance.
    - Unlabelled rows are not resampled, so the intervals are conditional on them.
    - Duplicates of a row are each other's nearest neighbours. Localised slices and the graph are
      therefore slightly tighter in a resample than in the data.

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
    reject_pipeline(estimator)
    rng = check_random_state(random_state)
    seeded = _with_int_seed(clone(estimator), rng)
    if isinstance(estimator, SparseSlicedInverseRegression):
        raise ValueError(
            "estimator must not be SparseSlicedInverseRegression, because bootstrap intervals are "
            "not valid for a lasso. Select features with its support_, then bootstrap "
            "SlicedInverseRegression on these features and other rows."
        )
    fit_params = {"X_unlabeled": X_unlabeled, "sample_weight": sample_weight, "group": group}
    fitted = _fit(seeded, X, y, **fit_params)
    categorical = getattr(seeded, "categorical", "auto")
    settings: Any = {"takes": KINDS, "categorical": categorical}
    rows = split_labelled(clone(seeded), X, y, X_unlabeled, sample_weight, **settings)
    rows = center_within_groups(rows, group)
    _check_enough_rows(rows.n_rows, rows.X_labeled.shape[1])
    params = seeded.get_params(deep=False)
    chosen = {p: vars(fitted)[f"{p}_"] for p in FIXED_PARAMETERS if params.get(p) == "auto"}
    fixed = clone(seeded).set_params(n_components=len(fitted.components_), **chosen)
    resampler = _Resampler(fixed, rows, fitted.components_)
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_resamples)
    resamples = Parallel(n_jobs=n_jobs)(delayed(resampler.draw)(seed) for seed in seeds)
    failures = [message for *_, messages in resamples for message in messages]
    if failures:
        warn_user(
            f"{len(failures)} of {len(failures) + n_resamples} resamples could not be fitted "
            f"and were drawn again. The intervals are conditional on resamples that can be "
            f"fitted. The last error was: {failures[-1]}"
        )
    components = np.stack([aligned for aligned, *_ in resamples])
    standard_errors = components.std(axis=0, ddof=1)
    half_width = norm.isf((1 - confidence_level) / 2) * standard_errors
    return DirectionBootstrap(
        components=fitted.components_,
        resampled_components=components,
        low=fitted.components_ - half_width,
        high=fitted.components_ + half_width,
        standard_errors=standard_errors,
        stability=np.array([stability for _, stability, _ in resamples]),
        confidence_level=float(confidence_level),
        n_redrawn=len(failures),
        feature_names=input_names(fitted, X),
    )


@dataclass(frozen=True, eq=False)
class _Resampler:
    estimator: BaseEstimator
    rows: LabelledData
    reference: FloatArray  # (r, d)

    def draw(self, seed):
        """Fit the estimator to a bootstrap sample, drawing another one if the fit fails.

        Returns
        -------
        components : ndarray of shape (r, d)
            Directions of the resample, rotated to match the reference.
        stability : float
            Similarity of the subspace of the resample to the reference, between 0 and 1.
        failures : list of str
            Error messages of the failed fits.
        """
        rng = np.random.default_rng(seed)
        failures: list[str] = []
        while len(failures) < MAX_DRAWS:
            try:
                return *self._compare(self._fit_resample(rng)), failures
            except ValueError as error:
                failures.append(str(error))
        raise ValueError(
            f"The estimator could not be fitted to {MAX_DRAWS} draws in a row of the labelled "
            f"rows of y. The last error was: {failures[-1]} Label more rows or reduce "
            "n_components."
        )

    def _fit_resample(self, rng):
        rows = self.rows
        drawn = rng.integers(len(rows.y), size=len(rows.y))
        fit_params = {"sample_weight": rows.weights, "group": rows.groups}
        fit_params = {name: None if v is None else v[drawn] for name, v in fit_params.items()}
        if len(rows.X_unlabeled) and has_fit_parameter(self.estimator, "X_unlabeled"):
            fit_params["X_unlabeled"] = rows.X_unlabeled
        with warnings.catch_warnings():
            # duplicated rows distort the tests behind this warning
            warnings.filterwarnings("ignore", "Little was found")
            return _fit(clone(self.estimator), rows.X_labeled[drawn], rows.y[drawn], **fit_params)

    def _compare(self, fitted):
        Z, W = self._scores(fitted.components_), self._scores(self.reference)
        aligned = orthogonal_procrustes(Z, W)[0].T @ fitted.components_
        return aligned, compare_subspaces(Z.T, W.T).trace_correlation

    def _scores(self, components):
        """Return the centred scores of all samples, multiplied by the square roots of the weights.

        Unlabelled rows have weight 1.
        """
        rows = self.rows
        Z = np.concatenate([X @ components.T for X in (rows.X_labeled, rows.X_unlabeled)])
        if rows.weights is None:
            return Z - Z.mean(axis=0)
        w = np.concatenate([rows.weights, np.ones(len(rows.X_unlabeled))])
        return np.sqrt(w)[:, None] * (Z - np.average(Z, axis=0, weights=w))


def _fit(estimator, X, y, **fit_params):
    fitted = estimator.fit(X, y, **{name: v for name, v in fit_params.items() if v is not None})
    if not hasattr(fitted, "components_"):
        raise TypeError(
            f"estimator must have components_ once fitted, but {type(estimator).__name__} has "
            "none. Use SemiSlicedInverseRegression, ActiveSubspace or the reducer of an "
            "SDRRegressor."
        )
    return fitted


def _with_int_seed(estimator, rng):
    """Replace a random state by an integer, so that all workers use the same seed."""
    params = estimator.get_params(deep=False)
    if "random_state" in params and not isinstance(params["random_state"], Integral):
        estimator.set_params(random_state=rng.randint(np.iinfo(np.int32).max))
    return estimator


def _check_enough_rows(n, d):
    if n < MIN_ROWS_PER_FEATURE * d:
        raise ValueError(
            f"X must have at least {MIN_ROWS_PER_FEATURE} labelled rows per feature for bootstrap "
            f"intervals, got {n:.6g} labelled rows of {d} features. Select features first or "
            "label more rows."
        )
    if n < RECOMMENDED_ROWS_PER_FEATURE * d:
        warn_user(
            f"The intervals are too narrow with fewer than {RECOMMENDED_ROWS_PER_FEATURE} labelled "
            "rows per feature: with two, their coverage is .79 to .85 at a nominal .95. Got "
            f"{n:.6g} labelled rows of {d} features. Select features first or label more rows."
        )


def direction_frame(tables, feature_names):
    """Return arrays of shape (r, d) as the columns of a frame, one row per entry."""
    import pandas as pd

    entries = [range(len(next(iter(tables.values())))), feature_names]
    index = pd.MultiIndex.from_product(entries, names=["direction", "feature"])
    return pd.DataFrame({name: np.ravel(values) for name, values in tables.items()}, index)


def input_names(estimator, X=None):
    """Return the names of the features to which an estimator was fitted.

    If the estimator has no names, the column names of X are used, or else x0, x1, ....
    """
    d = estimator.components_.shape[1]
    columns = [name for name in getattr(X, "columns", []) if isinstance(name, str)]
    fallback = columns if len(columns) == d else [f"x{j}" for j in range(d)]
    return list(getattr(estimator, "feature_names_in_", fallback))


def reject_pipeline(estimator):
    """Raise a TypeError for a Pipeline, which has no directions of its own."""
    if hasattr(estimator, "steps"):
        raise TypeError(
            f"estimator must be a transformer, got a {type(estimator).__name__}. Pass a step of "
            "it, such as model[-2], with the rows that the step receives, "
            "model[:-2].transform(X)."
        )
