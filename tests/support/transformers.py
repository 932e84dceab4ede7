"""Discovery of the estimators of a package, so that common tests include new ones."""

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator


def estimators_defined_in(package):
    """Return the concrete estimator classes that modules of a package define, sorted by name."""
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    found = set()
    for module in (importlib.import_module(f"{package.__name__}.{name}") for name in names):
        found |= {
            cls
            for _, cls in inspect.getmembers(module, inspect.isclass)
            if issubclass(cls, BaseEstimator) and cls.__module__ == module.__name__
        }
    return sorted((cls for cls in found if not inspect.isabstract(cls)), key=lambda c: c.__name__)
