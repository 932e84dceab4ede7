"""Classes for other libraries; each needs its library, and none is imported with this one."""

from skbo_silbo.integrations._lazy import __getattr__ as __getattr__

__all__ = ["SILBOSampler"]
