"""Supervised dimension reduction: learn the few directions on which a response depends."""

from ._active_subspace import ActiveSubspace
from ._hessian import PrincipalHessianDirections
from ._kernel_sir import KernelSlicedInverseRegression
from ._outer_products import MAVE, OuterProductGradients
from ._recursive_feature_machine import RecursiveFeatureMachine
from ._sdr_classifier import SDRClassifier
from ._sdr_regressor import SDRRegressor
from ._second_moments import DirectionalRegression, SlicedAverageVarianceEstimation
from ._semi_sir import SemiSlicedInverseRegression
from ._sir import SlicedInverseRegression
from ._sparse_sir import SparseSlicedInverseRegression
from .rows._labels import LabelledData, split_labelled
from .slicing._chunks import slice_edges
from .slicing._slices import Slices, slice_response

__all__ = [
    "MAVE",
    "ActiveSubspace",
    "DirectionalRegression",
    "KernelSlicedInverseRegression",
    "LabelledData",
    "OuterProductGradients",
    "PrincipalHessianDirections",
    "RecursiveFeatureMachine",
    "SDRClassifier",
    "SDRRegressor",
    "SemiSlicedInverseRegression",
    "SlicedAverageVarianceEstimation",
    "SlicedInverseRegression",
    "Slices",
    "SparseSlicedInverseRegression",
    "slice_edges",
    "slice_response",
    "split_labelled",
]
