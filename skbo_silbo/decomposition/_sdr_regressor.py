"""Regression along learnt directions, with errors from rows held out.

=========  ========  ======================================================================
symbol     shape     meaning
=========  ========  ======================================================================
Z          (n, r)    scores, of mean 0 and variance 1
t          (n,)      responses, of mean 0 and variance 1
q          (n,)      errors of the rows held out, over the deviations that the model predicts
=========  ========  ======================================================================
"""

import warnings
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import KFold
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import as_reals, brief, check_choice, check_integer, check_share, reading
from .._numerics._local_linear import gaussian_weights, local_predictions
from .._numerics._priors import PRIORS, UNIFORM_WIDTH
from .._numerics._screening import searched_process
from .._typing import ArrayLike, FloatArray, LegacyRandomState, TransformerLike
from ._mave import MAVE
from ._outer_products import RIDGE
from ._sir import SlicedInverseRegression

# compared by the local fit, in standard deviations of the scores
BANDWIDTHS = 2.0 ** np.arange(-4, 3.5, 0.5)
NOISE_BANDWIDTH = 0.5  # likewise, of rows whose errors say how large those near a point are
PRIOR_ROWS = 10  # rows that errors everywhere count for beside those near a point
SEARCH_ROWS = 300  # rows by which the hyperparameters of the process are searched
ROWS_PER_FEATURE = 3  # rows a feature from which directions are those of `MAVE` by default
BATCH = 1000  # rows predicted at a time


class SDRRegressor(RegressorMixin, BaseEstimator):
    """Sufficient dimension reduction, then a regression on the few scores.

    Prediction as `MAVE` was made for [1]_: a Gaussian process, or a local linear regression, of the
    scores. How far predictions are off is learnt from rows held out, in folds that learn
    the directions anew, so that it includes the error of these [2]_.

    Parameters
    ----------
    reducer : transformer, default=None
        Any of this library, such as `ActiveSubspace`, or another that learns from y. None is
        `MAVE`, or with fewer than three rows a feature `SlicedInverseRegression`, which can have a
        ridge. It is cloned.
    model : {"local", "process"}, default="process"
        "process" is a Gaussian process with a Matern-5/2 kernel, for up to some thousands of rows.
        "local" is a local linear regression with Gaussian weights, whose width is that of least
        error in the rows held out.
    n_folds : int, default=5
        At least 2.
    random_state : int, RandomState instance or None, default=None
        Of the folds; None is a fixed seed.

    Attributes
    ----------
    reducer_ : transformer
        Fitted to all rows.
    bandwidth_ : float
        Only of ``model="local"``, in standard deviations of the scores.
    residuals_ : ndarray of shape (n,)
        ``y - prediction`` of the rows held out.
    std_ratios_ : ndarray of shape (n,)
        The same over the standard deviations predicted: 1 in the mean square where these are right.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

    References
    ----------
    .. [1] Y. Xia, H. Tong, W. Li, L.-X. Zhu, "An adaptive estimation of dimension reduction space",
       J. R. Stat. Soc. B 64 (2002).
    .. [2] R. Barber, E. Candes, A. Ramdas, R. Tibshirani, "Predictive inference with the
       jackknife+", Ann. Statist. 49 (2021): intervals from rows held out.

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

    def __init__(
        self,
        reducer: TransformerLike | None = None,
        *,
        model: str = "process",
        n_folds: int = 5,
        random_state: LegacyRandomState = None,
    ) -> None:
        self.reducer = reducer
        self.model = model
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn directions, the regression along them, and its errors.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter outside its range, fewer than four rows, or what the reducer refuses.
        """
        check_choice("model", self.model, list(MODELS))
        check_integer("n_folds", self.n_folds, 2)
        with reading("y"):
            is_refused = y is not None and as_reals(y) is None and np.asarray(y).dtype.kind != "c"
        if is_refused:
            raise ValueError(
                f"y must hold numbers, one a row: got {brief(y)}. Code two classes as 0 and 1, or "
                "use a classifier on the scores of SlicedInverseRegression."
            )
        rows, values = validate_data(
            self, X, y, y_numeric=True, ensure_min_samples=4, dtype=np.float64
        )
        values = values.astype(np.float64)
        self._level, self._unit = values.mean(), values.std() if np.ptp(values) else 1.0
        t = (values - self._level) / self._unit
        means, deviations = self._held_out(rows, t)
        errors = t - means
        self._choice = int(np.argmin(np.mean(errors**2, axis=1)))
        self.reducer_ = self._reducer(rows).fit(rows, values)
        self._model = MODELS[self.model](_scores(self.reducer_, rows), t)
        self.__dict__.pop("bandwidth_", None)
        if self.model == "local":
            self.bandwidth_ = float(BANDWIDTHS[self._choice])
        q = errors[self._choice] / deviations[self._choice]
        self._noise = _Noise(self._model.Z, q**2)
        self.residuals_ = self._unit * errors[self._choice]
        self.std_ratios_ = q / self._noise.level(self._model.Z, self._noise.own)
        return self

    def _reducer(self, X):
        if self.reducer is not None:
            return clone(self.reducer)
        if len(X) >= ROWS_PER_FEATURE * X.shape[1]:
            return MAVE()
        return SlicedInverseRegression(categorical=False)

    def _held_out(self, X, t):
        """Means and deviations (choices, n) of the rows of each fold, by models of the others."""
        seed = 0 if self.random_state is None else self.random_state
        folds = KFold(min(self.n_folds, len(t)), shuffle=True, random_state=seed)
        found = np.empty((2, MODELS[self.model].n_choices, len(t)))
        for kept, out in folds.split(X):
            reducer = None
            if np.ptp(t[kept]):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    reducer = self._reducer(X).fit(X[kept], t[kept])
            model = MODELS[self.model](_scores(reducer, X[kept]), t[kept])
            found[:, :, out] = model.predictions(_scores(reducer, X[out]))
        return found

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> FloatArray: ...
    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[FloatArray, FloatArray]: ...
    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Predict y.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        return_std : bool, default=False
            Return too how far an observation is off, noise included.

        Returns
        -------
        y : ndarray of shape (n,)
        std : ndarray of shape (n,)
            Only where asked for.
        """
        mean, std = self._predictions(X)
        return (mean, np.sqrt(np.mean(self.std_ratios_**2)) * std) if return_std else mean

    def predict_interval(self, X: ArrayLike, coverage: float = 0.95) -> FloatArray:
        """Predict where new observations lie.

        The half width is the quantile, over the rows held out, of error over standard deviation,
        times the latter. Rows are taken to be exchangeable. This is close to the jackknife+ of
        Barber et al. (2021), without its guarantee: intervals are about the fit to all rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        coverage : float, default=0.95
            In (0, 1).

        Returns
        -------
        interval : ndarray of shape (n, 2)
            Lower and upper ends. Infinite where fewer rows than ``coverage / (1 - coverage)`` were
            held out, which cannot say.
        """
        check_share("coverage", coverage, default=0.95)
        mean, std = self._predictions(X)
        ratios = np.append(np.sort(np.abs(self.std_ratios_)), np.inf)
        reach = ratios[min(int(np.ceil(coverage * len(ratios))), len(ratios)) - 1]
        return np.column_stack([mean - reach * std, mean + reach * std])

    def _predictions(self, X):
        """Mean (n,), and standard deviation as the errors near in the scores say it."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        Z = _scores(self.reducer_, X)
        means, deviations = self._model.predictions(Z, self._choice)
        std = deviations[0] * self._noise.level(self._model.standardised(Z))
        return self._level + self._unit * means[0], self._unit * std


