"""Regression on the scores of a dimension reduction, calibrated by held-out errors.

=========  ========  ======================================================================
symbol     shape     meaning
=========  ========  ======================================================================
Z          (n, r)    scores
t          (n, k)    responses of mean 0 and variance 1
q          (n, k)    held-out errors, divided by the standard deviations of the model
a          (k,)      share of the linear regression in a prediction
=========  ========  ======================================================================
"""

import warnings
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from skbo_silbo._checks import check_share
from skbo_silbo._numerics.laplace_ridge import LEAST_NOISE, WIDTH, LaplaceRidge
from skbo_silbo._numerics.leave_one_out import RIDGE_GRID
from skbo_silbo._numerics.local_linear import gaussian_weights
from skbo_silbo._sklearn import check_sample_weight, validate_parameters
from skbo_silbo._typing import ArrayLike, FloatArray, LegacyRandomState, TransformerLike
from skbo_silbo.decomposition._projection import AT_LEAST_TWO
from skbo_silbo.decomposition._reducers import (
    REDUCER,
    ReducerMixin,
    feature_weights,
    fit_reducer,
    reduce_rows,
)
from skbo_silbo.decomposition.rows._columns import mean_and_spread
from skbo_silbo.decomposition.rows._reading import split_labelled
from skbo_silbo.decomposition.rows._response import check_responses_vary, read_response
from skbo_silbo.decomposition.rows._weights import copies
from skbo_silbo.decomposition.slicing._slices import rows_and_centres, spread_over_response

TAKES = "numeric", "multivariate"
FEWEST_LABELS = 4
# Largest distance of predictions to the range of the labels, relative to its length. On 97 data
# sets in two draws, R^2 was higher by 0.009 (standard error 0.003) than without a limit, and by
# 0.011 (0.004) with 0, which lost more on single sets.
REACH = 0.25
NOISE_BANDWIDTH = 0.5  # bandwidth of the local average of squared errors, in mean distances
PRIOR_ROWS = 10  # weight of the global average of squared errors in the local average
NOISE_ROWS = 2000  # largest number of samples in the local average of squared errors
FOLD_ROWS = 800  # largest number of samples that the model of a fold is fitted to
MOST_ROWS = 6000  # largest number of samples that the regression on the scores is fitted to
MOST_CENTRES = 2000  # largest number of samples whose kernel functions span the regression
BATCH = 1000  # number of samples predicted at a time


