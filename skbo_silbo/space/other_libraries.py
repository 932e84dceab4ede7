"""Recognise search spaces in the notation of other libraries, and show how to write them here."""

from collections.abc import Sequence
from typing import Any

from skbo_silbo._checks import brief
from skbo_silbo.space.values import is_number

# Equivalents of hyperopt's expressions, by name and number of arguments
HYPEROPT = {
    ("loguniform", 2): "scipy.stats.loguniform(numpy.exp({0}), numpy.exp({1}))",
    ("quniform", 3): "numpy.arange({0}, {1} + {2} / 2, {2})",
    ("randint", 1): "scipy.stats.randint(0, {0})",
    ("randint", 2): "scipy.stats.randint({0}, {1})",
    ("normal", 2): "scipy.stats.norm({0}, {1})",
    ("lognormal", 2): "scipy.stats.lognorm({1}, scale=numpy.exp({0}))",
}


def equivalent(dimension: Any) -> str | None:
    """Return how to write a dimension of scikit-optimize, Optuna or hyperopt with SciPy.

    Returns
    -------
    code : str or None
        Code of an equivalent list or distribution. None if the object does not belong to one of
        these libraries.

    Examples
    --------
    >>> from skopt.space import Real  # doctest: +SKIP
    >>> equivalent(Real(1e-3, 1e3, prior="log-uniform"))  # doctest: +SKIP
    'scipy.stats.loguniform(0.001, 1000.0)'
    >>> print(equivalent([1, 2]))
    None
    """
    library = type(dimension).__module__.partition(".")[0]
    if library == "hyperopt":
        return _of_hyperopt(dimension)
    if library not in ("skopt", "optuna"):
        return None
    values = getattr(dimension, "categories", getattr(dimension, "choices", None))
    if values is not None:
        return repr(list(values))
    is_integer = type(dimension).__name__.startswith("Int")
    low, high, step = dimension.low, dimension.high, getattr(dimension, "step", None)
    if step is not None and not (is_integer and step == 1):
        return HYPEROPT["quniform", 3].format(low, high, step)
    is_log = getattr(dimension, "log", getattr(dimension, "prior", None) == "log-uniform")
    return interval(low, high, is_log=is_log, is_integer=is_integer)


def interval(low: float, high: float, *, is_log: bool, is_integer: bool) -> str:
    """Return code for all numbers or integers from `low` to `high`, both included.

    Examples
    --------
    >>> interval(0.1, 0.3, is_log=False, is_integer=False)
    'scipy.stats.uniform(0.1, 0.3 - 0.1)'
    >>> interval(1, 9, is_log=False, is_integer=True)
    'scipy.stats.randint(1, 9 + 1)'
    """
    if is_log and is_integer:
        return f"numpy.unique(numpy.geomspace({low}, {high}, 20).round().astype(int))"
    if is_integer:
        return f"scipy.stats.randint({low}, {high} + 1)"
    if is_log:
        return f"scipy.stats.loguniform({low}, {high})"
    return f"scipy.stats.uniform({low}, {high} - {low})"


def refuse_dimensions(bounds: Any) -> None:
    """Raise an error if bounds are a list with dimensions of another library.

    Raises
    ------
    ValueError
        The message shows an equivalent `Space`.
    """
    if not isinstance(bounds, Sequence) or not any(map(equivalent, bounds)):
        return
    names = (getattr(dimension, "name", None) or f"x{i}" for i, dimension in enumerate(bounds))
    codes = (equivalent(dimension) or _of_pair(dimension) for dimension in bounds)
    entries = ", ".join(f'"{name}": {code}' for name, code in zip(names, codes, strict=True))
    raise ValueError(
        f"`bounds` must be pairs of numbers or a Space, got {brief(bounds)}. Write "
        f"Space({{{entries}}})."
    )


def _of_pair(bounds):
    if isinstance(bounds, Sequence) and len(bounds) == 2 and all(map(is_number, bounds)):
        return interval(*bounds, is_log=False, is_integer=False)
    return brief(bounds)


def _of_hyperopt(node):
    """Return code for an expression of hyperopt, whose parameters are nested in its arguments."""
    if node.name == "switch":  # hp.choice
        return repr([getattr(choice, "obj", choice) for choice in node.pos_args[1:]])
    while node.name != "hyperopt_param" and node.pos_args:
        node = node.pos_args[0]
    drawn = node.pos_args[-1] if node.name == "hyperopt_param" else node
    numbers: list[Any] = [getattr(argument, "obj", None) for argument in drawn.pos_args]
    key = drawn.name, len(numbers)
    if key in (("uniform", 2), ("quniform", 2)) and all(map(is_number, numbers)):
        return interval(*numbers, is_log=False, is_integer=drawn.name == "quniform")
    return HYPEROPT.get(key, "a distribution of scipy.stats or a list").format(*numbers)
