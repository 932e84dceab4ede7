"""Checks of parameters that several transformers share."""

from ..._checks import check_integer

# what n_components can be, beside a number, where there are tests and a criterion
COMPONENT_WORDS = ("auto", "permutation", "criterion")
TESTED_WORDS = ("auto", "permutation")  # those of them that test


def check_n_components(value, n_features, words=("auto",)):
    """Refuse what is none of the `words` nor an integer from 1 to `n_features`."""
    if isinstance(value, str) and value in words:
        return
    check_integer("n_components", value, 1, special=", ".join(map(repr, words)))
    if value > n_features:
        raise ValueError(
            f"n_components must be at most {n_features} (n_features): got {value}. "
            "Use n_components='auto' or fewer components."
        )


# what limits the directions of methods that whiten X
INDEPENDENT = "features that vary independently"


def check_identified(value, limit, what="directions identified by the slices", remedy=""):
    """Refuse a number of components above the `limit`, which is the number of `what`."""
    if not isinstance(value, str) and value > limit:
        raise ValueError(
            f"n_components must be at most {limit}, the number of {what}: got {value}. Use "
            f"n_components='auto'{remedy}."
        )


def check_enough_rows(name, n, d):
    """Refuse data whose whitened rows carry no second moments."""
    if n - 1 <= d:
        raise ValueError(
            f"X must have more labelled rows than features + 1 for {name}: got {n} labelled rows "
            f"and {d} features. Reduce the features first, or use SemiSlicedInverseRegression."
        )
