"""Sensitivity analysis of an objective: the importance of inputs and directions."""

from skbo_silbo.sensitivity._input_model import InputModel
from skbo_silbo.sensitivity._input_shares import InputShares
from skbo_silbo.sensitivity._subspace import LearntSubspace

__all__ = ["InputModel", "InputShares", "LearntSubspace"]
