"""Every experiment by its name: all that the files of this folder define."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType

from skbo_silbo.benchmarks.engine import Experiment


def find_experiments(package, folders):
    """Return the experiments that the modules of a package define.

    Parameters
    ----------
    package : str
    folders : iterable of str
        Its ``__path__``.

    Returns
    -------
    experiments : dict
        Name to `Experiment`, by name.

    Raises
    ------
    ValueError
        When two experiments have the same name.
    """
    found = {}
    for module in iter_modules(folders):
        if f"{package}.{module.name}" == __name__:
            continue
        for value in vars(import_module(f"{package}.{module.name}")).values():
            if not isinstance(value, Experiment):
                continue
            if found.setdefault(value.name, value) is not value:
                raise ValueError(
                    f"name of an experiment must be its own: {value.name!r} is in "
                    f"{module.name} and elsewhere. Rename one."
                )
    return dict(sorted(found.items()))


EXPERIMENTS = MappingProxyType(find_experiments(__package__, [str(Path(__file__).parent)]))
