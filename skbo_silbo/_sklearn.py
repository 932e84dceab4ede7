"""Every private name of scikit-learn that this library uses, each with a test in the test suite.

``tests/test_sklearn_private.py`` says for each name what is needed of it, so that a scikit-learn
release which moves or changes one fails there first, by name.
"""

import traceback

from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import _warn_or_raise_about_fit_failures
from sklearn.utils._param_validation import Interval
from sklearn.utils.parallel import _get_threadpool_controller

__all__ = ["BaseSearchCV", "Interval", "is_all_fits_failed", "one_thread"]


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
