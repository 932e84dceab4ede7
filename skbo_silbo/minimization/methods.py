"""Create the optimiser for the argument `method` of `minimize`."""

import inspect
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from skbo_silbo import baselines
from skbo_silbo._checks import brief, did_you_mean
from skbo_silbo.optimizers import SILBO, AskTellOptimizer

BASE = "skbo_silbo.optimizers.AskTellOptimizer"
REMEDY = "The page 'Write your own components' of the documentation shows how to write one."
PARALLEL = {"n_jobs", "n_workers", "max_workers", "workers"}  # arguments of other libraries
ALIASES = MappingProxyType({"acq_func": "acquisition", "initial_params": "x0", "n_iter": "n_calls"})
METHODS = MappingProxyType(
    {
        "silbo": SILBO,
        "silbo-bu": baselines.SILBOBottomUp,
        "silbo-td": baselines.SILBOTopDown,
        "rembo": baselines.REMBO,
        "hesbo": baselines.HeSBO,
        "random": baselines.RandomSearch,
    }
)


def make_optimizer(
    method: Any, bounds: Any, random_state: Any, options: Mapping[str, Any], others: Any = ()
) -> AskTellOptimizer:
    """Create the optimiser, given the option `method`.

    Parameters
    ----------
    method : str or callable
        Key of `METHODS`, or a class or function that is called as
        ``method(bounds, random_state=..., **options)`` and returns an optimiser.
    bounds : array-like, Bounds, dict, list or Space
    random_state : int, RandomState, Generator or None
    options : dict
    others : list of str, default=()
        Names of arguments of `minimize` that error messages list next to the options of the
        method.

    Raises
    ------
    ValueError
        If the method is unknown, does not accept the options, or does not return an optimiser.
    """
    make = _maker(method)
    _check_options(method, make, options, others)
    optimizer = make(bounds, random_state=random_state, **options)
    if not isinstance(optimizer, AskTellOptimizer) or optimizer.maximize:
        raise ValueError(
            f"method must make an {BASE} with maximize=False: {method!r} made {optimizer!r}. "
            f"Write minimize(..., maximize=True). {REMEDY}"
        )
    return optimizer


def _maker(method: Any) -> Callable[..., Any]:
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]
    is_class = isinstance(method, type)
    if callable(method) and (not is_class or issubclass(method, AskTellOptimizer)):
        return method
    raise ValueError(
        f"method must be one of {sorted(METHODS)}, got {brief(method)}. Or give an {BASE} by its "
        f"class, or by a function of bounds and random_state that makes one. {REMEDY}"
    )


def _check_options(
    method: Any, make: Callable[..., Any], options: Mapping[str, Any], others: Collection[str]
) -> None:
    known = inspect.signature(make).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    if "random_state" not in known:
        raise ValueError(
            f"method must take bounds and random_state: {method!r} takes {', '.join(known)}. "
            f"{REMEDY}"
        )
    names = sorted(set(known) - {"bounds", "random_state", "journal", *others})
    if unknown := sorted(set(options) - set(names)):
        of_others = {name for m in METHODS.values() for name in inspect.signature(m).parameters}
        misspelt = [name for name in unknown if name not in of_others]
        question = did_you_mean([ALIASES.get(n, n) for n in misspelt], [*names, *others])
        if others and PARALLEL.intersection(misspelt):
            question = "Pass executor=ProcessPoolExecutor(4), or n_jobs=4 to SILBOSearchCV. "
        if {"noise", "noise_std"}.intersection(misspelt):
            question = "Pass known noise to SILBO.tell(..., noise_std=...). "
        own = f"; arguments of minimize itself are {', '.join(others)}" if others else ""
        rule = f"options of method {method!r} must be among {names}"
        raise ValueError(
            f"{question}{rule if names else f'method {method!r} takes no options'}, got {unknown}. "
            f"Remove or rename them{own}."
        )