class SDRRegressor(ReducerMixin, RegressorMixin, BaseEstimator):
    """Sufficient dimension reduction followed by a regression on the scores.

    By default, a `RecursiveFeatureMachine` weights the features [3]_, and y is predicted by a
    weighted mean of a ridge regression and a kernel ridge regression on the weighted features.
    Predictions exceed the range of the labels by at most a quarter of its length. With other
    transformers, such as `MAVE` [1]_, both regressions use their scores. Prediction errors are
    estimated by cross-validation. The directions are learnt again in each fold, so that their
    uncertainty is included [2]_.

    Several responses share the transformer, which must support them, and the ridge of the kernel
    regression.

    Parameters
    ----------
    reducer : transformer, "passthrough" or None, default=None
        Unfitted transformer that learns from y, such as `MAVE` or `ActiveSubspace`. It is cloned.
        None means ``RecursiveFeatureMachine(metric="diagonal", n_iter=1)``. "passthrough" uses all
        features, divided by their standard deviations.
    n_folds : int, default=5
        Number of cross-validation folds.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds. None uses a fixed seed.

    Attributes
    ----------
    reducer_ : transformer
        The transformer, fitted to all samples.
    linear_share_ : float or ndarray of shape (n_outputs,)
        Weight of the ridge regression in predictions, between 0 and 1. It minimises the squared
        held-out errors, with a penalty that pulls it towards 0.5 if there are few labels.
    residuals_ : ndarray of shape (n_l,) or (n_l, n_outputs)
        Held-out errors ``y - prediction`` of the labelled samples. Duplicated samples are held out
        together.
    std_ratios_ : ndarray of shape (n_l,) or (n_l, n_outputs)
        Held-out errors divided by the predicted standard deviations. Their mean square is 1 if the
        standard deviations are correct.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    Notes
    -----
    Large data are subsampled evenly in the order of y: the model of a fold is fitted to at most
    800 labelled samples, and the regressions on the scores to at most 6,000. `residuals_` and
    `std_ratios_` are computed for these samples. With more than 2,000 samples, the kernel
    regression is spanned by the kernel functions of 2,000 samples (Nystroem).

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
        "reducer": [*REDUCER, None],
        "n_folds": [AT_LEAST_TWO],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        reducer: TransformerLike | str | None = None,
        *,
        n_folds: int = 5,
        random_state: LegacyRandomState = None,
    ) -> None:
        self.reducer = reducer
        self.n_folds = n_folds
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

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
        y : array-like of shape (n,) or (n, n_outputs)
            Responses. NaN marks unlabelled samples.
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
        data = split_labelled(self, X, y, X_unlabeled, sample_weight, takes=TAKES, by_value=True)
        if len(data.y) < FEWEST_LABELS:
            raise ValueError(
                f"y must hold at least {FEWEST_LABELS} labels, some of which are held out, got "
                f"{len(data.y)}. Label more samples."
            )
        rows, w = data.X_labeled.astype(np.float64), data.weights
        reducer = feature_weights() if self.reducer is None else self.reducer
        self._has_one = data.y.ndim == 1
        if not self._has_one:
            check_responses_vary(data.y)
        self.reducer_ = fit_reducer(reducer, rows, data.y, data.X_unlabeled, w)
        t = data.y.reshape(len(rows), -1)
        self._level, self._unit = mean_and_spread(t, w)
        t = (t - self._level) / self._unit
        beyond = REACH * np.ptp(t, axis=0)  # the linear part may extrapolate badly
        self._limits = t.min(axis=0) - beyond, t.max(axis=0) + beyond
        drawn = spread_over_response(rows, t, MOST_ROWS)
        rows, t, w = rows[drawn], t[drawn], None if w is None else w[drawn]
        Z = reduce_rows(self.reducer_, rows)
        self._regression = _Regression(Z, t, w)
        self._weights, sets = np.ones(len(t)) if w is None else w, copies(rows, t)[1]
        held_out = self._held_out(reducer, rows, t, data.X_unlabeled, w, sets)
        share = self._regression.linear_share(t, held_out, self._weights)
        self.linear_share_ = float(share[0]) if self._has_one else share
        means, deviations = self._blend(held_out)
        q = (t - means) / deviations
        Z /= self._regression.distance
        near = spread_over_response(rows, t, NOISE_ROWS)
        self._noise = _Noise(Z[near], q[near] ** 2, self._weights[near])
        own = [np.bincount(sets[near], part, sets.max() + 1)[sets] for part in self._noise.own]
        parts = gen_batches(len(t), BATCH)
        levels = [self._noise.level(Z[part], np.stack(own)[:, part]) for part in parts]
        self.residuals_ = self._as_given(self._unit * (t - means))
        self.std_ratios_ = self._as_given(q / np.concatenate(levels))
        return self

    def _as_given(self, values):
        """Return values of shape (n, k), or of shape (n,) if y was passed as a vector."""
        return values[:, 0] if self._has_one else values

    def _held_out(self, reducer, X, t, X_unlabeled, weights, sets):
        """Predict means by both regressions, and standard deviations, of held-out samples.

        The model that predicts the samples of a fold is fitted to the other folds.
        """
        m = sets.max() + 1
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        folds = (rng.permutation(m) % min(self.n_folds, m))[sets]
        found = np.empty((3, *t.shape))
        for fold in range(folds.max() + 1):
            out, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            kept = kept[spread_over_response(X[kept], t[kept], FOLD_ROWS)]
            w, fitted = None if weights is None else weights[kept], None
            with warnings.catch_warnings(), np.errstate(invalid="ignore"):
                warnings.simplefilter("ignore", UserWarning)
                varying = np.ptp(t[kept], axis=0) > 0
                if varying.any():
                    y = self._as_given(t[kept][:, varying])
                    fitted = fit_reducer(reducer, X[kept], y, X_unlabeled, w)
                regression = _Regression(reduce_rows(fitted, X[kept]), t[kept], w)
            for rows in gen_batches(len(out), BATCH):
                found[:, out[rows]] = regression.predict(reduce_rows(fitted, X[out[rows]]))
        return found

    def _blend(self, predicted):
        """Return weighted means of linear and kernel predictions, and the standard deviations."""
        linear, other, deviations = predicted
        return np.clip(other + self.linear_share_ * (linear - other), *self._limits), deviations

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
        y : ndarray of shape (n,) or (n, n_outputs)
        std : ndarray of the same shape
            Standard deviation of a new observation. Only returned if `return_std` is True.
        """
        mean, std = map(self._as_given, self._predictions(X))
        if not return_std:
            return mean
        squares = np.average(self.std_ratios_**2, axis=0, weights=self._weights)
        return mean, np.sqrt(squares) * std

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the R^2 of the predictions for labelled samples, averaged over the responses.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,) or (n, n_outputs)
            Observed responses. NaN marks samples to leave out.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        float
        """
        predicted, (y, labelled) = self.predict(X), read_response(y, TAKES)
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
        interval : ndarray of shape (n, 2) or (n, n_outputs, 2)
            Lower and upper end of each interval. Both ends are infinite if there are fewer labelled
            samples than ``coverage / (1 - coverage)``.
        """
        check_share("coverage", coverage, default=0.95)
        mean, std = self._predictions(X)
        reach = []
        for ratios in np.abs(self.std_ratios_).reshape(len(self._weights), -1).T:
            order = np.argsort(ratios)
            ratios, numbers = np.append(ratios[order], np.inf), np.cumsum(self._weights[order])
            reach.append(ratios[np.searchsorted(numbers, coverage * (numbers[-1] + 1))])
        return self._as_given(np.stack([mean - reach * std, mean + reach * std], axis=-1))

    def _predictions(self, X):
        """Predict means and calibrated standard deviations, with shape (2, n, k)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        parts = []
        for rows in gen_batches(len(X), BATCH):
            Z = reduce_rows(self.reducer_, X[rows])
            mean, deviation = self._blend(self._regression.predict(Z))
            std = deviation * self._noise.level(Z / self._regression.distance)
            parts.append([self._level + self._unit * mean, self._unit * std])
        return np.concatenate(parts, axis=1)


class _Regression:
    """Ridge and kernel ridge regression of targets on scores."""

    def __init__(self, scores, t, weights):
        firsts, sets = copies(scores, t)
        w = np.bincount(sets, weights).astype(np.float64)
        order = rows_and_centres(scores[firsts], t[firsts], len(firsts), MOST_CENTRES)
        Z, t, w = scores[firsts[order]], t[firsts[order]], w[order]
        self.mean = np.average(t, axis=0, weights=w)
        self.machine = LaplaceRidge(Z, t - self.mean, w, MOST_CENTRES)
        self.distance = self.machine.bandwidth / WIDTH  # mean distance of scores
        size = np.sum(mean_and_spread(Z, w)[1] ** 2) or 1.0
        linear = RidgeCV(size * RIDGE_GRID, alpha_per_target=True)
        self.linear = linear.fit(Z, t, sample_weight=w)

    def predict(self, scores):
        """Predict linear means, kernel means and standard deviations, with shape (3, m, k)."""
        means = self.mean + self.machine.predict(scores)
        deviations = np.sqrt(np.maximum(self.machine.variance(scores), LEAST_NOISE))
        linear = self.linear.predict(scores).reshape(means.shape)
        return np.stack([linear, means, deviations])

    def linear_share(self, t, held_out, weights):
        """Return the weights of the linear regression that minimise the penalised held-out errors.

        The penalty is the sum of the squared weights of both regressions, times `PRIOR_ROWS` mean
        squared errors.
        """
        linear, other = t - held_out[:2]
        squares = weights @ linear**2, weights @ other**2
        penalty = PRIOR_ROWS * np.mean(squares, axis=0) / weights.sum()
        apart = weights @ (linear - other) ** 2 + 2 * penalty
        gain = squares[1] - weights @ (linear * other) + penalty
        share = np.divide(gain, apart, out=np.full_like(gain, 0.5), where=apart > 0)
        return np.clip(share, 0, 1)


class _Noise:
    """Estimate of the local noise level as a function of the scores."""

    def __init__(self, Z, squares, weights):
        self.Z, self.own = Z, weights * np.vstack([squares.T, np.ones(len(Z))])
        everywhere = np.average(squares, axis=0, weights=weights)
        self.everywhere = np.maximum(everywhere, np.finfo(float).tiny)

    def level(self, at, own=0.0):
        """Return the local root mean square of the standardised held-out errors.

        `own` holds the contribution of each point to its own level, which is subtracted.
        """
        sums = (self.own @ gaussian_weights(at, self.Z, NOISE_BANDWIDTH).T - own).T
        everywhere = PRIOR_ROWS * self.everywhere
        return np.sqrt((sums[:, :-1] + everywhere) / (sums[:, -1:] + PRIOR_ROWS))