def _scores(reducer, X):
    """Scores (n, r), a column of zeros where there is no direction."""
    if reducer is None or getattr(reducer, "n_components_", 1) == 0:
        return np.zeros((len(X), 1))
    return np.asarray(reducer.transform(X), dtype=np.float64).reshape(len(X), -1)


def _in_batches(function, rows):
    """Values (..., m) of a function of rows (m, r), some at a time."""
    return np.concatenate([function(rows[b]) for b in gen_batches(len(rows), BATCH)], axis=-1)


class _Model:
    """A regression of t on standardised scores.

    A subclass has `n_choices` and ``_at(Z, choice)``: means and standard deviations at standardised
    scores, of every choice where it is None, (2, choices, m).
    """

    def __init__(self, scores, t):
        self.mean = scores.mean(axis=0)
        spread = scores.std(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)
        self.Z, self.t = self.standardised(scores), t

    def standardised(self, scores):
        return (scores - self.mean) / self.spread

    def predictions(self, scores, choice=None):
        return _in_batches(lambda Z: self._at(Z, choice), self.standardised(scores))


class _LocalLinear(_Model):
    """Of every width, or of one."""

    n_choices = len(BANDWIDTHS)

    def _at(self, Z, choice):
        widths = BANDWIDTHS if choice is None else BANDWIDTHS[[choice]]
        t = self.t[:, None]
        means = [local_predictions(self.Z, t, Z, h, RIDGE)[:, 0] for h in widths]
        return np.stack([means, np.ones_like(means)])


class _Process(_Model):
    """A Gaussian process."""

    n_choices = 1

    def __init__(self, scores, t):
        super().__init__(scores, t)
        prior = PRIORS["sparse"](self.Z.shape[1], UNIFORM_WIDTH).for_regression()
        data, theta = searched_process(self.Z, t, prior, SEARCH_ROWS)
        self.process, self.noise = data.condition(theta), np.exp(theta[-1])

    def _at(self, Z, choice):
        mean, variance = self.process.predict(Z)
        return np.stack([mean, np.sqrt(variance + self.noise)])[:, None]


MODELS: dict[str, Any] = {"local": _LocalLinear, "process": _Process}


class _Noise:
    """Root mean square of q near a point: squares smoothed along the scores."""

    def __init__(self, Z, squares):
        self.Z, self.own = Z, np.stack([squares, np.ones(len(Z))])
        self.everywhere = max(float(np.mean(squares)), np.finfo(float).tiny)

    def level(self, at, own=0.0):
        """At points; at the rows themselves less what is their own, by the others."""
        squares, weights = _in_batches(self._sums, at) - own
        return np.sqrt((squares + PRIOR_ROWS * self.everywhere) / (weights + PRIOR_ROWS))

    def _sums(self, at):
        return self.own @ gaussian_weights(at, self.Z, NOISE_BANDWIDTH).T
