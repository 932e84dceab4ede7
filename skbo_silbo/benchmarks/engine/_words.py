"""Sizes and numbers as words."""

import numpy as np


def shape(problem):
    """Problem as words: sizes first as n x d."""
    problem = dict(problem)
    rest = " ".join(f"{k}={v}" for k, v in problem.items() if k not in ("n", "d"))
    return f"{problem['n']} x {problem['d']} {rest}".strip()


def spread(values, digits=2):
    """``median (least to most)``."""
    values = np.asarray(values, dtype=float)
    low, high = f"{values.min():.{digits}f}", f"{values.max():.{digits}f}"
    middle = f"{np.median(values):.{digits}f}"
    return f"{middle} ({low} to {high})" if len(values) > 1 else middle
