"""Early stopping on a validation set that is split from the training data of each fold."""

import inspect
import warnings
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skbo_silbo._checks import check_share, warn_user
from skbo_silbo._sklearn import rows_of
from skbo_silbo._typing import ArrayLike, IntArray, RandomState

# Arguments of `fit` for the validation set and its weights. The deprecated `eval_set` comes first
# because LightGBM 4.7 does not encode the labels in `eval_y` (LightGBM issue 7400).
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


def _has(method: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), method))


@dataclass(eq=False, repr=False)
class EarlyStopped(MetaEstimatorMixin, BaseEstimator):
    """Meta-estimator that holds out a validation set for early stopping in each fit.

    Boosting libraries need a validation set in `fit` for early stopping. A search would pass the
    same validation set to all folds, and it might overlap with the test fold. `EarlyStopped`
    instead splits the training data of each fold, so that the test fold is not used for early
    stopping.

    Parameters
    ----------
    estimator : estimator
        A booster with early stopping enabled, whose `fit` accepts ``eval_set`` (XGBoost, LightGBM,
        CatBoost) or ``X_val`` (scikit-learn's histogram boosting, from 1.7), or a Pipeline that
        ends with one. The other steps of a Pipeline are fitted without the validation set.
    validation_fraction : float, default=0.1
        Fraction of the samples, or of the groups, to hold out. For classifiers the split is
        stratified, unless groups are passed.
    splitter : splitter, default=None
        Cross-validation splitter whose first split defines the validation set. It replaces
        `validation_fraction`.
    random_state : int, RandomState instance or None, default=None
        Seed of the split. Pass an int for reproducible results.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    best_iteration_ : int
        Number of iterations kept by the booster.
    n_validation_ : int
        Number of samples in the validation set.

    See Also
    --------
    SILBOSearchCV : Hyperparameter search.

    Notes
    -----
    Default search spaces leave out the number of iterations of the booster. Set it to a value that
    early stopping does not reach.

    To include the number of iterations in ``cv_results_``, add it to the metrics:
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
        """Split off a validation set, and fit the estimator with early stopping on it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples, one per row.
        y : array-like of shape (n_samples,)
            Target values of the samples, such as class labels.
        groups : array-like of shape (n_samples,), default=None
            Group labels of the samples. All samples of a group are on the same side of the split.
            In a search, request them by metadata routing: ``set_fit_request(groups=True)``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. They are used for training and for validation.
        **fit_params : dict
            Additional parameters that are passed to the `fit` method of the booster.

        Returns
        -------
        self : EarlyStopped
            The fitted estimator.

        Raises
        ------
        ValueError
            If the estimator does not accept a validation set, or `validation_fraction` is not
            between 0 and 1.

        Warns
        -----
        UserWarning
            If early stopping is not enabled for a booster of scikit-learn or XGBoost.
        """
        X, y, groups, sample_weight = indexable(X, y, groups, sample_weight)
        fitted, held_out = self._split(X, y, groups)
        estimator = clone(self.estimator)
        steps, last = _split_pipeline(estimator)
        names = _arguments(last)
        X_fitted, X_held_out = rows_of(X, fitted), rows_of(X, held_out)
        y_fitted, y_held_out = rows_of(y, fitted), rows_of(y, held_out)
        if steps is not None:
            X_fitted = steps.fit_transform(X_fitted, y_fitted)
            X_held_out = steps.transform(X_held_out)
            estimator.steps = [*steps.steps, estimator.steps[-1]]  # with memory, steps are cloned
        weights = _weights(names, sample_weight, fitted, held_out)
        make = next(make for name, make in HELD_OUT.items() if name in names)
        with warnings.catch_warnings():  # by LightGBM
            warnings.filterwarnings("ignore", "The argument 'eval_set' is deprecated")
            last.fit(X_fitted, y_fitted, **make(X_held_out, y_held_out), **weights, **fit_params)
        self.estimator_, self.n_validation_ = estimator, len(held_out)
        if not _stops_early(last):
            warn_user(
                f"Early stopping is not enabled for {type(last).__name__}, so that the "
                f"{len(held_out)} held-out samples were not used. Set early_stopping=True "
                "(scikit-learn) or early_stopping_rounds=20 (XGBoost)."
            )
        return self

    def _split(self, X: Any, y: Any, groups: Any) -> tuple[IntArray, IntArray]:
        splitter, fraction = self.splitter, self.validation_fraction
        if splitter is None:
            check_share("validation_fraction", fraction, default=0.1)
            kind = StratifiedShuffleSplit if is_classifier(self.estimator) else ShuffleSplit
            kind = kind if groups is None else GroupShuffleSplit
            splitter = kind(1, test_size=fraction, random_state=self.random_state)
        return next(iter(splitter.split(X, y, groups)))

    @property
    def best_iteration_(self) -> int:
        """Number of iterations kept by the fitted booster."""
        check_is_fitted(self, "estimator_")
        last = _split_pipeline(self.estimator_)[1]
        if (found := _n_iterations(last)) is None:
            raise AttributeError(f"{type(last).__name__} does not have a number of iterations.")
        return found

    @property
    def classes_(self) -> Any:
        """Class labels of the fitted estimator."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during `fit`."""
        return self.estimator_.n_features_in_

    @_has("predict")
    def predict(self, X: Any) -> Any:
        """Predict targets with the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities with the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Evaluate the decision function of the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    @_has("score")
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of the fitted estimator on test data."""
        check_is_fitted(self, "estimator_")
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.estimator_.score(X, y, **weights)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags


