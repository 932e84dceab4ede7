"""Every experiment by its name: all that the modules of some folders define, but for scripts."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType

from skbo_silbo.benchmarks.engine import Experiment

OWN_MEASUREMENTS = Path(__file__).parents[3] / "doc" / "benchmarks" / "experiments"
"""Where a checkout keeps the project's own measurements; no other installation has the folder."""


def find_experiments(package, folders):
    """Return the experiments that the private modules, `_name.py`, of a package define.

    One of a later folder takes the place of one of the same name: in a checkout, files beside the
    data add to an experiment of the package what is reported of it there.

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
        When two experiments of a folder have the same name.
    """
    found = {}
    for folder in folders:
        found |= _experiments_in(folder, package, found)
    return MappingProxyType(dict(sorted(found.items())))


def _experiments_in(folder, package, known):
    found = {}
    for module in iter_modules([folder]):
        if not module.name.startswith("_"):  # a script: it may want packages of its own
            continue
        for value in vars(import_module(f"{package}.{module.name}")).values():
            if not isinstance(value, Experiment) or known.get(value.name) is value:
                continue
            if found.setdefault(value.name, value) is not value:
                raise ValueError(
                    f"name of an experiment must be its own: {value.name!r} is in "
                    f"{module.name} and elsewhere. Rename one."
                )
    return found
