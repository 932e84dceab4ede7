"""What an objective returned: a value, and perhaps constraints."""

import numpy as np


def as_number(value):
    """Return what an objective returned as a float; NaN for what is masked.

    Raises
    ------
    TypeError
        When it is no real number.
    """
    if value is np.ma.masked or np.ma.is_masked(value):
        return float("nan")
    if isinstance(value, tuple):
        raise TypeError(
            f"func must return one real number: got {value!r}. If the second part are values of "
            "constraints, say how many there are: minimize(..., n_constraints=m)."
        )
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "fiub":
        raise TypeError(
            f"func must return one real number: got {array!r}. Return float('nan') for a failure."
        )
    return float(array.reshape(()))


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
    constraints = np.ma.filled(np.ma.atleast_1d(np.ma.asarray(returned[1])).astype(float), np.nan)
    if constraints.shape != (n_constraints,):
        raise _not_a_pair(returned, n_constraints)
    return number, constraints


def _not_a_pair(returned, n_constraints):
    return TypeError(
        f"func must return (value, constraints), the latter of length n_constraints="
        f"{n_constraints} and at most 0 where they hold: got {returned!r}. Return float('nan') "
        "for a failure of which no constraint is known."
    )
