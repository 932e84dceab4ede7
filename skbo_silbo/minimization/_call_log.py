"""The calls that a journal knows, for both entry points: begun, ended by an exception or a death.

A point that kills its process (out of memory, a crash in compiled code) leaves no value, and is the
first that the next run would propose. So points are in the journal before they are evaluated. After
a death each that was under way is evaluated alone, and one that kills its process again has failed.
Values that the caller knows are told beside those that it has.
"""

from collections import Counter
from contextlib import suppress

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo.journal._describe import describe_function
from skbo_silbo.optimizers._history import as_constraints, as_evaluations
from skbo_silbo.optimizers._records import values_to_data
from skbo_silbo.space._keys import keys_of
from skbo_silbo.workers._calls import MOST_DEATHS, in_words

LONGEST_ERROR = 500  # characters
ENDED = ("not called", "raised", "left")  # events of calls that are not under way any more
MOST_RUNS = 2  # that a point may end by an exception, where the function works elsewhere


class CallLog:
    """What becomes of calls, written to a journal; without one nothing is.

    Parameters
    ----------
    log : EventLog or None
        Begun, and its events read.
    points : Points
    is_needed : bool, default=True
        Whether it is written which calls begin.

    Attributes
    ----------
    n_without_value : int
        How many calls of earlier runs gave no value: they raised, or a worker or the process
        ended with them.
    n_given : int
        How many values no call was made for.
    """

    def __init__(self, log, points, *, is_needed=True):
        self._log, self._points = log, points
        self._is_needed = is_needed and log is not None
        self._rows = {}  # by key, as they were written
        self._under_way, self._alone, self._raised = Counter(), Counter(), Counter()
        self._begun, self._known = Counter(), Counter()  # the latter without a call
        self.n_given = 0
        self._func = self._func_of_last_value = None  # as described; that of this run once it calls
        self._of_next_call = {}
        for event in [] if log is None else log.events:
            self._follow(event)
        self.n_without_value = self._begun.total()
        self._died, self._died_alone = self._under_way, self._alone
        self._under_way, self._alone = Counter(), Counter()

    def _follow(self, event):
        kind, keys = event.kind, Counter(event.keys)
        if kind == "told":
            given, self._known = keys & self._known, Counter()
            self.n_given += given.total()
            self._begun -= keys - given
            if keys - given:
                self._func_of_last_value = self._func
            self._forget(keys)
        elif kind == "called":
            self._rows.update(zip(event.keys, event.content[kind], strict=True))
            self._begun += keys
            self._func = event.content.get("func", self._func)
            self._under_way += keys
            self._alone += keys if event.content.get("alone") else Counter()
        elif kind == "given":
            self._known = keys
        elif kind in ENDED:
            self._begun -= keys if kind == "not called" else Counter()
            self._raised += keys if kind == "raised" else Counter()
            self._under_way -= keys
            self._alone -= keys

    def _forget(self, keys):
        for calls in (self._under_way, self._alone):
            for key in keys:
                calls.pop(key, None)

    def record_given_values(self, points):
        """Note that the next values, of these points, are not of calls."""
        self.n_given += len(points)
        self._write("given", points)

    def check_objective(self, func):
        """Warn if the last value is of another objective, and note this one with the next call."""
        if self._log is None:
            return
        then, now = self._func_of_last_value, None
        with suppress(Exception):  # the objective is the user's, and so is what its parts do
            now = describe_function(func)
        self._of_next_call = {"func": now}
        if then is not None and now is not None and then != now:
            warn_user(
                f"journal {self._log.path!r} has values of another objective: func "
                f"was {then['class']} and is {now['class']}, with another text, or bound to other "
                "values. Nothing is lost, and the search goes on from these values. Give "
                "another path for a new objective; go on if the values are the same."
            )

    def suspects(self):
        """Return the points that may have killed an earlier run."""
        rows = [self._rows[key] for key in self._died]
        return self._points.points(rows, self._points.read(rows)[0])

    def is_suspect(self, point):
        """Return whether the process of an earlier run died while this point was evaluated."""
        return bool(self._died) and self._key(point) in self._died

    def has_failed(self, point):
        """Return whether processes have died with this point alone, as often as they may."""
        return bool(self._died_alone) and self._died_alone[self._key(point)] >= MOST_DEATHS

    def begin(self, points, *, alone):
        """Note that points are handed to workers; and whether a death would be their fault."""
        if self._is_needed:
            more = {**({"alone": True} if alone else {}), **self._of_next_call}
            self._under_way.update(self._write("called", points, **more))
            self._of_next_call = {}

    def end(self, points):
        """Note that points were evaluated, whatever earlier runs ended with."""
        if self._died or self._under_way:
            keys = self._points.keys(points)
            self._forget(keys)
            for key in keys:
                self._died.pop(key, None)
                self._died_alone.pop(key, None)

    def close(self):
        """Note that the run ends, and not by a death, with what it has under way."""
        left = [self._rows[key] for key in self._under_way.elements()]
        if left:
            with suppress(OSError):  # of a full disk: the run ends with that already
                self._log.append({"left": left})

    def take_back(self, point):
        """Note that it was taken from the worker before it began."""
        self._under_way -= Counter(self._write("not called", [point]))

    def end_by(self, error, point):
        """Note that a call raised; return in how many runs its point has, this one included.

        What is no `Exception`, as of ``sys.exit``, is a way to end the search, and counts as 0.
        """
        if not isinstance(error, Exception):
            return 0
        keys = self._write("raised", [point], error=in_words(error)[:LONGEST_ERROR])
        self._under_way -= Counter(keys)
        self._raised.update(keys)
        return max((self._raised[key] for key in keys), default=1)

    def _key(self, point):
        return self._points.keys([point])[0]

    def _write(self, kind, points, **more):
        """Append an event of calls; return the keys of its points."""
        if self._log is None:
            return ()
        rows = self._points.rows(points)
        keys = self._points.read(rows)[1]
        self._rows.update(zip(keys, rows, strict=True))
        self._log.append({kind: rows, **more})
        return keys


