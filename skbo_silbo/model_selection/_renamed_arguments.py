"""Error messages for arguments that have other names in other libraries."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import Any, TypeVar

from skbo_silbo._checks import did_you_mean

T = TypeVar("T")

# Names in GridSearchCV, scikit-optimize, Optuna and hyperopt -> names in SILBOSearchCV
RENAMED = MappingProxyType(
    {
        **dict.fromkeys(["n_trials", "n_calls", "max_evals"], "n_iter"),
        **dict.fromkeys(
            ["param_grid", "search_spaces", "search_space", "space", "bounds"],
            "param_distributions",
        ),
        **dict.fromkeys(
            ["direction", "maximize"], "scoring, whose metric the search always maximises,"
        ),
        **dict.fromkeys(["n_initial_points", "n_random_starts"], "n_initial"),
        "seed": "random_state",
        "n_points": "batch_size",
        "optimizer_kwargs": "optimizer_options",
    }
)


def explain_unknown_arguments(cls: type[T]) -> type[T]:
    """Make ``__init__`` of a class name the arguments to use instead of unknown ones."""
    init: Callable[..., None] = cls.__init__
    known = [*signature(init).parameters][1:]

    @wraps(init)
    def checked(self: T, *args: Any, **kwargs: Any) -> None:
        if unknown := [name for name in kwargs if name not in known]:
            called = "".join(f"{n} is {RENAMED[n]} here. " for n in unknown if n in RENAMED)
            question = called or did_you_mean(unknown, known)
            raise TypeError(
                f"{cls.__name__} got unexpected arguments {unknown}. {question}Remove or rename "
                f"them; the arguments are {', '.join(known)}."
            )
        init(self, *args, **kwargs)

    cls.__init__ = checked  # type: ignore[method-assign, assignment]
    return cls
