"""Models of the objective: what its values may be where it has not been evaluated."""

from skbo_silbo.surrogate._gaussian_process import GaussianProcessSurrogate

__all__ = ["GaussianProcessSurrogate"]
