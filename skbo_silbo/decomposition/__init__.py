"""Transformers that learn the few directions a response depends on."""

from ._active_subspace import ActiveSubspace
from ._second_moments import DirectionalRegression, SlicedAverageVarianceEstimation
from ._semi_sir import SemiSlicedInverseRegression

__all__ = [
    "ActiveSubspace",
    "DirectionalRegression",
    "SemiSlicedInverseRegression",
    "SlicedAverageVarianceEstimation",
]
