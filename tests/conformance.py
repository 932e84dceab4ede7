"""scikit-learn's own checks as a pytest parametrisation, for every version that we support."""

import itertools

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def conformance(estimators):
    """Decorate a test of ``(estimator, check)`` with every check of every estimator.

    scikit-learn's ``parametrize_with_checks`` hands pytest a generator on some versions, which
    pytest 9 deprecates.
    """
    generators = (estimator_checks_generator(estimator) for estimator in estimators)
    return pytest.mark.parametrize(
        ("estimator", "check"),
        list(itertools.chain.from_iterable(generators)),
        ids=lambda value: getattr(getattr(value, "func", value), "__name__", None) or str(value),
    )
