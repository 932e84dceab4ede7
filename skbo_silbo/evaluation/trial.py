"""Evaluations of single points, and the interface between the loop and the objective."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skbo_silbo._checks import LONGEST_SHOWN, brief


@dataclass(frozen=True, eq=False)
class Observation:
    """Values observed by evaluating one point.

    Parameters
    ----------
    y : float
        Value to be minimised, or NaN if the evaluation failed.
    others : dict, default={}
        Other observed values, as keyword arguments of `tell`: ``constraints`` or ``goals``.
    error : str or None, default=None
        Reason why the evaluation has no value, or None if it has one.
    rows : list of dict or None, default=None
        Scores and times of each split in a hyperparameter search, otherwise None.
    """

    y: float
    others: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    rows: list[dict[str, Any]] | None = None


@dataclass(eq=False)
class Trial:
    """A point and the state of its evaluation.

    Parameters
    ----------
    point : ndarray or dict
    source : str
        Origin of the point: "given" (passed by the user), "known" (a configuration that performed
        well on other data, or the estimator's parameters after moving them into the space), "init"
        (the initial design) or "model" (proposed by the model).
    is_modelled : bool, default=True
        Whether the observation is passed to the optimiser. It is False if the point is outside the
        search space.
    is_evaluated : bool, default=True
        Whether the point was evaluated. It is False if the user supplied its value.
    is_resumed : bool, default=False
        Whether an earlier run evaluated the point.

    Attributes
    ----------
    number : int
        Number of the evaluation, in the order in which evaluations started.
    batch, position : int
        Number of the batch, and position of the point within the batch.
    attempts : int
        Number of times that the evaluation has begun, including attempts in which the process died.
    results : dict
        Return values of the finished calls, by the position of the call.
    proposal_time : float
        Time in seconds that proposing the point took. NaN if it was not proposed.
    observation : Observation or None
    row : int or None
        Index of the observation in the optimiser. None until it is passed to the optimiser.
    record : dict or None
        Journal record of the observation. None until there is an observation.
    """

    point: Any
    source: str
    is_modelled: bool = True
    is_evaluated: bool = True
    is_resumed: bool = False
    number: int = 0
    batch: int = 0
    position: int = 0
    attempts: int = 0
    results: dict[int, Any] = field(default_factory=dict)
    proposal_time: float = math.nan
    observation: Observation | Any = None  # so that each use need not ask for None
    row: int | None = None
    record: dict[str, Any] | None = None


class Evaluation(ABC):
    """Interface for evaluating a point by function calls, such as one fit per split.

    Attributes
    ----------
    n_calls : int
        Number of calls that are needed to evaluate a point.
    """

    n_calls: int

    @abstractmethod
    def calls(self, trial: Trial) -> Sequence[tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Return the calls that evaluate a point, each as a function and its arguments."""

    @abstractmethod
    def observation(self, trial: Trial) -> Observation:
        """Compute the observation of a trial from the return values of its calls."""

    @abstractmethod
    def failure(self, trial: Trial, why: str, error: BaseException) -> Observation:
        """Return the observation of a failed evaluation, or raise the error that ended it."""

    def record(self, trial: Trial) -> dict[str, Any]:
        """Return JSON-compatible data about a trial to store in the journal."""
        return {}

    def rows_from_record(self, content: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Restore the result rows of a trial from the data returned by `record`."""
        return None


def format_point(point: Any) -> str:
    """Format a point as one line of text, abbreviated if it has many inputs."""
    if isinstance(point, np.ndarray):
        return np.array2string(point, precision=4, threshold=6, max_line_width=LONGEST_SHOWN)
    return brief(point)
