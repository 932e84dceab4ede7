"""Tables with one row per evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skbo_silbo._typing import BoolArray, FloatArray


def evaluation_table(
    points: Any,
    results: Mapping[str, Sequence[Any]],
    values: FloatArray,
    feasible: BoolArray | bool = True,
    errors: Sequence[str | None] | None = None,
) -> dict[str, list[Any]]:
    """Return the evaluations of an optimiser as a dict of columns.

    A column of `results` that has the name of a parameter is renamed: ``value`` becomes ``value_``.
    The last column is the status of each evaluation: the reason why there is no value, "failed" if
    the value is not finite, "infeasible" if `feasible` is False, or "ok".

    Parameters
    ----------
    points : list of n dicts, or ndarray of shape (n, d)
    results : mapping of str to sequence of length n
        Columns other than the parameters, such as the values, by name.
    values : ndarray of shape (n,)
        Observed values.
    feasible : ndarray of bool of shape (n,), default=True
        Whether all constraints hold at each point.
    errors : list of n (str or None) or None, default=None
        Reason why an evaluation has no value, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._evaluation_table import evaluation_table
    >>> values = np.array([0.5, np.nan])
    >>> evaluation_table([{"C": 1.0}, {"kernel": "rbf"}], {"value": values.tolist()}, values)
    {'C': [1.0, None], 'kernel': [None, 'rbf'], 'value': [0.5, nan], 'status': ['ok', 'failed']}
    """
    if isinstance(points, np.ndarray):
        columns = {f"x{j}": column.tolist() for j, column in enumerate(points.T)}
    else:
        names = dict.fromkeys(name for point in points for name in point)
        columns = {name: [point.get(name) for point in points] for name in names}
    counted = np.where(feasible, "ok", "infeasible")
    status = np.where(np.isfinite(values), counted, "failed").tolist()
    if errors is not None:
        status = [error or text for error, text in zip(errors, status, strict=True)]
    table = dict(columns)
    for name, column in {**results, "status": status}.items():
        while name in columns:
            name += "_"
        table[name] = list(column)
    return table
