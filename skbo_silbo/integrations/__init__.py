"""Doors from other libraries; none is imported with this one, and each needs its library."""

from skbo_silbo.integrations._optuna_sampler import SILBOSampler

__all__ = ["SILBOSampler"]
