"""A word of warning where a budget ends with the first points."""

import warnings

from skbo_silbo.optimizers import AskTellOptimizer, EmbeddedOptimizer


class FirstPointsOnlyWarning(UserWarning):
    """The budget ends with the first points, before there is a model to propose others."""


def warn_of_first_points_only(
    optimizer: AskTellOptimizer, name: str, budget: int, n_known: int, stacklevel: int
) -> None:
    """Warn where a model will propose none of the points that a budget pays for.

    The number of first points is not cut to the budget: what is proposed depends on what is known,
    so that a search can go on with a greater one as if it had been meant from the start.

    An optimiser without a model is not warned of, nor a finite space that the budget exhausts.
    `name` is the argument that is the budget; the `n_known` values known without it take the place
    of first points; `stacklevel` is the caller's caller's.
    """
    if not isinstance(optimizer, EmbeddedOptimizer) or budget >= optimizer.space_.n_points:
        return
    n, n_in_all = optimizer.n_initial_, n_known + budget
    if n_in_all > n:
        return
    known = f" ({n_known} known ones count)" if n_known else ""
    warnings.warn(
        f"{name} must be greater than {n - n_known} for the model to propose points: got {budget}, "
        f"and the first {n} points{known} are a design made without a model. Give {name} more, or "
        f"fewer first points (n_initial={max(n_in_all // 2, 1)}); n_initial={n} says that all of "
        "this is meant.",
        FirstPointsOnlyWarning,
        stacklevel=stacklevel + 1,
    )
