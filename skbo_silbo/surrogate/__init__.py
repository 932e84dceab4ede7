"""Models of the objective: what its values may be where it has not been evaluated."""

from skbo_silbo.surrogate._additive import AdditiveProcess
from skbo_silbo.surrogate._central_differences import central_differences
from skbo_silbo.surrogate._cylindrical import CylindricalProcess
from skbo_silbo.surrogate._feasibility import (
    Feasibility,
    fit_feasibility,
    restore_feasibility,
    scaled_constraint,
)
from skbo_silbo.surrogate._image_process import ImageProcess
from skbo_silbo.surrogate._images import clipped_image, warped_image
from skbo_silbo.surrogate._makers import (
    AdditiveMaker,
    CylindricalMaker,
    ImageMaker,
    ProcessMaker,
    RegressorMaker,
    is_due,
    log_density_by_folds,
    make_surrogates,
)
from skbo_silbo.surrogate._prior import (
    LEAST_SPARSE_DIMENSION,
    PRIORS,
    dimension_scaled_prior,
    sparse_prior,
)
from skbo_silbo.surrogate._process import GaussianProcessSurrogate
from skbo_silbo.surrogate._regressor import RegressorSurrogate, check_regressor
from skbo_silbo.surrogate._surrogate_protocol import Surrogate, SurrogateMaker, Warp
from skbo_silbo.surrogate._warps import (
    WARPS,
    AsTold,
    HalfLog,
    LogAboveLeast,
    choose_warp,
)

__all__ = [
    "AdditiveMaker",
    "AdditiveProcess",
    "AsTold",
    "CylindricalMaker",
    "CylindricalProcess",
    "Feasibility",
    "GaussianProcessSurrogate",
    "HalfLog",
    "ImageMaker",
    "ImageProcess",
    "LEAST_SPARSE_DIMENSION",
    "LogAboveLeast",
    "PRIORS",
    "ProcessMaker",
    "RegressorMaker",
    "RegressorSurrogate",
    "Surrogate",
    "SurrogateMaker",
    "WARPS",
    "Warp",
    "central_differences",
    "check_regressor",
    "choose_warp",
    "clipped_image",
    "dimension_scaled_prior",
    "fit_feasibility",
    "is_due",
    "log_density_by_folds",
    "make_surrogates",
    "restore_feasibility",
    "scaled_constraint",
    "sparse_prior",
    "warped_image",
]
