"""Warning of runs that end before the model proposes a point."""

from skbo_silbo._checks import warn_user
from skbo_silbo.evaluation.loop import EvaluationLoop
from skbo_silbo.optimizers import EmbeddedOptimizer


class FirstPointsOnlyWarning(UserWarning):
    """Warning that a run ends before the model proposes any points."""


def warn_of_first_points_only(loop: EvaluationLoop, *, is_chosen: bool) -> None:
    """Warn if a resumed run will end before the model proposes any points.

    The initial design is not shortened to the budget, so that a run can be resumed with a larger
    one. There is no warning without a model, or if the budget exhausts a finite space. A design
    whose size the user has chosen may use the whole budget, or be continued from a journal.
    """
    optimizer, n_calls, name = loop.optimizer, loop.budget.n, loop.budget.name
    initial, evaluated = loop.proposals.initial, [t for t in loop.trials if t.is_evaluated]
    n_due = len(evaluated) + len(initial) + len(loop.proposals.waiting)
    is_modelled = isinstance(optimizer, EmbeddedOptimizer) and n_calls < optimizer.space_.n_points
    if n_due >= n_calls or not is_modelled:
        return
    n_given = len(optimizer.func_vals_) - sum(trial.is_modelled for trial in evaluated)
    n_outside = sum(not trial.is_modelled for trial in evaluated)
    n_outside += sum(not loop.log.points.is_inside(point) for point, _ in initial)
    n, n_in_all = optimizer.n_initial_, n_given + n_calls
    n_modelled = n_in_all - n_outside
    if n_modelled > n or (is_chosen and (n_in_all >= n or loop.log.path is not None)):
        return
    given = f" ({n_given} of them with known values)" if n_given else ""
    more = f", plus {n_outside} outside the space (such as the untuned model)" if n_outside else ""
    warn_user(
        f"`{name}` must be greater than {n - n_given + n_outside} for the model to propose points, "
        f"got {n_calls}: the first n_initial={n} points{given} are a design made without a "
        f"model{more}. Increase {name}, reduce the design with n_initial="
        f"{max(n_modelled // 2, 1)}, or pass n_initial={n_in_all} to evaluate only a design.",
        FirstPointsOnlyWarning,
    )
