"""The calls of a function that a journal knows: begun, and ended by an exception."""

from collections import Counter

from skbo_silbo.optimizers import _state
from skbo_silbo.optimizers._journaling import told_of
from skbo_silbo.space import keys_of

LONGEST_ERROR = 500  # characters
KINDS = {"called", "not called", "raised"}  # of events
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
    """

    def __init__(self, log, space):
        self._log, self._space = log, space
        self._begun, self._raised = Counter(), Counter()
        for event in () if log is None else log.records:
            self._follow(event)
        self.n_without_value = self._begun.total()

    def _follow(self, event):
        if "told" in event:
            self._begun -= Counter(keys_of(told_of(event, self._space)[1]))  # values of y0 are not
        for kind in KINDS & event.keys():
            keys = keys_of(_state.rows_from_data(event[kind], self._space.n_features_))
            if kind == "called":
                self._begun.update(keys)
            elif kind == "raised":
                self._raised.update(keys)
            else:
                self._begun -= Counter(keys)

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
