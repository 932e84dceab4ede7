"""The journal of an optimiser that the user asks and tells."""

from threading import RLock

from skbo_silbo.optimizers._event import Points, observed_event
from skbo_silbo.optimizers._log import EventLog, NoLog
from skbo_silbo.optimizers._state import describe_settings


class Journaled:
    """Mixin for optimisers: write what is asked, told, cancelled and constrained to a log."""

    _log: EventLog | NoLog = NoLog()
    _lock: RLock

    def _resume(self, log):
        """Take over the state that a log holds, and write to it from now on."""
        described = {"entry point": type(self).__name__, **describe_settings(self)}
        log.begin(described, Points(self.space_), self._seed, keeps_asked=True)
        log.replay(self, log.events)
        self._log = log

    def close_journal(self) -> None:
        """Close the journal, if there is one: what follows is not recorded."""
        with self._lock:
            self._log.close()
            self._log = NoLog()

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name != "_log"}

    def _propose_all(self, count, part):
        points = super()._propose_all(count, part)
        if self._log.path is not None:
            self._log.asked(self, count)
        return points

    def _record(self, points, *observed):
        super()._record(points, *observed)
        if self._log.path is not None:
            self._log.write(observed_event(self.space_, points, *observed))

    def _withdraw(self, keys):
        places = [self._pending[key].tolist() for key in keys]
        super()._withdraw(keys)
        self._log.write({"cancelled": places})

    def _take_constraints(self, known):
        has_changed = known.described != self._known.described
        super()._take_constraints(known)
        if has_changed:
            self._log.write({"constrained": known.described})
