"""Early stopping inside a fold: a part of the rows that `fit` gets is held out for it."""

import inspect
import warnings
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skbo_silbo._checks import check_share, warn_user
from skbo_silbo._sklearn import rows_of
from skbo_silbo._typing import ArrayLike, RandomState

# The arguments of `fit` that take held-out rows, and those that take their weights. LightGBM 4.7
# encodes the labels of eval_set as it encodes y, but not those of eval_y, and stops on wrong labels
# unless classes are 0, ..., k - 1 (LightGBM issue 7400). So eval_set, though deprecated, is first.
HELD_OUT = {
    "eval_set": lambda X, y: {"eval_set": [(X, y)]},  # XGBoost, LightGBM, CatBoost
    "eval_X": lambda X, y: {"eval_X": X, "eval_y": y},  # LightGBM without eval_set
    "X_val": lambda X, y: {"X_val": X, "y_val": y},  # scikit-learn
}
WEIGHTS = {
    "sample_weight_eval_set": lambda w: [w],  # XGBoost
    "eval_sample_weight": lambda w: [w],  # LightGBM
    "sample_weight_val": lambda w: w,  # scikit-learn
}
ITERATIONS = ("best_iteration_", "best_iteration", "n_iter_")


def _has(method):
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), method))


@dataclass(eq=False, repr=False)
class EarlyStopped(MetaEstimatorMixin, BaseEstimator):
    """Fit on a part of the rows and stop by the rest, inside every fold of a search.

    A boosting library stops early by rows that `fit` is given as ``eval_set``. A search passes
    the same rows to every fold, so that rows of the test fold, or of no fold, decide. Here each
    `fit` splits the rows that it gets. The score of a fold is of rows that took no part.

    Parameters
    ----------
    estimator : estimator
        Its `fit` takes ``eval_set`` (XGBoost, LightGBM, CatBoost) or ``X_val`` (scikit-learn's
        histogram boosting, from 1.7). It has to be told to stop early in its own words. Of a
        Pipeline the last step stops early; the steps before it see the fitted part alone.
    validation_fraction : float, default=0.1
        Share of the rows, or of the groups, that is held out. Classes keep their shares, unless
        groups are given.
    splitter : splitter, default=None
        Holds out by its first split in the place of `validation_fraction`.
    random_state : int, RandomState instance or None, default=None
        For the split.

    Attributes
    ----------
    estimator_ : estimator
        Fitted.
    best_iteration_ : int
        Of the last step, as it names it: ``best_iteration_``, ``best_iteration`` or ``n_iter_``.
    n_validation_ : int
        Number of rows that were held out.

    See Also
    --------
    SILBOSearchCV : A search that any meta-estimator stands in.

    Notes
    -----
    ``cv_results_`` has the iterations if they are scored:
    ``scoring={"r2": "r2", "best_iteration": lambda model, X, y: model.best_iteration_}`` with
    ``refit="r2"``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from skbo_silbo import EarlyStopped
    >>> X, y = load_diabetes(return_X_y=True)
    >>> boosted = HistGradientBoostingRegressor(max_iter=500, early_stopping=True, random_state=0)
    >>> model = EarlyStopped(boosted, random_state=0).fit(X, y)
    >>> model.n_validation_, model.best_iteration_ < 500
    (45, True)
    """

    estimator: Any
    _: KW_ONLY
    validation_fraction: float = 0.1
    splitter: Any = None
    random_state: RandomState = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Split the rows, fit on one part, and stop by the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), default=None
            A group is held out as a whole or not at all. In a search it arrives by metadata
            routing: ``set_fit_request(groups=True)``.
        sample_weight : array-like of shape (n_samples,), default=None
        **fit_params : dict
            For the `fit` of the estimator, or of the last step of a Pipeline.

        Returns
        -------
        self : EarlyStopped

        Raises
        ------
        ValueError
            If the estimator takes no held-out rows, or the fraction is not between 0 and 1.

        Warns
        -----
        UserWarning
            If scikit-learn's or XGBoost's booster was not told to stop early.
        """
        X, y, groups, sample_weight = indexable(X, y, groups, sample_weight)
        fitted, held_out = self._split(X, y, groups)
        estimator = clone(self.estimator)
        steps, last = _parted(estimator)
        names = _arguments(last)
        X_fitted, X_held_out = rows_of(X, fitted), rows_of(X, held_out)
        y_fitted, y_held_out = rows_of(y, fitted), rows_of(y, held_out)
        if steps is not None:
            X_fitted = steps.fit_transform(X_fitted, y_fitted)
            X_held_out = steps.transform(X_held_out)
            estimator.steps = [*steps.steps, estimator.steps[-1]]  # copies, where there is memory
        weights = _weights(names, sample_weight, fitted, held_out)
        rows = next(
            make(X_held_out, y_held_out) for name, make in HELD_OUT.items() if name in names
        )
        with _eval_set_not_deprecated():
            last.fit(X_fitted, y_fitted, **rows, **weights, **fit_params)
        self.estimator_, self.n_validation_ = estimator, len(held_out)
        if not _stops_early(last):
            warn_user(
                f"estimator must be told to stop early: {type(last).__name__} made all its rounds, "
                f"and {len(held_out)} rows were held out for nothing. Give it early_stopping=True "
                "(scikit-learn) or early_stopping_rounds=20 (XGBoost)."
            )
        return self

    def _split(self, X, y, groups):
        splitter = self._splitter(groups) if self.splitter is None else self.splitter
        return next(iter(splitter.split(X, y, groups)))

    def _splitter(self, groups):
        fraction = self.validation_fraction
        check_share("validation_fraction", fraction, default=0.1)
        if groups is not None:
            kind = GroupShuffleSplit
        else:
            kind = StratifiedShuffleSplit if is_classifier(self.estimator) else ShuffleSplit
        return kind(1, test_size=fraction, random_state=self.random_state)

    @property
    def best_iteration_(self) -> int:
        """Number of iterations that were kept, as the fitted estimator says it."""
        check_is_fitted(self, "estimator_")
        last = _parted(self.estimator_)[1]
        if (found := _n_iterations(last)) is None:
            raise AttributeError(f"{type(last).__name__} says no number of iterations.")
        return found

    @property
    def classes_(self) -> Any:
        """Classes of the fitted estimator."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features that `fit` saw."""
        return self.estimator_.n_features_in_

    @_has("predict")
    def predict(self, X: Any) -> Any:
        """Return what the fitted estimator predicts, (n_samples,)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, (n_samples, n_classes)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision function, (n_samples,) or (n_samples, n_classes)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    @_has("score")
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of the fitted estimator."""
        check_is_fitted(self, "estimator_")
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.estimator_.score(X, y, **weights)

    def __sklearn_tags__(self):
        tags, of = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = of.estimator_type
        tags.classifier_tags, tags.regressor_tags = of.classifier_tags, of.regressor_tags
        tags.input_tags, tags.target_tags = of.input_tags, of.target_tags
        return tags


