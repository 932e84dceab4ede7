"""Supervised dimension reduction: learn the few directions on which a response depends."""

from skbo_silbo.decomposition._active_subspace import ActiveSubspace
from skbo_silbo.decomposition._hessian import PrincipalHessianDirections
from skbo_silbo.decomposition._kernel_sir import KernelSlicedInverseRegression
from skbo_silbo.decomposition._outer_products import MAVE, OuterProductGradients
from skbo_silbo.decomposition._recursive_feature_machine import RecursiveFeatureMachine
from skbo_silbo.decomposition._sdr_classifier import SDRClassifier
from skbo_silbo.decomposition._sdr_regressor import SDRRegressor
from skbo_silbo.decomposition._second_moments import (
    DirectionalRegression,
    SlicedAverageVarianceEstimation,
)
from skbo_silbo.decomposition._semi_sir import SemiSlicedInverseRegression
from skbo_silbo.decomposition._sir import SlicedInverseRegression
from skbo_silbo.decomposition._sparse_sir import SparseSlicedInverseRegression
from skbo_silbo.decomposition.rows._reading import LabelledData, split_labelled
from skbo_silbo.decomposition.slicing._slices import Slices, slice_response

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
    "slice_response",
    "split_labelled",
]
