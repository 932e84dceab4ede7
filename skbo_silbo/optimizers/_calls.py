"""The calls of a function that a journal knows: begun, and ended by an exception."""

from collections import Counter

from skbo_silbo.optimizers import _state
from skbo_silbo.optimizers._journaling import told_of
from skbo_silbo.space import keys_of

LONGEST_ERROR = 500  # characters
KINDS = {"called", "not called", "raised", "given"}  # of events
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
        for event in () if log is None else log.records:
            self._follow(event)
        self.n_without_value = self._begun.total()

    def _follow(self, event):
        if "told" in event:
            told = Counter(self._keys_told(event))
            given, self._announced = told & self._announced, Counter()
            self.n_given += given.total()
            self._begun -= told - given
        for kind in KINDS & event.keys():
            keys = keys_of(_state.rows_from_data(event[kind], self._space.n_features_))
            if kind == "called":
                self._begun.update(keys)
            elif kind == "raised":
                self._raised.update(keys)
            elif kind == "given":
                self._announced = Counter(keys)
            else:
                self._begun -= Counter(keys)

    def _keys_told(self, event):
        return keys_of(told_of(event, self._space)[1])

    def were_given(self, keys):
        """Take note of the places of all known values that the caller gives.

        Release 0.1 wrote them first, and did not say that they were no values of calls.
        """
        if self._log is None or not self._log.records or "told" not in self._log.records[0]:
            return
        first = Counter(self._keys_told(self._log.records[0]))
        if first <= Counter(keys):
            self.n_given += first.total()

    def announce(self, points):
        """Note that what is told next, the values of these points, was not called for."""
        self.n_given += len(points)
        if self._log is not None:
            self._log.append({"given": self._space.encode(points).tolist()})

    def begin(self, point):
        """Note that a point is handed to a worker."""
        self._write("called", point)

    def take_back(self, point):
        """Note that it was taken from the worker before it began."""
        self._write("not called", point)

    def end_by(self, error, point):
        """Note that a call raised; return in how many runs its point has, this one included.

        What is no `Exception`, as of ``sys.exit``, is a way to end the search, and counts as 0.
        """
        if not isinstance(error, Exception):
            return 0
        [key] = keys_of(self._write("raised", point, error=repr(error)[:LONGEST_ERROR]))
        self._raised[key] += 1
        return self._raised[key]

    def _write(self, kind, point, **more):
        x = self._space.encode([point])
        if self._log is not None:
            self._log.append({kind: x.tolist(), **more})
        return x