def _parted(estimator):
    """Return the steps before the last one, None without, and the last."""
    if not isinstance(estimator, Pipeline):
        return None, estimator
    return (estimator[:-1] if len(estimator) > 1 else None), estimator[-1]


def _arguments(last):
    names = inspect.signature(last.fit).parameters
    if not any(name in names for name in HELD_OUT):
        raise ValueError(
            f"estimator must take {' or '.join(HELD_OUT)} in fit, rows to stop by: got "
            f"{type(last).__name__}. Give a booster of XGBoost, LightGBM or CatBoost, or "
            "scikit-learn's HistGradientBoosting from version 1.7, or leave EarlyStopped out."
        )
    return names


@contextmanager
def _eval_set_not_deprecated():
    """Silence LightGBM's deprecation of `eval_set`, which users of `EarlyStopped` cannot act on."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The argument 'eval_set' is deprecated")
        yield


def _n_iterations(last):
    found = (getattr(last, name, None) for name in ITERATIONS)
    return next((n for n in found if n is not None), None)


def _stops_early(last):
    """Whether a fitted booster looked at the rows held out; True where it does not say.

    XGBoost has no best iteration where it did not.
    """
    if getattr(last, "early_stopping_rounds", "not said") is None:
        return _n_iterations(last) is not None
    return getattr(last, "do_early_stopping_", True)


def _weights(names, sample_weight, fitted, held_out):
    if sample_weight is None:
        return {}
    of_held_out = rows_of(sample_weight, held_out)
    return {
        "sample_weight": rows_of(sample_weight, fitted),
        **{name: make(of_held_out) for name, make in WEIGHTS.items() if name in names},
    }
