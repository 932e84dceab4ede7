"""Every private name of scikit-learn that this library uses, each with a test in the test suite.

``tests/house/test_sklearn_private.py`` says for each name what is needed of it, so that a
scikit-learn release which moves or changes one fails there first, by name.
"""

import inspect
import warnings
from dataclasses import dataclass
from functools import cached_property, partial

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection._search import BaseSearchCV as BaseSearchCV
from sklearn.model_selection._validation import _fit_and_score
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils.parallel import Parallel, _get_threadpool_controller, delayed
from sklearn.utils.validation import _check_sample_weight

check_sample_weight = _check_sample_weight
rows_of = _safe_indexing  # of arrays, frames, sparse matrices and lists
threadpool_controller = _get_threadpool_controller


def seeded_clone(estimator, seed):
    """Return a clone that draws from no global generator: a `random_state` of None is the seed."""
    cloned = clone(estimator)
    params = cloned.get_params()
    names = [name for name in params if name.split("__")[-1] == "random_state"]
    return cloned.set_params(**{name: seed for name in names if params[name] is None})


def check_scores(search, scores):
    """Refuse scores that scikit-learn would stumble over, or refuse, after the search.

    Only the first scores tell how many metrics a callable `scoring`, or an estimator, returns.

    Parameters
    ----------
    search : BaseSearchCV
    scores : float or dict
        Of one fit.

    Raises
    ------
    ValueError
        If there are several metrics, and refit is neither False, nor callable, nor one of them; or
        if they are of the estimator's own ``score``.
    """
    if not isinstance(scores, dict):
        return
    if search.scoring is None:
        raise ValueError(
            f"score of the estimator must return a number: got a dict of {list(scores)}. Give "
            "scoring=lambda model, X, y: model.score(X, y) and refit=, the name of one of them."
        )
    if callable(search.scoring):
        search._check_refit_for_multimetric(scores)


@dataclass(frozen=True, eq=False)
class SearchState:
    """What a search works on while it runs.

    Attributes
    ----------
    estimator : estimator object
    X, y : object
        The data, as ``fit`` passes them on.
    splitter : splitter
        What `cv` was read as.
    split_params, fit_params, score_params : dict
        The parameters of ``fit`` that are routed to splitter, estimator and scorers.
    arguments : dict
        What all fits have in common but these.
    parallel : joblib.Parallel
        Open.
    """

    estimator: object
    X: object
    y: object
    splitter: object
    split_params: dict
    fit_params: dict
    score_params: dict
    arguments: dict
    parallel: object

    def split(self):
        """Return the (train, test) pairs of indices."""
        return self.splitter.split(self.X, self.y, **self.split_params)

    def n_splits(self):
        """Return the number of pairs, which older versions tell the search when it ends."""
        return self.splitter.get_n_splits(self.X, self.y, **self.split_params)


def search_state(evaluate_candidates):
    """Return what a running search works on.

    `BaseSearchCV.fit` hands its ``_run_search`` nothing but ``evaluate_candidates``; all else is in
    that function's closure.
    """
    names = inspect.getclosurevars(evaluate_candidates).nonlocals
    splitter = names["cv_orig"] if "cv_orig" in names else names["self"]._checked_cv_orig
    routed = names["routed_params"]
    return SearchState(
        estimator=names["base_estimator"],
        X=names["X"],
        y=names["y"],
        splitter=splitter,
        split_params=dict(routed.splitter.split),
        fit_params=dict(routed.estimator.fit),
        score_params=dict(routed.scorer.score),
        arguments=names["fit_and_score_kwargs"],
        parallel=names["parallel"],
    )


def fit_parameters(search, params):
    """Return those parameters of a search's ``fit`` that are for the ``fit`` of its estimator."""
    return search._get_routed_params_for_fit(params).estimator.fit


class _Unmasking:
    """A scorer that gives no masked scores, of one metric or of several in a dict."""

    def __init__(self, scorer, error_score):
        self.scorer, self.error_score = scorer, error_score

    def __repr__(self):
        return repr(self.scorer)

    def __call__(self, *args, **kwargs):
        return _without_masked(self.scorer(*args, **kwargs), self.error_score)


class _UnmaskingAll(_MultimetricScorer):
    """The same for several scorers, of which scikit-learn asks for their errors as text."""

    def __init__(self, scorer, error_score):
        super().__init__(scorers=scorer._scorers, raise_exc=scorer._raise_exc)
        self.error_score = error_score

    def __call__(self, *args, **kwargs):
        return _without_masked(super().__call__(*args, **kwargs), self.error_score)


