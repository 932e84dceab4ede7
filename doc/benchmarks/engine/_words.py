"""Sizes and numbers as words."""

import numpy as np


def shape(problem):
    """Problem as words: sizes, where it has them, first as n x d."""
    problem = dict(problem)
    sizes = " x ".join(str(problem[k]) for k in ("n", "d") if k in problem)
    rest = " ".join(f"{k}={v}" for k, v in problem.items() if k not in ("n", "d"))
    return f"{sizes} {rest}".strip()


def spread(values, digits=2):
    """``median (least to most)``."""
    values = np.asarray(values, dtype=float)
    low, high = f"{values.min():.{digits}f}", f"{values.max():.{digits}f}"
    middle = f"{np.median(values):.{digits}f}"
    return f"{middle} ({low} to {high})" if len(values) > 1 else middle
