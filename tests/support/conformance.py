"""scikit-learn's own checks as a pytest parametrisation, for every version that we support."""

import itertools

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def conformance(estimators, *, but=None):
    """Decorate a test of ``(estimator, check)`` with every check of every estimator.

    `but` is a function of the estimator that gives the checks that cannot hold, with the reason.

    scikit-learn's ``parametrize_with_checks`` hands pytest a generator on some versions, which
    pytest 9 deprecates.
    """
    generators = (
        estimator_checks_generator(
            estimator, expected_failed_checks=but(estimator) if but else {}, mark="skip"
        )
        for estimator in estimators
    )
    return pytest.mark.parametrize(
        ("estimator", "check"),
        list(itertools.chain.from_iterable(generators)),
        ids=lambda value: getattr(getattr(value, "func", value), "__name__", None) or str(value),
    )
