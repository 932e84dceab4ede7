"""Which module each door is in: it is imported when it is asked for, and its library with it."""

from importlib import import_module
from types import MappingProxyType

DOORS = MappingProxyType({"RayExecutor": "_ray_executor", "SILBOSampler": "_optuna_sampler"})


def __getattr__(name):
    if name not in DOORS:
        raise AttributeError(f"module 'skbo_silbo.integrations' has no attribute {name!r}")
    return getattr(import_module(f"skbo_silbo.integrations.{DOORS[name]}"), name)