def tell_known(optimizer, calls, x0, y0, c0):
    """Tell the values that are not known yet, and have the journal say that none is of a call.

    Points x0 with values y0, and values c0 of constraints or None. Where a point has other values
    in the journal a ValueError says so, and nothing is told.
    """
    space = optimizer.space_
    points, values = as_evaluations(x0, y0, space)
    c = as_constraints(c0, values.shape, optimizer.constraints_.shape[1])
    given = _pairs(space, points, values, c)
    known = _pairs(space, optimizer.x_iters_, optimizer.func_vals_, optimizer.constraints_)
    for point, (key, _) in zip(points, given, strict=True):
        one, other = (Counter(v for k, v in pairs if k == key) for pairs in (given, known))
        if not (one <= other or other <= one):
            raise ValueError(_difference(point, one, other))
    new = unknown(given, known)
    if not new:
        return
    points = [points[i] for i in new]
    calls.record_given_values(points)
    constraints = None if c0 is None else c[new]
    optimizer.tell(points, values[new], constraints=constraints)


def unknown(given, known):
    """Return the places in a list of what another lacks; what is there twice has to be there twice.

    Examples
    --------
    >>> unknown(["a", "b", "a"], ["a"])
    [1, 2]
    """
    left, new = Counter(known), []
    for i, one in enumerate(given):
        new += [] if left[one] > 0 else [i]
        left[one] -= 1
    return new


def _pairs(space, points, values, constraints):
    """Return (key of the point, value and constraints as they are compared) of evaluations."""
    keys = keys_of(space.encode(points)) if len(points) else ()
    return list(zip(keys, map(_plain, values, constraints), strict=True))


def _plain(y, c):
    """Return a value and its constraints as plain data, by which they are compared."""
    return *values_to_data([y]), *(() if np.isnan(c).all() else values_to_data(c))


def _difference(point, now, then):
    was, are = (", ".join(_in_words(v) for v in values.elements()) for values in (then, now))
    return (
        f"y0 must agree with the journal: at the point {point} it has {was}, and y0 says {are}. "
        "Leave that point out, which the journal knows; add its value in the journal to x0 and y0, "
        "where the point was measured more than once; or give another path."
    )


def _in_words(values):
    y, *constraints = values
    text = repr(y) if isinstance(y, float) else "nan" if y is None else y
    return f"{text} with constraints {constraints}" if constraints else text
