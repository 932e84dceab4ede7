"""What is being evaluated in this process, in the journal in case the process ends with it.

A candidate that kills its process (out of memory, a crash in compiled code) leaves no value, and is
the first that the next run would propose. So candidates are in the journal before their fits are
begun. After a death each of them is evaluated alone, and one that the process dies with again has
failed.
"""

import warnings

from skbo_silbo.minimization._calls import Calls, UnderWay
from skbo_silbo.workers import LostEvaluationWarning
from skbo_silbo.workers._losses import MOST_DEATHS


class Begun:
    """The candidates under way, and those that were when the process of an earlier run ended.

    Parameters
    ----------
    log : EventLog or None
        None: nothing is written, nothing known.
    space : Space or SpaceUnion
    is_needed : bool
        Whether fits are made in this process.
    """

    def __init__(self, log, space, *, is_needed):
        self._space, self._is_needed = space, is_needed and log is not None
        self._calls = Calls(log, space)
        died = UnderWay([] if log is None else log.records, space)
        self._suspects = space.decode(died.places()) if died.calls else []

    def suspects(self):
        """Return the parameters of those that may have killed an earlier run."""
        return [params for params in self._suspects if self.is_suspect(params)]

    def is_suspect(self, params):
        """Return whether an earlier run may have ended with this candidate."""
        return self._calls.was_under_way(params)

    def why_not(self, params, error_score):
        """Return why this candidate has failed and is not evaluated again, None if it may be.

        Warns
        -----
        LostEvaluationWarning
            Of the first.

        Raises
        ------
        RuntimeError
            Instead, if `error_score` is "raise".
        """
        if not self._calls.has_failed(params):
            return None
        why = f"the process ended {MOST_DEATHS} times while this candidate was evaluated"
        if error_score == "raise":
            raise RuntimeError(f"{why}: {params}. Give error_score a number to go on without it.")
        text = f"candidate {params} counts as failed: {why}."
        warnings.warn(text, LostEvaluationWarning, stacklevel=2)
        return why

    def begin(self, points, *, alone):
        """Write down that these candidates are under way, and whether a death is their fault."""
        for params in points if self._is_needed else ():
            self._calls.begin(params, alone=alone)

    def end(self, points):
        """Note that candidates have ended, and are in the journal."""
        for params in points:
            self._calls.clear(params)

    def close(self):
        """Note that this process ends with none of them."""
        self._calls.leave()
