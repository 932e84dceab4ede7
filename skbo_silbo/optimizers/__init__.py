"""Optimisers of expensive functions: all are asked for points and told values."""

from skbo_silbo.optimizers._as_run import SILBOAsRun
from skbo_silbo.optimizers._baselines import BOCK, REMBO, SIRBO, AddBO, HeSBO
from skbo_silbo.optimizers._configuration import WARPS
from skbo_silbo.optimizers._evidence import choose_warp
from skbo_silbo.optimizers._minimize import minimize
from skbo_silbo.optimizers._random_search import RandomSearch
from skbo_silbo.optimizers._si_bo import SIBO
from skbo_silbo.optimizers._silbo import SILBO
from skbo_silbo.optimizers._subspace import LearntSubspace, NotLowDimensionalWarning
from skbo_silbo.space import SpaceExhausted

__all__ = [
    "AddBO",
    "BOCK",
    "HeSBO",
    "LearntSubspace",
    "NotLowDimensionalWarning",
    "REMBO",
    "RandomSearch",
    "SIBO",
    "SILBO",
    "SILBOAsRun",
    "SIRBO",
    "SpaceExhausted",
    "WARPS",
    "choose_warp",
    "minimize",
]
