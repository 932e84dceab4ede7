"""Optimisers of expensive functions: all are asked for points and told values."""

from skbo_silbo.optimizers._base import AskTellOptimizer
from skbo_silbo.optimizers._baselines import BOCK, REMBO, SIRBO, AddBO, HeSBO
from skbo_silbo.optimizers._configuration import WARPS
from skbo_silbo.optimizers._evidence import choose_warp
from skbo_silbo.optimizers._input_model import InputModel
from skbo_silbo.optimizers._input_shares import InputShares
from skbo_silbo.optimizers._minimize import minimize
from skbo_silbo.optimizers._random_search import RandomSearch
from skbo_silbo.optimizers._silbo import SILBO
from skbo_silbo.optimizers._subspace import (
    LearntSubspace,
    NotLowDimensionalWarning,
    count_directions,
)
from skbo_silbo.space import SpaceExhausted

__all__ = [
    "AddBO",
    "AskTellOptimizer",
    "BOCK",
    "HeSBO",
    "InputModel",
    "InputShares",
    "LearntSubspace",
    "NotLowDimensionalWarning",
    "REMBO",
    "RandomSearch",
    "SILBO",
    "SIRBO",
    "SpaceExhausted",
    "WARPS",
    "choose_warp",
    "count_directions",
    "minimize",
]
