"""Every private name of scikit-learn that this library uses, each with a test in the test suite.

``tests/test_sklearn_private.py`` says for each name what is needed of it, so that a scikit-learn
release which moves or changes one fails there first, by name.
"""

import inspect
import traceback
from dataclasses import dataclass

from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import _warn_or_raise_about_fit_failures
from sklearn.utils._param_validation import Interval
from sklearn.utils.parallel import _get_threadpool_controller

__all__ = [
    "BaseSearchCV",
    "Interval",
    "SearchState",
    "adopt_rows",
    "is_all_fits_failed",
    "one_thread",
    "search_state",
]


def is_all_fits_failed(error):
    """Return whether scikit-learn raised this error because every fit of one call failed.

    Such a ValueError has no type of its own, so it is told from others, such as one for an unknown
    parameter, by the function that raised it.

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


def one_thread():
    """Return a context in which the linear algebra libraries use one thread.

    With small matrices threads cost several times what they save.
    """
    return _get_threadpool_controller().limit(limits=1)


@dataclass(frozen=True, eq=False)
class SearchState:
    """What a search works on while it runs.

    Attributes
    ----------
    X, y : object
        The data, as ``fit`` passes them on.
    splitter : splitter
        What `cv` was read as.
    split_params, fit_params : dict
        The parameters of ``fit`` that are routed to the splitter and to the estimator.
    """

    X: object
    y: object
    splitter: object
    split_params: dict
    fit_params: dict

    def split(self):
        """Return the (train, test) pairs of indices."""
        return self.splitter.split(self.X, self.y, **self.split_params)


def search_state(evaluate_candidates):
    """Return what a running search works on.

    `BaseSearchCV.fit` hands its ``_run_search`` nothing but ``evaluate_candidates``; all else is in
    that function's closure.
    """
    names = inspect.getclosurevars(evaluate_candidates).nonlocals
    splitter = names["cv_orig"] if "cv_orig" in names else names["self"]._checked_cv_orig
    routed = names["routed_params"]
    return SearchState(
        names["X"], names["y"], splitter, dict(routed.splitter.split), dict(routed.estimator.fit)
    )


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
