"""Transformers that learn the few directions a response depends on."""

from ._active_subspace import ActiveSubspace
from ._hessian import PrincipalHessianDirections
from ._kernel_sir import KernelSlicedInverseRegression
from ._labels import LabelledData, split_labelled
from ._outer_products import OuterProductGradients
from ._scatter import local_membership
from ._second_moments import DirectionalRegression, SlicedAverageVarianceEstimation
from ._semi_sir import SemiSlicedInverseRegression
from ._slices import Slices, slice_response
from ._sparse_sir import SparseSlicedInverseRegression
from ._streaming import slice_edges

__all__ = [
    "ActiveSubspace",
    "DirectionalRegression",
    "KernelSlicedInverseRegression",
    "LabelledData",
    "OuterProductGradients",
    "PrincipalHessianDirections",
    "SemiSlicedInverseRegression",
    "SlicedAverageVarianceEstimation",
    "Slices",
    "SparseSlicedInverseRegression",
    "local_membership",
    "slice_edges",
    "slice_response",
    "split_labelled",
]
