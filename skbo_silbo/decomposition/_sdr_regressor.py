"""Regression on the scores of a dimension reduction, calibrated by held-out errors.

=========  ========  ======================================================================
symbol     shape     meaning
=========  ========  ======================================================================
Z          (n, r)    scores
t          (n,)      responses of mean 0 and variance 1
q          (n,)      held-out errors, divided by the standard deviations of the model
=========  ========  ======================================================================
"""

import warnings
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from skbo_silbo._checks import check_share, warn_user
from skbo_silbo._numerics.hyperparameters import searched_process
from skbo_silbo._numerics.laplace_ridge import LaplaceRidge
from skbo_silbo._numerics.local_linear import gaussian_weights
from skbo_silbo._numerics.priors import UNIFORM_WIDTH, sparse_prior
from skbo_silbo._sklearn import check_sample_weight, validate_parameters
from skbo_silbo._typing import ArrayLike, FloatArray, LegacyRandomState, TransformerLike
from skbo_silbo.decomposition._projection import AT_LEAST_TWO
from skbo_silbo.decomposition._recursive_feature_machine import RecursiveFeatureMachine
from skbo_silbo.decomposition._reducers import REDUCER, fit_reducer, reduce_rows
from skbo_silbo.decomposition._semi_sir import SemiSlicedInverseRegression
from skbo_silbo.decomposition.rows._columns import mean_and_error, mean_and_spread
from skbo_silbo.decomposition.rows._reading import split_labelled
from skbo_silbo.decomposition.rows._response import read_response
from skbo_silbo.decomposition.rows._weights import copies
from skbo_silbo.decomposition.slicing._slices import spread_over_response

FEWEST_LABELS = 4
NOISE_BANDWIDTH = 0.5  # bandwidth, in scores, of the local average of squared errors
PRIOR_ROWS = 10  # weight of the global average of squared errors in the local average
SEARCH_ROWS = 300  # largest number of samples that choose the hyperparameters of the process
FOLD_ROWS = 800  # largest number of samples that the model of a fold is fitted to
MOST_ROWS = 2000  # largest number of samples that the regression on the scores is fitted to
BATCH = 1000  # number of samples predicted at a time
LITTLE_NOISE = 1e-4  # duplicates may hide the noise if it is below this share of y's variance


