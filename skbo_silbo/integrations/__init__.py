"""Doors from other libraries; none is imported with this one, and each needs its library."""

from skbo_silbo.integrations._doors import __getattr__

__all__ = ["RayExecutor", "SILBOSampler"]
