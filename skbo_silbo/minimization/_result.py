"""What `minimize` returns."""

from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from scipy.optimize import OptimizeResult
from sklearn.exceptions import NotFittedError

from skbo_silbo._typing import FloatArray, PointT
from skbo_silbo.optimizers import AskTellOptimizer, EmbeddedOptimizer
from skbo_silbo.optimizers._frame import evaluation_status, evaluation_table
from skbo_silbo.optimizers._html import search_html
from skbo_silbo.optimizers._predictions import Prediction

if TYPE_CHECKING:
    import pandas as pd

EDGE_ITEMS = 2  # shown at either end of a list of points, and of a point, as numpy does for arrays
MOST_SHOWN = 12  # items that are shown in full, as `OptimizeResult` does for arrays


class MinimizeResult(OptimizeResult, Generic[PointT]):
    """What `minimize` found: scipy's `OptimizeResult`, its entries with types.

    Every attribute is an entry too: ``result.fun`` is ``result["fun"]``. Type checkers know `x` by
    what the function is annotated to be called with: ``MinimizeResult[dict[str, Any]]``.

    Attributes
    ----------
    x : ndarray of shape (d,) or dict
        The best point; None if no value is finite, or none of them of a feasible point.
    x_recommended : ndarray of shape (d,) or dict
        The evaluated point with the lowest posterior mean, to be used where values are noisy:
        ``optimizer.recommended_`` has that mean and its deviation. `x` where there is no model.
    fun : float
        Its value; NaN if there is none.
    nfev : int
        How often the function was called, failures included; with a journal, in all runs.
    x_iters : ndarray of shape (n, d) or list of n dicts
        All points in order, those of `y0` first.
    func_vals : ndarray of shape (n,)
        Their values.
    sources : list of n str
        Where the points come from: "given" (`x0`), "init" (the initial design), "model", or
        "resumed" (an earlier run evaluated it).
    errors : list of n (str or None)
        Why an evaluation was given up, such as a timeout; otherwise None.
    constraints : ndarray of shape (n, m)
        Their constraints; only with `n_constraints`.
    optimizer : AskTellOptimizer
        The optimiser, with all observations. It can be asked and told further, in the same sign;
        that is not recorded in the journal, which is closed.
    maximize : bool
        Whether the highest value was looked for.
    message : str
        Why it ended, and whether no proposal improved on the initial design.
    stop_reason : str
        The same in a word: "budget" (`n_calls` is spent), "max_time", "target", "patience",
        "callback", "exhausted" (a finite space has no other point), "workers" (all hang),
        "interrupted" or "error".
    success : bool
        Whether it ended by itself with a finite value.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> result = minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], n_calls=12, random_state=0)
    >>> result.nfev, result["nfev"], result.stop_reason, result.x_iters.shape
    (12, 12, 'budget', (12, 1))
    """

    def predict(self, x: PointT | Any) -> Prediction:
        """Return what the model expects of the function at one point or at several.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or (n, d), list of n dicts or DataFrame of n rows

        Returns
        -------
        prediction : Prediction
            Mean and deviation, without noise, in the units and the sign of the function, and the
            probability that learnt constraints hold.

        Raises
        ------
        NotFittedError
            When there is no model: too few points, or a method without one.
        """
        if not isinstance(self.optimizer, EmbeddedOptimizer):
            raise NotFittedError(
                f"predict needs a model, got {type(self.optimizer).__name__}, which has none. Use "
                "a method with one, such as 'silbo'."
            )
        return self.optimizer.predict(x)

    def evaluation_table(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame` as lists, without pandas."""
        n, constraints = len(self.func_vals), self.get("constraints", np.empty((0, 0)))
        results = {"value": self.func_vals.tolist(), "source": self.sources}
        results |= {f"constraint_{i}": c.tolist() for i, c in enumerate(constraints.T)}
        status = evaluation_status(self.func_vals, self.optimizer.feasible_[:n])
        status = [e or s for e, s in zip(self.errors, status, strict=True)]
        return evaluation_table(self.x_iters, results, status)

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas DataFrame with one row per evaluated point, in the order of `x_iters`.

        Returns
        -------
        frame : DataFrame
            One column per parameter ("x0", "x1", ... for a box), then "value", "source" (see
            `sources`), "constraint_0", ... where there are constraints, and "status": "ok",
            "failed" (the value is NaN or infinite), "infeasible" (a constraint is violated or not
            known) or why the evaluation was given up. If a parameter has one of these names, an
            underscore is appended to the other column.

        Examples
        --------
        >>> from skbo_silbo import minimize
        >>> result = minimize(lambda x: x[0] ** 2, [(0, 1)], n_calls=8, random_state=0)
        >>> result.to_frame().columns.tolist()
        ['x0', 'value', 'source', 'status']
        """
        import pandas as pd

        return pd.DataFrame(self.evaluation_table())

    def __repr__(self):
        return repr(OptimizeResult({name: _abbreviated(entry) for name, entry in self.items()}))

    def _repr_html_(self):
        """Return what was found, for notebooks."""
        # of an optimiser that has gone on since, as after a callback's
        feasible = self.optimizer.feasible_[: len(self.func_vals)]
        values = np.where(feasible, self.func_vals, np.nan)
        rows = {"Best value": self.fun, "at": "no point" if self.x is None else self.x}
        rows |= {"Calls": str(self.nfev), "Ended": self.message}
        title = "minimize, maximize=True" if self.maximize else "minimize"
        return search_html(title, rows, self.optimizer, values, self.maximize)

    x: PointT | Any
    x_recommended: PointT | Any
    fun: float
    nfev: int
    x_iters: Any
    func_vals: FloatArray
    sources: list[str]
    errors: list[str | None]
    constraints: FloatArray
    optimizer: AskTellOptimizer
    maximize: bool
    message: str
    stop_reason: str
    success: bool


def _abbreviated(entry):
    """Return long lists and named points as text of their first and last items."""
    if isinstance(entry, dict) and len(entry) > MOST_SHOWN:
        return _point_in_short(entry)
    if isinstance(entry, list) and all(isinstance(point, dict) for point in entry):
        return "[" + "\n ".join(_edges([_point_in_short(point) for point in entry])) + "]"
    if isinstance(entry, list) and len(entry) > MOST_SHOWN:
        return "[" + ", ".join(_edges(list(map(repr, entry)))) + "]"
    return entry


def _point_in_short(point):
    words = _edges([f"{name!r}: {value!r}" for name, value in point.items()])
    return "{" + ", ".join(words) + "}"


def _edges(words):
    """Return the first and the last of many words, with dots between."""
    is_short = len(words) <= 2 * EDGE_ITEMS
    return words if is_short else [*words[:EDGE_ITEMS], "...", *words[-EDGE_ITEMS:]]
