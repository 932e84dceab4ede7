"""When the embedding is learnt again."""

from collections.abc import Sequence
from numbers import Integral

from skbo_silbo._checks import check_count


def check_schedule(update_every):
    """Return `update_every` after checking it: None, an int, or a rising tuple of int.

    Raises
    ------
    ValueError
        When it is none of these.
    """
    if update_every is None:
        return None
    if isinstance(update_every, Integral) and not isinstance(update_every, bool):
        return check_count("update_every", update_every)
    is_list = isinstance(update_every, Sequence) and not isinstance(update_every, str)
    if not is_list or list(update_every) != sorted(set(update_every)) or not update_every:
        raise ValueError(
            "update_every must be None, an integer, or a rising list of numbers of values: got "
            f"{update_every!r}. Write update_every=[20] to learn once more, from 20 values."
        )
    return tuple(check_count("update_every", n) for n in update_every)


def is_update_due(schedule, n, learnt_at):
    """Return whether an embedding learnt from `learnt_at` values is due again at n.

    Examples
    --------
    >>> is_update_due(20, 69, 50), is_update_due(20, 70, 50), is_update_due(None, 900, 50)
    (False, True, False)
    >>> is_update_due((20,), 20, 10), is_update_due((20,), 40, 20)
    (True, False)
    """
    if schedule is None:
        return False
    if isinstance(schedule, tuple):
        return any(learnt_at < at <= n for at in schedule)
    return n - learnt_at >= schedule
