"""Doors from other libraries; none is imported with this one, and each needs its library."""

from skbo_silbo.integrations._doors import __getattr__ as __getattr__
from skbo_silbo.integrations._ray_executor import RayExecutor

__all__ = ["RayExecutor", "SILBOSampler"]
