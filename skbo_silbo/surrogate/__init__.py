"""Models of the objective: what its values may be where it has not been evaluated."""

from skbo_silbo.surrogate._additive import AdditiveProcess
from skbo_silbo.surrogate._central_differences import central_differences
from skbo_silbo.surrogate._cylindrical import CylindricalProcess
from skbo_silbo.surrogate._ensemble import EnsembleSurrogate
from skbo_silbo.surrogate._image_process import ImageProcess
from skbo_silbo.surrogate._images import clipped_image, warped_image
from skbo_silbo.surrogate._makers import (
    AdditiveMaker,
    CylindricalMaker,
    ImageMaker,
    ProcessMaker,
    RegressorMaker,
    TurnsMaker,
    is_due,
    make_surrogates,
)
from skbo_silbo.surrogate._prior import (
    PRIORS,
    dimension_scaled_prior,
    half_cauchy_prior,
    sparse_prior,
)
from skbo_silbo.surrogate._process import GaussianProcessSurrogate
from skbo_silbo.surrogate._regressor import RegressorSurrogate, check_regressor
from skbo_silbo.surrogate._warps import AsTold, HalfLog, LogAboveLeast

__all__ = [
    "AdditiveMaker",
    "AdditiveProcess",
    "AsTold",
    "CylindricalMaker",
    "CylindricalProcess",
    "EnsembleSurrogate",
    "GaussianProcessSurrogate",
    "HalfLog",
    "ImageMaker",
    "ImageProcess",
    "LogAboveLeast",
    "PRIORS",
    "ProcessMaker",
    "RegressorMaker",
    "RegressorSurrogate",
    "TurnsMaker",
    "central_differences",
    "check_regressor",
    "clipped_image",
    "dimension_scaled_prior",
    "half_cauchy_prior",
    "is_due",
    "make_surrogates",
    "sparse_prior",
    "warped_image",
]
