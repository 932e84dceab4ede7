"""What a parameter may be, in a few words."""

import numpy as np

from skbo_silbo.space._value_words import in_words

MOST = 6  # values that are written out


def range_in_words(parameter):
    """Return name and range: the ends of a distribution with its name, or the values.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from skbo_silbo.space._parse import read_parameter
    >>> range_in_words(read_parameter("C", loguniform(1e-3, 1e3)))
    'C: 0.001 to 1000 (loguniform)'
    >>> range_in_words(read_parameter("depth", range(1, 100)))
    'depth: 1, 2, 3, ..., 99'
    >>> range_in_words(read_parameter("kernel", ["rbf", "poly"]))
    "kernel: 'rbf', 'poly'"
    """
    if parameter.values is not None:
        return f"{parameter.name}: {_values(parameter.values)}"
    low, high = parameter.decode(np.array([[-1.0], [1.0]]))
    kind = getattr(getattr(parameter.distribution, "dist", None), "name", None)
    return f"{parameter.name}: {low:.6g} to {high:.6g}" + (f" ({kind})" if kind else "")


def _values(values):
    words = [in_words(value) for value in values]
    return ", ".join(words if len(words) <= MOST else [*words[:3], "...", words[-1]])
