"""SILBO as a package of OptunaHub."""

from skbo_silbo.integrations import SILBOSampler

__all__ = ["SILBOSampler"]
