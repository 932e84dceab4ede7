"""What an experiment is: a grid of cells, how one of them is measured, how results are reported."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ._environment import installed_version


@dataclass(frozen=True)
class Cell:
    """One measurement: a method on a problem, once.

    Attributes
    ----------
    experiment : str
    problem : dict
        JSON values, for example ``{"n": 5000, "d": 100}``.
    method : str
    repeat : int
        Also the seed of the data, or of the method.
    """

    experiment: str
    problem: Mapping
    method: str
    repeat: int

    @property
    def key(self):
        """What makes the cell the same in another run, as one string."""
        return json.dumps(
            [self.experiment, dict(self.problem), self.method, self.repeat], sort_keys=True
        )

    def __str__(self):
        values = " ".join(f"{name}={value}" for name, value in self.problem.items())
        return f"{self.experiment} {values} {self.method} #{self.repeat}"


@dataclass(frozen=True)
class Grid:
    """Problems, and how often each is measured.

    Attributes
    ----------
    problems : tuple of dict
    n_repeats : int
    first : int
        The first repeat: seeds used for tuning are never those that are reported.
    methods : tuple of str or None
        Only these; None: all that run on a problem.
    """

    problems: tuple
    n_repeats: int
    first: int = 0
    methods: tuple | None = None


def all_is_fixed(experiment, variants):
    """Return the experiment; refuse variants.

    Raises
    ------
    ValueError
        When one is given.
    """
    if variants:
        raise ValueError(
            f"--variant must not be given with experiment {experiment.name!r}, which takes none: "
            f"got {', '.join(variants)}. Leave it out, or run 'public'."
        )
    return experiment


def no_command_options(results):
    """Options, beside the profile, with which results were measured: none."""
    return ""


def every_method(experiment, problem):
    """Names of the methods that run on `problem`: all."""
    return tuple(experiment.methods)


def no_excuse(problem, method):
    """Return why `method` is known to fail on `problem`: never."""


def nothing(*_):
    """Aims, pictures or first paragraphs of an experiment: none."""
    return []


@dataclass(frozen=True)
class Experiment:
    """A question, as data.

    Attributes
    ----------
    name : str
    methods : dict
        Name to the distribution that it needs installed ("" for this library).
    grids : dict
        Name of a profile to its `Grid`, or to a tuple of several; "full" is the published one.
    measure : callable
        (problem, method, repeat) to a dict of JSON values, called in a process of its own.
    report : callable
        Finished results (list of dict) to a list of paragraphs (str) and `Table`.
    figures : callable
        (results, folder) to pictures written there: list of (file name, caption).
    headline : callable
        Finished results to the paragraphs that a page begins with.
    aims : callable
        Finished results to a list of (aim, what was measured, whether it holds).
    methods_of : callable
        (experiment, problem) to the names of the methods that run on it.
    excuse : callable
        (problem, method) to the reason for which a failure is no surprise, or None.
    configure : callable
        (experiment, names of further methods) to the experiment that is run.
    command_options : callable
        Results to the words of a command line that `configure` reads.
    cap_seconds, cap_mib : int
        A cell that needs more is recorded as capped or failed, with these numbers.
    about : str
        One line for the list of experiments.
    """

    name: str
    methods: Mapping
    grids: Mapping
    measure: Callable
    report: Callable
    figures: Callable = nothing
    headline: Callable = nothing
    aims: Callable = nothing
    methods_of: Callable = every_method
    excuse: Callable = no_excuse
    configure: Callable = all_is_fixed
    command_options: Callable = no_command_options
    cap_seconds: int = 120
    cap_mib: int = 8192
    about: str = ""

    def cells(self, profile):
        """All cells of a profile, each once, in an order that lets load fall on all methods."""
        if profile not in self.grids:
            raise ValueError(
                f"profile must be one of {', '.join(map(repr, self.grids))} for experiment "
                f"{self.name!r}: got {profile!r}."
            )
        cells = [
            Cell(self.name, problem, method, repeat)
            for grid in self.grids_of(profile)
            for repeat in range(grid.first, grid.first + grid.n_repeats)
            for problem in grid.problems
            for method in self.methods_of(self, problem)
            if grid.methods is None or method in grid.methods
        ]
        return list({cell.key: cell for cell in cells}.values())

    def grids_of(self, profile):
        """Return the grids of a profile, a tuple."""
        grids = self.grids[profile]
        return grids if isinstance(grids, tuple) else (grids,)

    def missing_packages(self):
        """Distributions that a method needs and this environment lacks: {method: package}."""
        return {
            method: package
            for method, package in self.methods.items()
            if package and installed_version(package) is None
        }