class SDRRegressor(RegressorMixin, BaseEstimator):
    """Sufficient dimension reduction followed by a regression on the scores.

    By default, `RecursiveFeatureMachine` finds the directions, and a kernel ridge regression
    predicts y from the scores [3]_. With other transformers, such as `MAVE` [1]_, a Gaussian
    process with a Matern-5/2 kernel predicts y. Prediction errors are estimated by
    cross-validation. The directions are learnt again in each fold, so that their uncertainty is
    included [2]_.

    Parameters
    ----------
    reducer : transformer, default=None
        Unfitted transformer that learns from y, such as `MAVE` or `ActiveSubspace`. It is cloned.
        None means `RecursiveFeatureMachine`, unless the squared held-out errors with
        `SemiSlicedInverseRegression` are smaller by more than one standard error, as is common for
        spectra.
    n_folds : int, default=5
        Number of cross-validation folds.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds. None uses a fixed seed.

    Attributes
    ----------
    reducer_ : transformer
        The transformer, fitted to all samples.
    residuals_ : ndarray of shape (n_l,)
        Held-out errors ``y - prediction`` of the labelled samples. Duplicated samples are held out
        together.
    std_ratios_ : ndarray of shape (n_l,)
        Held-out errors divided by the predicted standard deviations. Their mean square is 1 if the
        standard deviations are correct.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    Notes
    -----
    Large data are subsampled evenly in the order of y: the model of a fold is fitted to at most
    800 labelled samples, and the regression on the scores to at most 2,000. The transformer is
    fitted to all samples.

    References
    ----------
    .. [1] Y. Xia, H. Tong, W. Li, L.-X. Zhu, "An adaptive estimation of dimension reduction space",
       J. R. Stat. Soc. B 64 (2002).
    .. [2] R. Barber, E. Candes, A. Ramdas, R. Tibshirani, "Predictive inference with the
       jackknife+", Ann. Statist. 49 (2021): intervals from rows held out.
    .. [3] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models", Science 383 (2024).

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SDRRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 8))
    >>> y = np.sin(X[:, 0] + X[:, 1]) + 0.1 * rng.normal(size=300)
    >>> regressor = SDRRegressor().fit(X[:200], y[:200])
    >>> bool(regressor.score(X[200:], y[200:]) > 0.9)
    True
    >>> low, high = regressor.predict_interval(X[200:], coverage=0.9).T
    >>> bool(np.mean((low < y[200:]) & (y[200:] < high)) > 0.8)
    True
    """

    _parameter_constraints: ClassVar = {
        "reducer": REDUCER,
        "n_folds": [AT_LEAST_TWO],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        reducer: TransformerLike | None = None,
        *,
        n_folds: int = 5,
        random_state: LegacyRandomState = None,
    ) -> None:
        self.reducer = reducer
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_unlabeled: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the transformer and the regression to X and y.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training samples, one per row.
        y : array-like of shape (n,)
            Response. NaN marks unlabelled samples.
        X_unlabeled : array-like of shape (n_u, n_features), default=None
            Additional unlabelled samples. A warning is raised if the transformer does not use
            unlabelled samples.
        sample_weight : array-like of shape (n,), default=None
            Weights of the labelled samples, as in `SemiSlicedInverseRegression`. The transformer
            must support weights.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is outside its range, fewer than four samples are labelled, or the
            transformer rejects the data.
        TypeError
            If the transformer does not support weights.
        """
        validate_parameters(self)
        data = split_labelled(self, X, y, X_unlabeled, sample_weight, by_value=True)
        if len(data.y) < FEWEST_LABELS:
            raise ValueError(
                f"y must hold at least {FEWEST_LABELS} labels, some of which are held out, got "
                f"{len(data.y)}. Label more samples."
            )
        rows, w = data.X_labeled.astype(np.float64), data.weights
        self._level, self._unit = mean_and_spread(data.y, w)
        t = (data.y - self._level) / self._unit
        sets = copies(rows, t)[1]
        reducer, means, deviations = self._choose(rows, t, data, sets)
        if len(data.X_unlabeled) and not has_fit_parameter(reducer, "X_unlabeled"):
            warn_user(
                f"{len(data.X_unlabeled)} unlabelled samples were ignored: fit of "
                f"{type(reducer).__name__} takes no X_unlabeled. Pass "
                "reducer=SemiSlicedInverseRegression() to use them, or leave them out."
            )
        self.reducer_, Z, self._regression = _fit_model(
            reducer, rows, data.y, t, data.X_unlabeled, w
        )
        self._weights = np.ones(len(t)) if w is None else w
        n, n_different = self._weights.sum(), sets.max() + 1
        if self._regression.noise < LITTLE_NOISE and n > n_different + 0.5:
            warn_user(
                f"y was taken to be without noise: {n:.0f} samples hold {n_different} different "
                "ones, whose duplicates agree in y. If a sample represents others with different "
                "y, pass it once, with sample_weight."
            )
        q = (t - means) / deviations
        Z = self._regression.standardised(Z)
        drawn = spread_over_response(rows, t, MOST_ROWS)
        self._noise = _Noise(Z[drawn], q[drawn] ** 2, self._weights[drawn])
        own = [np.bincount(sets[drawn], part, n_different)[sets] for part in self._noise.own]
        parts = gen_batches(len(t), BATCH)
        levels = [self._noise.level(Z[part], np.stack(own)[:, part]) for part in parts]
        self.residuals_, self.std_ratios_ = self._unit * (t - means), q / np.concatenate(levels)
        return self

    def _choose(self, X, t, data, sets):
        """Select the transformer by held-out predictions, and return both.

        The predictions are means and standard deviations, each of shape (n,).
        """
        reducer = RecursiveFeatureMachine() if self.reducer is None else self.reducer
        found = self._held_out(reducer, X, t, data, sets)
        if self.reducer is not None:
            return reducer, *found
        linear = SemiSlicedInverseRegression(categorical=False)
        other = self._held_out(linear, X, t, data, sets)
        gain, error = mean_and_error((t - found[0]) ** 2 - (t - other[0]) ** 2, data.weights)
        return (linear, *other) if gain > error else (reducer, *found)

    def _held_out(self, reducer, X, t, data, sets):
        """Predict means and standard deviations of held-out samples.

        The model that predicts the samples of a fold is fitted to the other folds.
        """
        m = sets.max() + 1
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        folds = (rng.permutation(m) % min(self.n_folds, m))[sets]
        found, w = np.empty((2, len(t))), data.weights
        for fold in range(folds.max() + 1):
            out, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            kept = kept[spread_over_response(X[kept], t[kept], FOLD_ROWS)]
            part = X[kept], t[kept], t[kept], data.X_unlabeled, None if w is None else w[kept]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                fitted, _, regression = _fit_model(reducer, *part)
            for rows in gen_batches(len(out), BATCH):
                found[:, out[rows]] = regression.predict(reduce_rows(fitted, X[out[rows]]))
        return found

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> FloatArray: ...
    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[FloatArray, FloatArray]: ...
    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Predict the targets of the samples X.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        return_std : bool, default=False
            Whether to also return the standard deviation of a new observation, which includes the
            noise.

        Returns
        -------
        y : ndarray of shape (n,)
        std : ndarray of shape (n,)
            Standard deviation of a new observation. Only returned if `return_std` is True.
        """
        mean, std = self._predictions(X)
        if not return_std:
            return mean
        return mean, np.sqrt(np.average(self.std_ratios_**2, weights=self._weights)) * std

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the R^2 of the predictions for labelled samples.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            Observed responses. NaN marks samples to leave out.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        float
        """
        predicted, (y, labelled) = self.predict(X), read_response(y, ("numeric",))
        check_consistent_length(predicted, y)
        if not labelled.any():
            raise ValueError("y must have labels, got only NaN. Score other samples.")
        weights = check_sample_weight(sample_weight, predicted)[labelled]
        return float(r2_score(np.asarray(y)[labelled], predicted[labelled], sample_weight=weights))

    def predict_interval(self, X: ArrayLike, coverage: float = 0.95) -> FloatArray:
        """Predict an interval for a new observation at each of the samples X.

        The half width is the predicted standard deviation times a quantile of the absolute values
        of `std_ratios_`; samples are assumed to be exchangeable. This is close to the jackknife+ of
        Barber et al. (2021), but without its guarantee, since the intervals are centred on the fit
        to all samples.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        coverage : float, default=0.95
            Probability that an interval contains the new observation, between 0 and 1.

        Returns
        -------
        interval : ndarray of shape (n, 2)
            Lower and upper end of each interval. They are infinite if there are fewer labelled
            samples than ``coverage / (1 - coverage)``.
        """
        check_share("coverage", coverage, default=0.95)
        mean, std = self._predictions(X)
        ratios = np.abs(self.std_ratios_)
        order = np.argsort(ratios)
        ratios, numbers = np.append(ratios[order], np.inf), np.cumsum(self._weights[order])
        reach = ratios[np.searchsorted(numbers, coverage * (numbers[-1] + 1))]
        return np.column_stack([mean - reach * std, mean + reach * std])

    def _predictions(self, X):
        """Predict means and calibrated standard deviations, as an array of shape (2, n)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        parts = []
        for rows in gen_batches(len(X), BATCH):
            Z = reduce_rows(self.reducer_, X[rows])
            mean, deviation = self._regression.predict(Z)
            std = deviation * self._noise.level(self._regression.standardised(Z))
            parts.append([self._level + self._unit * mean, self._unit * std])
        return np.concatenate(parts, axis=1)


