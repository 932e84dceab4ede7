"""Minimise a function in one call."""

import inspect
import time

import numpy as np
from scipy.optimize import OptimizeResult

from skbo_silbo._checks import check_count
from skbo_silbo.optimizers._methods import METHODS
from skbo_silbo.space import SpaceExhausted


def minimize(
    func,
    bounds,
    *,
    method="silbo",
    n_calls=100,
    x0=None,
    y0=None,
    max_time=None,
    target=None,
    random_state=None,
    callback=None,
    **options,
):
    """Minimise an expensive function of many inputs.

    Parameters
    ----------
    func : callable
        Called with one point: ndarray of shape (d,), or a dict when `bounds` is a `Space`. Returns
        a number; NaN or infinite means that the evaluation failed and is avoided from then on.
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    method : {"silbo", "silbo-bu", "silbo-td", "silbo-bu-as-run", "silbo-td-as-run", "rembo", \
            "rembo-kx", "rembo-kpsi", "hesbo", "sir-bo", "si-bo", "add-bo", "bock", "random"}, \
            default="silbo"
        The optimiser. "silbo-bu" and "silbo-td" are the paper as printed (bottom-up and top-down;
        50 first points, the embedding learnt again every 20): `SILBO` with other options, which
        can be given too, for example ``acquisition="ei"``, ``embedding="semi-sir-local"``
        (the paper's pencil solved exactly), ``n_unlabeled=0`` (only labelled points) or
        ``update_every=None`` (only random points). Bottom-up evaluates every point again
        when the embedding changes; all of that is counted. "silbo-bu-as-run" and
        "silbo-td-as-run" are the code of the paper's authors, `SILBOAsRun`. The others are
        `REMBO` with three kernels, `HeSBO`, `SIRBO`, `SIBO`, `AddBO`, `BOCK` and `RandomSearch`.
    n_calls : int, default=100
        How often to call `func`, initial points included.
    x0 : point or several points, default=None
        Evaluated first (and counted), unless `y0` gives their values.
    y0 : float or array-like, default=None
        Known values of `x0`: told to the optimiser, neither evaluated nor counted.
    max_time : float, default=None
        Seconds after which no further call is started.
    target : float, default=None
        Stop once a value is at most this.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    callback : callable, default=None
        Called with the result so far after every call of `func`; a true return value stops.
    **options
        Further arguments of the optimiser, for example ``n_initial=20``.

    Returns
    -------
    result : scipy.optimize.OptimizeResult
        ``x`` and ``fun``: the best point and its value (None and NaN if no value is finite);
        ``x_iters`` and ``func_vals``: all points and values in order, those of `y0` first;
        ``nfev``: how often `func` was called, failures included; ``message``: why it ended;
        ``success``: whether it ended by itself with a finite value.

    Raises
    ------
    ValueError
        When the method or an option is unknown, or an argument is invalid; nothing is evaluated.
    Exception
        What `func` or `callback` raises is raised again, and nothing paid for is lost: the result
        so far is its attribute ``optimize_result`` (its ``x_iters`` and ``func_vals`` can be
        given as `x0` and `y0` to go on). Ctrl-C is not raised: it ends the search, and the
        result so far is returned with ``success=False``.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> bounds = [(0, 1), (0, 2)]
    >>> result = minimize(lambda x: (x[0] - 0.3) ** 2 + x[1], bounds, n_calls=25, random_state=0)
    >>> result.nfev, bool(result.fun < 0.01)
    (25, True)
    """
    optimizer = _make_optimizer(method, bounds, random_state, options)
    run = _Run(func, optimizer, check_count("n_calls", n_calls), max_time, target, callback)
    queue = run.prepare(x0, y0)
    try:
        message = run.loop(queue)
    except KeyboardInterrupt:
        return run.result("Interrupted (Ctrl-C): this is the result so far.", interrupted=True)
    except Exception as error:
        _attach(error, run.result(f"Stopped by {type(error).__name__}.", interrupted=True))
        raise
    return run.result(message)


class _Run:
    """One call of `minimize`: what it has done and when it must stop."""

    def __init__(self, func, optimizer, n_calls, max_time, target, callback):
        self.func, self.optimizer, self.n_calls = func, optimizer, n_calls
        self.max_time, self.target, self.callback = max_time, target, callback
        self.nfev = 0
        self.started = time.monotonic()

    def prepare(self, x0, y0):
        """Tell what is known; return the points of x0 that are still to be evaluated."""
        if x0 is None:
            if y0 is not None:
                raise ValueError("x0 must be given with y0: got y0 alone. Give the points too.")
            return []
        if y0 is not None:
            self.optimizer.tell(x0, y0)
            return []
        return self.optimizer.check_points(x0)

    def loop(self, queue):
        """Evaluate until something says stop; return what it was."""
        queue = list(queue)
        message = self._reason_to_stop()
        while message is None:
            try:
                point = queue.pop(0) if queue else self.optimizer.ask()
            except SpaceExhausted:
                return "Every point of the finite space has been evaluated."
            self._evaluate(point)
            message = self._reason_to_stop()
            if self.callback is not None and self.callback(self.result("Running.")):
                return "Stopped by the callback."
        return message

    def _evaluate(self, point):
        self.nfev += 1
        value = self.func(point.copy())  # the function may change its argument
        self.optimizer.tell(point, _as_number(value))

    def _reason_to_stop(self):
        values = self.optimizer.func_vals_
        if self.target is not None and np.any(values[np.isfinite(values)] <= self.target):
            return f"Target {self.target} reached."
        if self.nfev >= self.n_calls:
            return f"All {self.n_calls} calls made."
        if self.max_time is not None and time.monotonic() - self.started >= self.max_time:
            return f"Time limit of {self.max_time} s reached."
        return None

    def result(self, message, *, interrupted=False):
        values = self.optimizer.func_vals_
        found = bool(np.isfinite(values).any())
        return OptimizeResult(
            x=self.optimizer.best_x_ if found else None,
            fun=self.optimizer.best_y_ if found else float("nan"),
            nfev=self.nfev,
            x_iters=self.optimizer.x_iters_,
            func_vals=values,
            message=message,
            success=found and not interrupted,
        )


def _make_optimizer(method, bounds, random_state, options):
    if method not in METHODS:
        raise ValueError(f"method must be one of {sorted(METHODS)}: got {method!r}.")
    cls = METHODS[method]
    known = sorted(set(inspect.signature(cls).parameters) - {"bounds", "random_state"})
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ValueError(
            f"options of method {method!r} must be among {known}: got {unknown}. "
            "Remove or rename them."
        )
    return cls(bounds, random_state=random_state, **options)


def _as_number(value):
    value = np.asarray(value)
    if value.size != 1 or value.dtype.kind not in "fiub":
        raise TypeError(
            f"func must return one real number: got {value!r}. Return float('nan') for a failure."
        )
    return float(value.reshape(()))


def _attach(error, result):
    error.optimize_result = result
    error.add_note(
        f"minimize: {result.nfev} calls were made before this; their results are in the attribute "
        "'optimize_result' of this exception."
    )
