"""A plugin of pytest: scikit-learn's tests meet SILBOSearchCV under RandomizedSearchCV's name."""

import sklearn.model_selection

from skbo_silbo import SILBOSearchCV


def pytest_configure():
    """Only where it is a plugin: other tests import this file to look for doctests."""
    sklearn.model_selection.RandomizedSearchCV = SILBOSearchCV
