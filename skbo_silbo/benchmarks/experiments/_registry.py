"""Every experiment by its name: all that the files of some folders define."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType

from skbo_silbo.benchmarks.engine import Experiment

OWN_MEASUREMENTS = Path(__file__).parents[3] / "doc" / "benchmarks" / "experiments"
"""Where a checkout keeps the project's own measurements; no other installation has the folder."""


def find_experiments(package, folders):
    """Return the experiments that the modules of a package define.

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
        for value in vars(import_module(f"{package}.{module.name}")).values():
            if not isinstance(value, Experiment):
                continue
            if found.setdefault(value.name, value) is not value:
                raise ValueError(
                    f"name of an experiment must be its own: {value.name!r} is in "
                    f"{module.name} and elsewhere. Rename one."
                )
    return MappingProxyType(dict(sorted(found.items())))
