"""Tables with one row per evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skbo_silbo._typing import BoolArray, FloatArray


def evaluation_table(
    points: Any, results: Mapping[str, Sequence[Any]], status: Sequence[str]
) -> dict[str, list[Any]]:
    """Return the evaluations of an optimiser as a dict of columns.

    A column of `results` that has the name of a parameter is renamed: ``value`` becomes ``value_``.

    Parameters
    ----------
    points : list of n dicts, or ndarray of shape (n, d)
    results : mapping of str to sequence of length n
        Columns other than the parameters, such as the values, by name.
    status : sequence of str
        Status of each evaluation: "ok", "failed", "infeasible", or the reason why there is no
        value.

    Examples
    --------
    >>> from skbo_silbo._evaluation_table import evaluation_table
    >>> evaluation_table([{"C": 1.0}, {"kernel": "rbf"}], {"value": [0.5, 0.7]}, ["ok", "ok"])
    {'C': [1.0, None], 'kernel': [None, 'rbf'], 'value': [0.5, 0.7], 'status': ['ok', 'ok']}
    """
    if isinstance(points, np.ndarray):
        columns = {f"x{j}": column.tolist() for j, column in enumerate(points.T)}
    else:
        names = dict.fromkeys(name for point in points for name in point)
        columns = {name: [point.get(name) for point in points] for name in names}
    table = dict(columns)
    for name, column in {**results, "status": status}.items():
        while name in columns:
            name += "_"
        table[name] = list(column)
    return table


def evaluation_status(values: FloatArray, feasible: BoolArray | bool = True) -> list[str]:
    """Return the status of each evaluation: "failed", "infeasible" or "ok".

    An evaluation has failed if its value is not finite, and is infeasible if `feasible` is False.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._evaluation_table import evaluation_status
    >>> evaluation_status(np.array([1.0, 2.0, np.nan]), np.array([True, False, True]))
    ['ok', 'infeasible', 'failed']
    """
    counted = np.where(feasible, "ok", "infeasible")
    status: list[str] = np.where(np.isfinite(values), counted, "failed").tolist()
    return status
