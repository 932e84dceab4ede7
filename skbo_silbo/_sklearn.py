"""All private names of scikit-learn that this package uses.

``tests/house/test_sklearn_private.py`` tests how each of them is used, so that an incompatible
scikit-learn release is noticed there first.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import joblib
from sklearn.base import clone
from sklearn.model_selection._search import BaseSearchCV as BaseSearchCV
from sklearn.model_selection._validation import _fit_and_score, _warn_or_raise_about_fit_failures
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods as HasMethods
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils.parallel import Parallel, _get_threadpool_controller, delayed
from sklearn.utils.validation import _check_sample_weight

check_sample_weight = _check_sample_weight
rows_of = _safe_indexing
warn_or_raise_about_fit_failures = _warn_or_raise_about_fit_failures
threadpool_controller = _get_threadpool_controller


def validate_parameters(estimator):
    """Validate an estimator's constructor arguments against its `_parameter_constraints`."""
    estimator._validate_params()


def seeded_clone(estimator, seed):
    """Clone an estimator and set each `random_state` that is None to `seed`."""
    cloned = clone(estimator)
    params = cloned.get_params()
    names = [name for name in params if name.split("__")[-1] == "random_state"]
    return cloned.set_params(**{name: seed for name in names if params[name] is None})


def check_scores(search, scores):
    """Check the scores of the first fit, to report an unusable `scoring` early.

    Before the first fit, the number of metrics that a callable `scoring` returns is unknown.

    Parameters
    ----------
    search : BaseSearchCV
    scores : float or dict
        Scores returned for one fit: a number, or a dict with one number per metric.

    Raises
    ------
    ValueError
        If there are several metrics and `refit` is not False, callable or the name of one of them,
        or if the estimator's ``score`` method returns a dict.
    """
    if not isinstance(scores, dict):
        return
    if search.scoring is None:
        raise ValueError(
            "The estimator's score method must return a number, got a dict with keys "
            f"{list(scores)}. Pass scoring=lambda model, X, y: model.score(X, y) and set `refit` "
            "to one of these keys."
        )
    if callable(search.scoring):
        search._check_refit_for_multimetric(scores)


@dataclass(frozen=True, eq=False)
class SearchState:
    """State of a running `BaseSearchCV.fit` that scikit-learn does not expose.

    Attributes
    ----------
    estimator : estimator object
    X, y : object
        The training data passed to ``fit``.
    splitter : splitter
        The cross-validation splitter that the search uses.
    split_params, fit_params, score_params : dict
        Parameters of ``fit`` that are routed to the splitter, the estimator and the scorers.
    fit_and_score : callable
        Function that fits and scores a candidate under scikit-learn's current configuration, given
        the remaining arguments.
    parallel : joblib.Parallel
        Open `joblib.Parallel` of the search.
    """

    estimator: object
    X: object
    y: object
    splitter: object
    split_params: dict
    fit_params: dict
    score_params: dict
    fit_and_score: Callable
    parallel: object

    def split(self):
        """Return the training and test indices of each cross-validation split."""
        return self.splitter.split(self.X, self.y, **self.split_params)

    def n_splits(self):
        """Return the number of cross-validation splits."""
        return self.splitter.get_n_splits(self.X, self.y, **self.split_params)

    @cached_property
    def _splits(self):
        """Cross-validation splits, drawn once because an unseeded splitter is not repeatable."""
        splits, n_splits = list(self.split()), self.n_splits()
        if len(splits) != n_splits:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {n_splits} splits, got {len(splits)}"
            )
        return splits

    def make_fits(self, params, progress, callback_ctx=None, caller=None):
        """Return one function per split that fits and scores a candidate.

        Parameters
        ----------
        params : dict
            Parameters of the candidate, which are set on the estimator.
        progress : (int, int)
            Index of the candidate and the total number of candidates, for verbose output.
        callback_ctx : CallbackContext or None, default=None
            Context of the candidate for scikit-learn's callbacks. None means that there are no
            callbacks.
        caller : BaseSearchCV or None, default=None
            The search that is passed to scikit-learn's callbacks.

        Returns
        -------
        fits : list of callable
            Functions that fit and score the candidate on one split each, given the estimator, X and
            y that `data` returns.
        """
        return [
            partial(
                self.fit_and_score,
                train=train,
                test=test,
                parameters=params,
                split_progress=(i, len(self._splits)),
                candidate_progress=progress,
                **self._watched(callback_ctx, caller, i),
            )
            for i, (train, test) in enumerate(self._splits)
        ]

    def data(self):
        """Return the estimator, X and y that are passed to each fit."""
        return clone(self.estimator), self.X, self.y

    @cached_property
    def _has_callbacks(self):
        """Whether the estimator or one of its nested estimators has callbacks."""
        objects = [self.estimator, *self.estimator.get_params().values()]
        return any(vars(o).get("_skl_callbacks") for o in objects if hasattr(o, "__dict__"))

    def _watched(self, callback_ctx, caller, split):
        """Return the callback arguments of a fit, or {} if there are no callbacks."""
        if callback_ctx is None or not (callback_ctx._callbacks or self._has_callbacks):
            return {}
        ctx = callback_ctx.subcontext(task_name="candidate-split-evaluation", task_id=split)
        return {"callback_ctx": ctx, **({"caller": caller} if callback_ctx._callbacks else {})}


def search_state(evaluate_candidates):
    """Read the state of a running search from the closure of ``evaluate_candidates``.

    This function is the only argument that `BaseSearchCV.fit` passes to ``_run_search``.
    """
    names = inspect.getclosurevars(evaluate_candidates).nonlocals
    splitter = names["cv_orig"] if "cv_orig" in names else names["self"]._checked_cv_orig
    routed, arguments = names["routed_params"], names["fit_and_score_kwargs"]
    [(function, _, _)] = _Configured()([delayed(_fit_and_score)()])
    return SearchState(
        estimator=names["base_estimator"],
        X=names["X"],
        y=names["y"],
        splitter=splitter,
        split_params=dict(routed.splitter.split),
        fit_params=dict(routed.estimator.fit),
        score_params=dict(routed.scorer.score),
        fit_and_score=partial(function, **arguments),
        parallel=names["parallel"],
    )


def fit_parameters(search, params):
    """Return the arguments of a search's ``fit`` that are passed on to its estimator."""
    return search._get_routed_params_for_fit(params).estimator.fit


def metadata_request(estimator):
    """Return an estimator's metadata routing requests, or None if it has none."""
    return vars(estimator).get("_metadata_request")


def adopt_rows(evaluate_candidates, rows):
    """Add the results of fits made outside ``evaluate_candidates`` to a search.

    After ``_run_search``, `BaseSearchCV.fit` reads the first row, and ``cv_results_`` from the
    closure of ``evaluate_candidates``.

    Parameters
    ----------
    evaluate_candidates : callable
        The function that `BaseSearchCV` passes to ``_run_search``.
    rows : list of dict
        The results of all fits, one dict per fit.

    Returns
    -------
    table : dict
        The empty dict that becomes ``cv_results_``. The caller fills it later.
    """
    names = inspect.getclosurevars(evaluate_candidates).nonlocals
    names["all_out"].extend(rows)
    return names["results"]


def format_results(search, params, n_splits, rows, more_columns):
    """Return the columns of ``cv_results_`` computed from the results of all fits."""
    return search._format_results(params, n_splits, rows, more_columns)


class _Listed(joblib.Parallel):
    def __call__(self, iterable):
        return list(iterable)


class _Configured(Parallel, _Listed):
    """Return joblib calls that run under scikit-learn's current configuration."""
