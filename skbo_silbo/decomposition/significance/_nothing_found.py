"""What to say where a method finds no direction: that there is none, or that it cannot see it."""

from ..._checks import warn_user
from ._sequential_tests import SIGNIFICANCE
from ._variance_tests import dependence_p_values

LEVEL = 0.001  # of the tests that mean or variance of X differs between slices


def warn_of_none(
    why=f"tests at level {SIGNIFICANCE} cannot distinguish y from noise",
    remedy="Label more rows, take fewer slices",
):
    """Say that no direction was found, why, and what else to do than giving a number."""
    warn_user(
        f"No direction was found: {why}. n_components_ is 0, and components_ keeps the first "
        f"direction, which may mean nothing. {remedy}, or give n_components if you know that there "
        "are directions."
    )


def warn_of_unseen(
    X, y, weights, sees, *, found=0, sees_means=False, sees_variances=False, **of_none
):
    """Say that y depends on X in a way that the method does not see, or that nothing was found.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, q)
    weights : ndarray of shape (n,) or None
        Of the rows, as numbers of rows.
    sees : str
        What the method does see.
    found : int, default=0
        Directions found; where there are some, no word is said of noise.
    sees_means, sees_variances : bool, default=False
        Whether it looks at means, and variances, of X within slices itself.
    **of_none : str
        For `warn_of_none`.
    """
    of_means, of_variances = dependence_p_values(X, y, weights)
    unseen = [1.0 if sees_means else of_means, 1.0 if sees_variances else of_variances]
    if sees_means and of_means <= SIGNIFICANCE:  # what moves the means moves the variances too
        unseen = [1.0]
    if min(unseen) <= LEVEL:
        other = "SlicedInverseRegression"
        if unseen[0] > LEVEL:
            other = "SlicedAverageVarianceEstimation"
        warn_user(
            f"Little was found, and the coverage condition fails: the method sees {sees}, but X "
            f"differs between slices of y, in its means with p = {of_means:.2g}, in its variances "
            f"with p = {of_variances:.2g}. {other} and DirectionalRegression see what differs, and "
            "MAVE and OuterProductGradients with target='central'."
        )
    elif not found:
        warn_of_none(**of_none)
