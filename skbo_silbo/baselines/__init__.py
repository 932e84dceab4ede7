"""Optimisers of the literature, on the same loop."""

from skbo_silbo.baselines._baselines import BOCK, REMBO, SIRBO, AddBO, HeSBO
from skbo_silbo.baselines._random_search import RandomSearch
from skbo_silbo.baselines._si_bo import SIBO
from skbo_silbo.baselines._silbo_as_run import SILBOAsRun

__all__ = ["AddBO", "BOCK", "HeSBO", "REMBO", "RandomSearch", "SIBO", "SILBOAsRun", "SIRBO"]
