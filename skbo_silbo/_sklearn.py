"""Every private name of scikit-learn that this library uses, each with a test in the test suite.

``tests/house/test_sklearn_private.py`` says for each name what is needed of it, so that a
scikit-learn release which moves or changes one fails there first, by name.
"""

import inspect
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import joblib
import numpy as np
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection._search import BaseSearchCV as BaseSearchCV
from sklearn.model_selection._validation import _warn_or_raise_about_fit_failures
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils.parallel import Parallel, _get_threadpool_controller

rows_of = _safe_indexing  # of arrays, frames, sparse matrices and lists
threadpool_controller = _get_threadpool_controller


def is_all_fits_failed(error):
    """Return whether scikit-learn raised this error because every fit of one call failed.

    Such a ValueError has no type of its own. The function that raised it distinguishes it from
    others, such as one for an unknown parameter.

    Parameters
    ----------
    error : ValueError
        What ``evaluate_candidates`` raised.

    Returns
    -------
    bool
        True if all fits failed.
    """
    raised_in = traceback.extract_tb(error.__traceback__)[-1].name
    return raised_in == _warn_or_raise_about_fit_failures.__name__


def check_refit_names_a_metric(search, scores):
    """Refuse a `refit` that names none of several metrics, as scikit-learn does after the search.

    Only the first scores tell how many metrics a callable `scoring` returns.

    Parameters
    ----------
    search : BaseSearchCV
    scores : float or dict
        Of one fit.

    Raises
    ------
    ValueError
        If there are several metrics, and refit is neither False, nor callable, nor one of them.
    """
    if callable(search.scoring) and isinstance(scores, dict):
        search._check_refit_for_multimetric(scores)


@dataclass(frozen=True, eq=False)
class SearchState:
    """What a search works on while it runs.

    Attributes
    ----------
    X, y : object
        The data, as ``fit`` passes them on.
    splitter : splitter
        What `cv` was read as.
    split_params, fit_params, score_params : dict
        The parameters of ``fit`` that are routed to splitter, estimator and scorers.
    """

    X: object
    y: object
    splitter: object
    split_params: dict
    fit_params: dict
    score_params: dict

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
        X=names["X"],
        y=names["y"],
        splitter=splitter,
        split_params=dict(routed.splitter.split),
        fit_params=dict(routed.estimator.fit),
        score_params=dict(routed.scorer.score),
    )


def count_masked_scores_as_failed(evaluate_candidates):
    """Let a score that is masked count as one of a fit that fails; scikit-learn takes it for 0.

    Parameters
    ----------
    evaluate_candidates : callable
        What `BaseSearchCV` hands to ``_run_search``. Its scorers are replaced.
    """
    fitting = inspect.getclosurevars(evaluate_candidates).nonlocals["fit_and_score_kwargs"]
    scorer, error_score = fitting["scorer"], fitting["error_score"]
    unmasking = _UnmaskingAll if isinstance(scorer, _MultimetricScorer) else _Unmasking
    fitting["scorer"] = unmasking(scorer, error_score)


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


class _Taken(Exception):
    """The tasks of a call of `Parallel`, in place of their results."""

    def __init__(self, tasks):
        super().__init__(len(tasks))
        self.tasks = tasks


class _Taker(joblib.Parallel):
    def __call__(self, iterable):
        raise _Taken(list(iterable))


class _ConfiguredTaker(Parallel, _Taker):
    """Takes what scikit-learn's `Parallel` would hand to joblib's, its configuration included."""


def fits_of(evaluate_candidates, params, **kwargs):
    """Return the fits of one candidate that ``evaluate_candidates`` would make, without making any.

    Parameters
    ----------
    evaluate_candidates : callable
        What `BaseSearchCV` hands to ``_run_search``.
    params : dict
        The candidate.
    **kwargs
        Passed on.

    Returns
    -------
    fits : list of (function, args, kwargs)
        One for every split, that can be called anywhere.
    """
    try:
        with _parallel_replaced(evaluate_candidates, _ConfiguredTaker()):
            evaluate_candidates([params], **kwargs)
    except _Taken as taken:
        return [_without_caller(*task) for task in taken.tasks]
    raise RuntimeError("evaluate_candidates must call Parallel: this scikit-learn does not.")


def _without_caller(function, args, kwargs):
    """Take the search, and its context, from a fit where only callbacks would be shown them.

    They would be pickled with every fit, while the search goes on learning and its context grows.
    """
    context = kwargs.get("callback_ctx")
    if context is None or not context._callbacks:
        unseen = {"caller"} if _holds_callbacks(args[0]) else {"caller", "callback_ctx"}
        kwargs = {key: value for key, value in kwargs.items() if key not in unseen}
    return function, args, kwargs


def _holds_callbacks(estimator):
    """Whether an estimator, or one that is a parameter of it, has callbacks of its own."""
    parts = [estimator, *estimator.get_params().values()]
    return any(vars(part).get("_skl_callbacks") for part in parts if hasattr(part, "__dict__"))


@contextmanager
def with_results(evaluate_candidates, results):
    """Let ``evaluate_candidates`` take the results of fits for those of the fits it would make."""
    with _parallel_replaced(evaluate_candidates, lambda tasks: list(results)):
        yield


@contextmanager
def _parallel_replaced(evaluate_candidates, parallel):
    place = evaluate_candidates.__code__.co_freevars.index("parallel")
    cell = evaluate_candidates.__closure__[place]
    before, cell.cell_contents = cell.cell_contents, parallel
    try:
        yield
    finally:
        cell.cell_contents = before
