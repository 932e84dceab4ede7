"""Optimisers of expensive functions: all are asked for points and told values."""

from skbo_silbo.optimizers._base import AskTellOptimizer
from skbo_silbo.optimizers._baselines import BOCK, REMBO, SIRBO, AddBO, HeSBO
from skbo_silbo.optimizers._configuration import Configuration
from skbo_silbo.optimizers._first_points import (
    FirstPointsOnlyWarning,
    warn_of_first_points_only,
)
from skbo_silbo.optimizers._history import BeyondModelWarning
from skbo_silbo.optimizers._input_model import InputModel
from skbo_silbo.optimizers._input_shares import InputShares
from skbo_silbo.optimizers._loop import EmbeddedOptimizer
from skbo_silbo.optimizers._methods import METHODS
from skbo_silbo.optimizers._minimize import minimize
from skbo_silbo.optimizers._random_search import RandomSearch
from skbo_silbo.optimizers._result import MinimizeResult
from skbo_silbo.optimizers._si_bo import SIBO
from skbo_silbo.optimizers._silbo import SILBO
from skbo_silbo.optimizers._silbo_as_run import SILBOAsRun
from skbo_silbo.optimizers._state import option_names
from skbo_silbo.optimizers._subspace import (
    LearntSubspace,
    NotLowDimensionalWarning,
    count_directions,
)
from skbo_silbo.space import SpaceExhausted
from skbo_silbo.workers import LostEvaluationWarning, LostWorkerError

__all__ = [
    "AddBO",
    "AskTellOptimizer",
    "BOCK",
    "Configuration",
    "EmbeddedOptimizer",
    "BeyondModelWarning",
    "FirstPointsOnlyWarning",
    "HeSBO",
    "InputModel",
    "InputShares",
    "LearntSubspace",
    "LostEvaluationWarning",
    "LostWorkerError",
    "METHODS",
    "MinimizeResult",
    "NotLowDimensionalWarning",
    "REMBO",
    "RandomSearch",
    "SIBO",
    "SILBO",
    "SILBOAsRun",
    "SIRBO",
    "SpaceExhausted",
    "count_directions",
    "minimize",
    "option_names",
    "warn_of_first_points_only",
]