def warn_if_groups_are_not_passed(estimator: Any, split_params: Any, fit_params: Any) -> None:
    """Warn if groups define the splits of a search, but are not passed to `EarlyStopped`."""
    is_routed = get_config()["enable_metadata_routing"]  # then the user has decided
    if is_routed or split_params.get("groups") is None:
        return
    nested = [estimator, *estimator.get_params().values()]
    if any(isinstance(part, EarlyStopped) for part in nested) and "groups" not in fit_params:
        warn_user(
            "`groups` are used by `cv` but not by EarlyStopped, whose validation sets may contain "
            "samples of the groups that the model is fitted to. Call "
            "sklearn.set_config(enable_metadata_routing=True) and use "
            "EarlyStopped(...).set_fit_request(groups=True)."
        )


def _split_pipeline(estimator: Any) -> tuple[Any, Any]:
    """Split an estimator into the transformers of a Pipeline, if any, and the last step."""
    if not isinstance(estimator, Pipeline):
        return None, estimator
    return (estimator[:-1] if len(estimator) > 1 else None), estimator[-1]


def _arguments(last: Any) -> Mapping[str, inspect.Parameter]:
    names = inspect.signature(last.fit).parameters
    if not any(name in names for name in HELD_OUT):
        raise ValueError(
            f"`estimator` must accept a validation set ({' or '.join(HELD_OUT)}) in `fit`, got "
            f"{type(last).__name__}. Use a booster of XGBoost, LightGBM or CatBoost, or "
            "HistGradientBoosting of scikit-learn 1.7 or later."
        )
    return names


def _n_iterations(last: Any) -> Any:
    found = (getattr(last, name, None) for name in ITERATIONS)
    return next((n for n in found if n is not None), None)


def _stops_early(last: Any) -> bool:
    """Return whether a fitted booster used the validation set for early stopping."""
    if getattr(last, "early_stopping_rounds", "not said") is None:
        return _n_iterations(last) is not None
    return getattr(last, "do_early_stopping_", True)


def _weights(
    names: Collection[str], sample_weight: Any, fitted: IntArray, held_out: IntArray
) -> dict[str, Any]:
    if sample_weight is None:
        return {}
    of_held_out = rows_of(sample_weight, held_out)
    return {
        "sample_weight": rows_of(sample_weight, fitted),
        **{name: make(of_held_out) for name, make in WEIGHTS.items() if name in names},
    }
