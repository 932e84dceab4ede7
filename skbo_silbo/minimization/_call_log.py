"""The calls that a journal knows, for both doors: begun, ended by an exception or a death.

A point that kills its process (out of memory, a crash in compiled code) leaves no value, and is the
first that the next run would propose. So points are in the journal before they are evaluated. After
a death each that was under way is evaluated alone, and one that kills its process again has failed.
"""

from collections import Counter
from contextlib import suppress

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo.journal._describe import describe_function
from skbo_silbo.optimizers._events import OF_CALLS, observations_of, places_of
from skbo_silbo.space._keys import keys_of
from skbo_silbo.workers._losses import MOST_DEATHS, in_words

LONGEST_ERROR = 500  # characters
MOST_RUNS = 2  # that a point may end by an exception, where the function works elsewhere


class CallLog:
    """What becomes of calls, written to a journal; without one nothing is.

    Parameters
    ----------
    log : EventLog or None
        Begun, and followed by the optimiser of the space.
    space : Space, SpaceUnion or Box
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

    def __init__(self, log, space, *, is_needed=True):
        self._log, self._space, self._is_needed = log, space, is_needed
        self._begun, self._raised, self._announced = Counter(), Counter(), Counter()
        self.n_given = 0
        self._func = self._func_of_last_value = None  # as described; that of this run once it calls
        self._of_next_call = {}
        events = [] if log is None else log.records
        for event in events:
            self._follow(event)
        self.n_without_value = self._begun.total()
        self._n_before = len(events)
        self._died, self._died_alone = _under_way(events, space)

    def _follow(self, event):
        kind, keys = _kind_and_keys(event, self._space)
        if kind == "told":
            given, self._announced = keys & self._announced, Counter()
            self.n_given += given.total()
            self._begun -= keys - given
            if keys - given:
                self._func_of_last_value = self._func
        elif kind == "called":
            self._begun += keys
            self._func = event.get("func", self._func)
        elif kind == "not called":
            self._begun -= keys
        elif kind == "raised":
            self._raised += keys
        elif kind == "given":
            self._announced = keys

    def announce(self, points):
        """Note that the next values, of these points, are not of calls."""
        self.n_given += len(points)
        self._write("given", points)

    def belong_to(self, func):
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
        places = np.array([np.frombuffer(key) for key in self._died])
        return self._space.decode(places) if self._died else []

    def is_suspect(self, point):
        """Return whether the process of an earlier run died while this point was evaluated."""
        return self._key(point) in self._died

    def has_failed(self, point):
        """Return whether processes have died with this point alone, as often as they may."""
        return self._died_alone[self._key(point)] >= MOST_DEATHS

    def begin(self, points, *, alone):
        """Note that points are handed to workers; and whether a death would be their fault."""
        if self._is_needed:
            self._write(
                "called", points, **({"alone": True} if alone else {}), **self._of_next_call
            )
            self._of_next_call = {}

    def end(self, points):
        """Note that points were evaluated, whatever earlier runs ended with."""
        for key in map(self._key, points):
            self._died.pop(key, None)
            self._died_alone.pop(key, None)

    def close(self):
        """Note that the run ends, and not by a death, with what it has under way."""
        events = [] if self._log is None else self._log.records[self._n_before :]
        left, _ = _under_way(events, self._space)
        if left:
            with suppress(OSError):  # of a full disk: the run ends with that already
                self._log.append({"left": [np.frombuffer(k).tolist() for k in left.elements()]})

    def take_back(self, point):
        """Note that it was taken from the worker before it began."""
        self._write("not called", [point])

    def end_by(self, error, point):
        """Note that a call raised; return in how many runs its point has, this one included.

        What is no `Exception`, as of ``sys.exit``, is a way to end the search, and counts as 0.
        """
        if not isinstance(error, Exception):
            return 0
        self._write("raised", [point], error=in_words(error)[:LONGEST_ERROR])
        self._raised[self._key(point)] += 1
        return self._raised[self._key(point)]

    def _key(self, point):
        return keys_of(self._space.encode([point]))[0]

    def _write(self, kind, points, **more):
        if self._log is not None:
            self._log.append({kind: self._space.encode(points).tolist(), **more})


def _under_way(events, space):
    """Return what is under way after some events, and what of that runs in a process alone."""
    calls, alone = Counter(), Counter()
    for event in events:
        kind, keys = _kind_and_keys(event, space)
        if kind == "called":
            calls += keys
            alone += keys if event.get("alone") else Counter()
        elif kind == "told":
            keys = Counter({key: calls[key] for key in keys})
        if kind in ("told", "not called", "raised", "left"):
            calls -= keys
            alone -= keys
    return calls, alone


def _kind_and_keys(event, space):
    """Return what an event of calls is, and how often it has each key; of others None."""
    for kind in event.keys() & {"told", *OF_CALLS}:
        X = (
            observations_of(event, space)[1]
            if kind == "told"
            else places_of(event[kind], space.n_features_)
        )
        return kind, Counter(keys_of(X))
    return None, Counter()