def _fit_model(reducer, X, y, t, X_unlabeled, weights):
    """Fit a transformer, and a regression of the targets t on its scores.

    Return the transformer, or None if y is constant, the scores, and the regression.
    """
    reducer = fit_reducer(reducer, X, y, X_unlabeled, weights) if np.ptp(y) else None
    Z = reduce_rows(reducer, X)
    drawn = spread_over_response(X, t, MOST_ROWS)
    regression = _Machine if isinstance(reducer, RecursiveFeatureMachine) else _Process
    return reducer, Z, regression(Z[drawn], t[drawn], None if weights is None else weights[drawn])


class _Process:
    """Gaussian process regression of targets on standardised scores."""

    def __init__(self, scores, t, weights):
        self.mean, spread = mean_and_spread(scores, weights)
        self.spread = np.where(spread > 0, spread, 1.0)
        Z = self.standardised(scores)
        prior = sparse_prior(Z.shape[1], UNIFORM_WIDTH).for_regression()
        data, theta = searched_process(Z, t, prior, SEARCH_ROWS, weights)
        self.process, self.noise = data.condition(theta), np.exp(theta[-1])

    def standardised(self, scores):
        return (scores - self.mean) / self.spread

    def predict(self, scores):
        """Predict means and standard deviations of m observations, with shape (2, m)."""
        mean, variance = self.process.predict(self.standardised(scores))
        return np.stack([mean, np.sqrt(variance + self.noise)])


class _Machine:
    """Kernel ridge regression of targets on the scores of `RecursiveFeatureMachine`."""

    def __init__(self, scores, t, weights):
        firsts, sets = copies(scores, t)
        w = np.bincount(sets, weights).astype(np.float64)
        self.mean = np.average(t[firsts], weights=w)
        self.machine = LaplaceRidge(scores[firsts], (t[firsts] - self.mean)[:, None], w)
        self.noise = self.machine.noise

    def standardised(self, scores):
        return scores

    def predict(self, scores):
        """Predict means and standard deviations of m observations, with shape (2, m)."""
        means = self.mean + self.machine.predict(scores)[:, 0]
        return np.stack([means, np.sqrt(self.machine.variance(scores))])


class _Noise:
    """Estimate of the local noise level as a function of the scores."""

    def __init__(self, Z, squares, weights):
        self.Z, self.own = Z, weights * np.stack([squares, np.ones(len(Z))])
        self.everywhere = max(np.average(squares, weights=weights), np.finfo(float).tiny)

    def level(self, at, own=0.0):
        """Return the local root mean square of the standardised held-out errors.

        `own` holds the contributions of the points themselves, which are subtracted.
        """
        squares, weights = self.own @ gaussian_weights(at, self.Z, NOISE_BANDWIDTH).T - own
        return np.sqrt((squares + PRIOR_ROWS * self.everywhere) / (weights + PRIOR_ROWS))
