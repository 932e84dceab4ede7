"""One point on its way through the loop, and what a loop needs to know about its objective."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skbo_silbo._checks import LONGEST_SHOWN, brief


@dataclass(frozen=True, eq=False)
class Observation:
    """The outcome of evaluating one point.

    Parameters
    ----------
    y : float
        Value to be minimised; NaN if the evaluation failed.
    told : dict, default={}
        What the optimiser is told besides the value: ``constraints`` or ``goals``, arrays.
    error : str or None, default=None
        Why no value could be computed.
    rows : list of dict or None, default=None
        One row of scores and times per split, of a search.
    """

    y: float
    told: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    rows: list[dict[str, Any]] | None = None


@dataclass(eq=False)
class Trial:
    """A point, and how far its evaluation has come.

    Parameters
    ----------
    point : ndarray or dict
    source : str
        Where the point comes from: "given", "known", "init" (the initial design), "model", or
        "resumed" (an earlier run evaluated it).
    is_modelled : bool, default=True
        Whether the optimiser is told; not if the point is outside the search space.
    is_evaluated : bool, default=True
        False if the user supplied the value.

    Attributes
    ----------
    number : int
        In the order in which evaluations began.
    batch, place : int
        Batch, and position in it.
    results : dict
        What its calls have returned, by their position.
    observation : Observation or None
    event : dict or None
        Its entry in the log, once there is an observation.
    """

    point: Any
    source: str
    is_modelled: bool = True
    is_evaluated: bool = True
    number: int = 0
    batch: int = 0
    place: int = 0
    results: dict[int, Any] = field(default_factory=dict)
    observation: Observation | None = None
    event: dict[str, Any] | None = None


class Evaluation(ABC):
    """How points are evaluated: by one call of a function, or one fit per split.

    Attributes
    ----------
    n_calls : int
        Calls per point.
    """

    n_calls: int

    @abstractmethod
    def calls(self, trial: Trial) -> Sequence[tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Return the calls that evaluate a point: functions and their arguments."""

    @abstractmethod
    def observation(self, trial: Trial) -> Observation:
        """Return the observation from what the calls returned, ``trial.results``."""

    @abstractmethod
    def failure(self, trial: Trial, why: str, error: BaseException) -> Observation:
        """Return the observation of an evaluation that was given up, or raise `error`."""

    def standard_error(self, trial: Trial | None) -> float:
        """Return the standard error of a value, for ``patience="auto"``; NaN if unknown."""
        return math.nan

    def record(self, trial: Trial) -> dict[str, Any]:
        """Return what a journal keeps besides the value and the error, as plain data."""
        return {}

    def rows_from_record(self, content: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Return the rows of an observation from what `record` returned."""
        return None


def format_point(point: Any) -> str:
    """Return a point as one line of text, abbreviated if it has many inputs."""
    if isinstance(point, np.ndarray):
        return np.array2string(point, precision=4, threshold=6, max_line_width=LONGEST_SHOWN)
    return brief(point)
