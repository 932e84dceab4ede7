"""The calls of a function that a journal knows: begun, and ended by an exception or a death."""

from collections import Counter
from contextlib import suppress

import numpy as np

from skbo_silbo.optimizers._events import OF_CALLS, places_of, told_of
from skbo_silbo.space._keys import keys_of
from skbo_silbo.workers._losses import MOST_DEATHS, in_words

LONGEST_ERROR = 500  # characters
MOST_RUNS = 2  # that a point may end by an exception, where the function works elsewhere


class Calls:
    """What becomes of calls, written to the journal of `minimize`; without one nothing is.

    Parameters
    ----------
    log : EventLog or None
        Begun, and followed by the optimiser of the space.
    space : Space, SpaceUnion or Box

    Attributes
    ----------
    n_without_value : int
        How many calls of earlier runs gave no value: they raised, or a worker or the process
        ended with them.
    n_given : int
        How many values no call was made for.
    """

    def __init__(self, log, space):
        self._log, self._space = log, space
        self._begun, self._raised, self._announced = Counter(), Counter(), Counter()
        self.n_given = 0
        events = [] if log is None else log.records
        for event in events:
            self._follow(event)
        self.n_without_value = self._begun.total()
        self._n_before, self._died = len(events), UnderWay(events, space)

    def _follow(self, event):
        if "told" in event:
            told = Counter(_keys_told(event, self._space))
            given, self._announced = told & self._announced, Counter()
            self.n_given += given.total()
            self._begun -= told - given
        for kind in OF_CALLS & event.keys():
            keys = _keys(event[kind], self._space)
            if kind == "called":
                self._begun.update(keys)
            elif kind == "raised":
                self._raised.update(keys)
            elif kind == "given":
                self._announced = Counter(keys)
            elif kind == "not called":
                self._begun -= Counter(keys)

    def announce(self, points):
        """Note that what is told next, the values of these points, was not called for."""
        self.n_given += len(points)
        if self._log is not None:
            self._log.append({"given": self._space.encode(points).tolist()})

    def was_under_way(self, point):
        """Return whether the process of an earlier run died while this point was evaluated."""
        return self._key(point) in self._died.calls

    def has_failed(self, point):
        """Return whether processes have died with this point alone, as often as they may."""
        return self._died.alone[self._key(point)] >= MOST_DEATHS

    def clear(self, point):
        """Note that a point was evaluated, whatever earlier runs ended with."""
        self._died.end([self._key(point)])

    def begin(self, point, *, alone):
        """Note that a point is handed to a worker; and whether a death would be its fault."""
        self._write("called", point, **({"alone": True} if alone else {}))

    def leave(self):
        """Note that the run ends, and not by a death, with what it has under way."""
        if self._log is None:
            return
        left = UnderWay(self._log.records[self._n_before :], self._space).calls.elements()
        places = [np.frombuffer(key).tolist() for key in left]
        if places:
            with suppress(OSError):  # of a full disk: the run ends with that already
                self._log.append({"left": places})

    def take_back(self, point):
        """Note that it was taken from the worker before it began."""
        self._write("not called", point)

    def end_by(self, error, point):
        """Note that a call raised; return in how many runs its point has, this one included.

        What is no `Exception`, as of ``sys.exit``, is a way to end the search, and counts as 0.
        """
        if not isinstance(error, Exception):
            return 0
        [key] = keys_of(self._write("raised", point, error=in_words(error)[:LONGEST_ERROR]))
        self._raised[key] += 1
        return self._raised[key]

    def _key(self, point):
        return keys_of(self._space.encode([point]))[0]

    def _write(self, kind, point, **more):
        x = self._space.encode([point])
        if self._log is not None:
            self._log.append({kind: x.tolist(), **more})
        return x


class UnderWay:
    """The calls that are under way after some events.

    Parameters
    ----------
    events : iterable of dict
    space : Space, SpaceUnion or Box

    Attributes
    ----------
    calls, alone : Counter
        Of keys of points: all that have not ended, and those that ran in a process with no other.
    """

    def __init__(self, events, space):
        self.calls, self.alone = Counter(), Counter()
        for event in events:
            if "called" in event:
                keys = Counter(_keys(event["called"], space))
                self.calls += keys
                self.alone += keys if event.get("alone") else Counter()
            elif "told" in event:
                self.end(_keys_told(event, space))
            for kind in {"not called", "raised", "left"} & event.keys():
                keys = Counter(_keys(event[kind], space))
                self.calls -= keys
                self.alone -= keys

    def places(self):
        """Return where calls are under way, (n, m)."""
        return np.array([np.frombuffer(key) for key in self.calls])

    def end(self, keys):
        """Note that points have a value."""
        for key in keys:
            self.calls.pop(key, None)
            self.alone.pop(key, None)


def _keys(places, space):
    return keys_of(places_of(places, space.n_features_))


def _keys_told(event, space):
    return keys_of(told_of(event, space)[1])
