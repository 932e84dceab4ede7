"""What the observed values say of the inputs: which matter, and by how much."""

from skbo_silbo.sensitivity._input_model import InputModel
from skbo_silbo.sensitivity._input_shares import InputShares
from skbo_silbo.sensitivity._subspace import LearntSubspace, NotLowDimensionalWarning

__all__ = ["InputModel", "InputShares", "LearntSubspace", "NotLowDimensionalWarning"]
