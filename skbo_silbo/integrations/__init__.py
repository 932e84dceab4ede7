"""Integrations with optional libraries, which are only imported when used."""

from skbo_silbo.integrations._lazy import __getattr__ as __getattr__

__all__ = ["SILBOSampler"]
