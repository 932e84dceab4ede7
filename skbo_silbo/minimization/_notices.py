"""What is said of a search: a warning where it ends with the first points, lines while it runs."""

from time import perf_counter

from skbo_silbo._checks import check_integer, warn_user
from skbo_silbo.optimizers import AskTellOptimizer, EmbeddedOptimizer


class FirstPointsOnlyWarning(UserWarning):
    """The budget ends with the first points, before there is a model to propose others."""


def warn_of_first_points_only(
    optimizer: AskTellOptimizer, name: str, budget: int, n_known: int
) -> None:
    """Warn where a model will propose none of the points that a budget pays for.

    The number of first points is not cut to the budget: what is proposed depends on what is known,
    so that a search can go on with a greater one as if it had been meant from the start.

    An optimiser without a model is not warned of, nor a finite space that the budget exhausts.
    `name` is the argument that is the budget; the `n_known` values known without it take the place
    of first points.
    """
    if not isinstance(optimizer, EmbeddedOptimizer) or budget >= optimizer.space_.n_points:
        return
    n, n_in_all = optimizer.n_initial_, n_known + budget
    if n_in_all > n:
        return
    known = f" ({n_known} known ones count)" if n_known else ""
    warn_user(
        f"{name} must be greater than {n - n_known} for the model to propose points: got {budget}, "
        f"and the first {n} points{known} are a design made without a model. Give {name} more, or "
        f"fewer first points (n_initial={max(n_in_all // 2, 1)}); n_initial={n} says that all of "
        "this is meant.",
        FirstPointsOnlyWarning,
    )


def make_report(verbose, n_calls):
    """Return what prints a line for a result and the value last found; None where it is silent.

    Parameters
    ----------
    verbose : int
        0: nothing; 1: when the best value improves; 2 or more: always.
    n_calls : int
        Calls that there will be.

    Raises
    ------
    ValueError
        When `verbose` is no integer of at least 0.
    """
    if not isinstance(verbose, bool):
        check_integer("verbose", verbose, 0)
    if not verbose:
        return None
    began, best = perf_counter(), [None]

    def report(result, value):
        improved, best[0] = result.fun == result.fun and result.fun != best[0], result.fun
        if verbose > 1 or improved:
            print(
                f"[{result.nfev}/{n_calls}] value {value:.6g}, best {result.fun:.6g}, "
                f"{perf_counter() - began:.1f} s"
            )

    return report
