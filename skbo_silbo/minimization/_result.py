"""The result of `minimize`."""

from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from scipy.optimize import OptimizeResult
from sklearn.exceptions import NotFittedError

from skbo_silbo._evaluation_table import evaluation_table
from skbo_silbo._typing import FloatArray, PointT
from skbo_silbo.optimizers import AskTellOptimizer, EmbeddedOptimizer
from skbo_silbo.optimizers.predictions import Prediction

if TYPE_CHECKING:
    import pandas as pd


class MinimizeResult(OptimizeResult, Generic[PointT]):
    """Result of `minimize`, a `scipy.optimize.OptimizeResult`.

    Attributes are also entries: ``result.fun`` is the same as ``result["fun"]``. Type checkers
    infer the type of `x` from the annotation of the objective's argument, for example
    ``MinimizeResult[dict[str, Any]]``.

    Attributes
    ----------
    x : ndarray of shape (d,) or dict
        The best feasible point, or None if no feasible point has a finite value.
    x_recommended : ndarray of shape (d,) or dict
        The evaluated point with the lowest posterior mean. Use it if values are noisy. Its mean and
        standard deviation are in ``optimizer.recommended_``. Without a model, it is `x`.
    fun : float
        The observed value at `x`, or NaN if `x` is None.
    nfev : int
        Number of calls of the function, including failed ones. With a journal, calls of earlier
        runs are included.
    x_iters : ndarray of shape (n, d) or list of n dicts
        All points in the order of evaluation. Points with known values (`y0`) come first.
    func_vals : ndarray of shape (n,)
        The observed value of each point in `x_iters`.
    sources : list of n str
        Origin of each point: "given" (passed as `x0`, or to the optimiser by a callback), "init"
        (the initial design) or "model" (proposed by the model).
    resumed : list of n bool
        Whether each value was read from the journal of an earlier run.
    errors : list of n (str or None)
        Reason why an evaluation has no value, such as a timeout. It is None for all other
        evaluations.
    constraints : ndarray of shape (n, m)
        Observed constraint values of each point. Defined only with `n_constraints`.
    optimizer : AskTellOptimizer
        The optimiser, with all observations. To continue, use its `ask` and `tell` with values of
        the same sign. These values are not recorded, because the journal is closed.
    maximize : bool
        Whether the objective was maximised.
    objective : str
        Name of the objective, with its module.
    message : str
        Sentence that states why the search ended. It also says if no proposal improved on the
        initial design.
    stop_reason : str
        Why the search ended: "budget" (`n_calls` points were evaluated), "max_time", "target",
        "patience", "callback", "exhausted" (a finite space has no other point), "workers" (all
        hang), "interrupted" or "error".
    success : bool
        Whether the search was not interrupted and found a finite value.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> result = minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], n_calls=12, random_state=0)
    >>> result.nfev, result["nfev"], result.stop_reason, result.x_iters.shape
    (12, 12, 'budget', (12, 1))
    """

    def predict(self, x: PointT | Any) -> Prediction:
        """Predict the noise-free objective at one or more points.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or (n, d), list of n dicts or DataFrame of n rows

        Returns
        -------
        prediction : Prediction
            Predicted mean and standard deviation of the noise-free objective, in its units and
            sign, and the probability that learnt constraints hold.

        Raises
        ------
        NotFittedError
            If there is no model, because there are too few points or the method has none.
        """
        if not isinstance(self.optimizer, EmbeddedOptimizer):
            raise NotFittedError(
                f"predict needs a model, got {type(self.optimizer).__name__}, which has none. Use "
                "a method with one, such as 'silbo'."
            )
        return self.optimizer.predict(x)

    def evaluation_table(self) -> dict[str, list[Any]]:
        """Return the evaluations as a dict of columns, for use without pandas."""
        n, constraints = len(self.func_vals), self.get("constraints", np.empty((0, 0)))
        results = {"value": self.func_vals.tolist(), "source": self.sources}
        if any(self.resumed):
            results["resumed"] = self.resumed
        results |= {f"constraint_{i}": c.tolist() for i, c in enumerate(constraints.T)}
        feasible = self.optimizer.feasible_[:n]
        return evaluation_table(self.x_iters, results, self.func_vals, feasible, self.errors)

    def to_frame(self) -> "pd.DataFrame":
        """Return the evaluations as a pandas DataFrame, in the order of `x_iters`.

        Returns
        -------
        frame : DataFrame
            One column per parameter ("x0", "x1", ... for a box), then "value", "source" (see
            `sources`), "resumed" if a value was read from a journal, "constraint_0", ... if there
            are constraints, and "status". The status is "ok", "failed" (the value is NaN or
            infinite), "infeasible" (a constraint is violated or unknown) or the reason why there is
            no value. If a parameter has the name of one of these columns, an underscore is appended
            to the name of the column.

        Examples
        --------
        >>> from skbo_silbo import minimize
        >>> result = minimize(lambda x: x[0] ** 2, [(0, 1)], n_calls=8, random_state=0)
        >>> result.to_frame().columns.tolist()
        ['x0', 'value', 'source', 'status']
        """
        import pandas as pd

        return pd.DataFrame(self.evaluation_table())

    x: PointT | Any
    x_recommended: PointT | Any
    fun: float
    nfev: int
    x_iters: Any
    func_vals: FloatArray
    sources: list[str]
    resumed: list[bool]
    errors: list[str | None]
    constraints: FloatArray
    optimizer: AskTellOptimizer
    maximize: bool
    objective: str
    message: str
    stop_reason: str
    success: bool
