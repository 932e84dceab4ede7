"""Lazy import of classes that need an optional library."""


def __getattr__(name):
    if name != "SILBOSampler":
        raise AttributeError(f"module 'skbo_silbo.integrations' has no attribute {name!r}")
    from skbo_silbo.integrations._optuna_sampler import SILBOSampler

    return SILBOSampler