def _without_masked(scores, error_score):
    if isinstance(scores, dict):
        return {name: _without_masked(score, error_score) for name, score in scores.items()}
    if not np.ma.is_masked(scores):
        return scores
    text = "scoring must return a number, got a masked one, which says that there is none."
    if error_score == "raise":
        raise ValueError(f"{text} Return it unmasked, or give error_score a number.")
    text = f"{text} The score is set to error_score={error_score}."
    warnings.warn(text, UserWarning, stacklevel=2)
    return error_score


def metadata_request(estimator):
    """Return which metadata an estimator has been set to ask for; None if nothing was set."""
    return vars(estimator).get("_metadata_request")


def adopt_rows(evaluate_candidates, rows):
    """Make a search that evaluated nothing take `rows` for what it evaluated.

    After ``_run_search``, `BaseSearchCV.fit` looks at the first row, and takes the dict that
    ``evaluate_candidates`` made last for ``cv_results_``.

    Parameters
    ----------
    evaluate_candidates : callable
        Which has not returned yet.
    rows : list of dict
        At least one.

    Returns
    -------
    table : dict
        Empty; what is put into it becomes ``cv_results_``.
    """
    names = inspect.getclosurevars(evaluate_candidates).nonlocals
    names["all_out"].extend(rows)
    return names["results"]


def format_results(search, params, n_splits, rows, more_columns):
    """Return the columns of ``cv_results_`` for candidates whose fits returned `rows`."""
    return search._format_results(params, n_splits, rows, more_columns)


class SearchFits:
    """The fits of a search, as scikit-learn would make them, to be made anywhere.

    Parameters
    ----------
    state : SearchState
    """

    def __init__(self, state):
        self._state = state
        [(self._function, _, _)] = _Configured()([delayed(_fit_and_score)()])
        scorer, error_score = state.arguments["scorer"], state.arguments["error_score"]
        unmasking = _UnmaskingAll if isinstance(scorer, _MultimetricScorer) else _Unmasking
        self._arguments = {**state.arguments, "scorer": unmasking(scorer, error_score)}
        self._has_callbacks = _holds_callbacks(state.estimator)

    @cached_property
    def _splits(self):
        """Made once: with a shuffling splitter without a seed others would be made another time."""
        splits, n_splits = list(self._state.split()), self._state.n_splits()
        if len(splits) != n_splits:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {n_splits} splits, got {len(splits)}"
            )
        return splits

    def of(self, params, progress, callback_ctx=None, caller=None):
        """Return the fits of a candidate, one for every split.

        Parameters
        ----------
        params : dict
        progress : (int, int)
            The number of the candidate, from 0 on, and of how many; for what is printed.
        callback_ctx : CallbackContext or None, default=None
            Of the candidate, for scikit-learn's callbacks.
        caller : BaseSearchCV or None, default=None

        Returns
        -------
        fits : list of callable
            With (estimator, X, y) to be given: see `arguments`.
        """
        n = len(self._splits)
        return [
            partial(
                self._function,
                train=train,
                test=test,
                parameters=params,
                split_progress=(i, n),
                candidate_progress=progress,
                **self._arguments,
                **self._watched(callback_ctx, caller, i),
            )
            for i, (train, test) in enumerate(self._splits)
        ]

    def arguments(self):
        """Return estimator, X and y of one fit."""
        return clone(self._state.estimator), self._state.X, self._state.y

    def _watched(self, callback_ctx, caller, split):
        """Return what only callbacks are shown: it would be pickled with every fit, and grows."""
        if callback_ctx is None or not (callback_ctx._callbacks or self._has_callbacks):
            return {}
        ctx = callback_ctx.subcontext(task_name="candidate-split-evaluation", task_id=split)
        return {"callback_ctx": ctx, **({"caller": caller} if callback_ctx._callbacks else {})}


def _holds_callbacks(estimator):
    """Whether an estimator, or one that is a parameter of it, has callbacks of its own."""
    parts = [estimator, *estimator.get_params().values()]
    return any(vars(part).get("_skl_callbacks") for part in parts if hasattr(part, "__dict__"))


class _Listed(joblib.Parallel):
    def __call__(self, iterable):
        return list(iterable)


class _Configured(Parallel, _Listed):
    """Returns what scikit-learn's `Parallel` would hand to joblib's, its configuration included."""
