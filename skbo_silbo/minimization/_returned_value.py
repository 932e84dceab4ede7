"""What an objective returned: a value, and perhaps constraints."""

import numpy as np

from skbo_silbo._checks import as_reals


def as_number(value):
    """Return what an objective returned as a float; NaN for what is masked.

    Raises
    ------
    TypeError
        When it is no real number.
    """
    if isinstance(value, tuple):
        raise TypeError(
            f"func must return one real number: got {value!r}. If the second part are values of "
            "constraints, say how many there are: minimize(..., n_constraints=m)."
        )
    number = as_reals(value)
    if number is None or number.size != 1:
        raise TypeError(
            f"func must return one real number: got {value!r}. Return float('nan') for a failure."
        )
    return float(number.item())


def as_outcome(returned, n_constraints):
    """Return what an objective returned as a float and its constraints, (m,), or None.

    Parameters
    ----------
    returned : object
        A number, or (number, m numbers) where there are constraints; NaN alone for a failure.
    n_constraints : int
        m.

    Raises
    ------
    TypeError
        When it is something else.
    """
    if not n_constraints:
        return as_number(returned), None
    is_pair = isinstance(returned, tuple | list) and len(returned) == 2
    number = as_number(returned[0] if is_pair else returned)
    if not is_pair:
        if not np.isnan(number):
            raise _not_a_pair(returned, n_constraints)
        return number, None
    constraints = as_reals(returned[1])
    if constraints is None or np.atleast_1d(constraints).shape != (n_constraints,):
        raise _not_a_pair(returned, n_constraints)
    return number, np.atleast_1d(constraints)


def _not_a_pair(returned, n_constraints):
    return TypeError(
        "func must return (value, constraints), the latter of length n_constraints="
        f"{n_constraints}, real numbers, at most 0 where they hold: got {returned!r}. Return "
        "float('nan') for a failure of which no constraint is known."
    )
