"""Every experiment by its name: all that the modules of a folder define, but for scripts."""

from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from benchmarks.engine import Experiment


def find_experiments(package, folders):
    """Return the experiments that the private modules, `_name.py`, of a package define.

    Parameters
    ----------
    package : str
    folders : iterable of str
        Its ``__path__``.

    Returns
    -------
    experiments : mapping
        Name to `Experiment`, by name.

    Raises
    ------
    ValueError
        When two experiments have the same name.
    """
    found = {}
    for module in iter_modules(folders):
        if not module.name.startswith("_"):  # a script: it may want packages of its own
            continue
        for value in vars(import_module(f"{package}.{module.name}")).values():
            if not isinstance(value, Experiment):
                continue
            if found.setdefault(value.name, value) is not value:
                raise ValueError(
                    f"name of an experiment must be its own: {value.name!r} is in "
                    f"{module.name} and elsewhere. Rename one."
                )
    return MappingProxyType(dict(sorted(found.items())))
