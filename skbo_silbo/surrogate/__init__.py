"""Models of the objective: what its values may be where it has not been evaluated."""

from skbo_silbo.surrogate._central_differences import central_differences
from skbo_silbo.surrogate._makers import ProcessMaker, log_density_by_folds
from skbo_silbo.surrogate._surrogate_protocol import Surrogate, SurrogateMaker, Warp

__all__ = [
    "ProcessMaker",
    "Surrogate",
    "SurrogateMaker",
    "Warp",
    "central_differences",
    "log_density_by_folds",
]
