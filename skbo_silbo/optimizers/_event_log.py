"""The journal of an optimiser: what it was asked and told, and beside it what it had learnt."""

import os
from contextlib import suppress

from skbo_silbo._checks import warn_user
from skbo_silbo.journal import Journal, JournalKind, SideFile
from skbo_silbo.optimizers._shape import OutOfShapeError, as_written, of_kind, require, whole

HEADER = {
    "made with": of_kind(str, type(None)),
    "class": of_kind(str),
    "space": of_kind(dict),
    "options": of_kind(dict),
    "objects": of_kind(list),
    "descriptions": of_kind(dict),
    "seed": whole(),
    "facts": of_kind(dict),
}
OLDER_LACK = ["descriptions"]

OPTIMIZER = JournalKind(
    name="skbo_silbo optimizer",
    version=1,
    number="n",
    user="optimiser",
    is_paid_for=lambda record: "told" in record,
    to_close="Call close_journal() of the optimiser that has it, wait for its process to end",
)


class EventLog(Journal):
    """The events of an optimiser, and a second file, ``path + ".state"``: what was learnt by then.

    The second file saves thinking; without it nothing told is lost.

    Parameters
    ----------
    path : str or path-like
        Made if it does not exist; its folder must.

    Raises
    ------
    RuntimeError, ValueError
        As `Journal` does.
    """

    def __init__(self, path):
        self._owed = []  # events to keep that could not be written
        super().__init__(path, OPTIMIZER)
        self._state = SideFile(self.path + ".state")
        try:
            if self.header is not None:
                require(self.header, "its header", HEADER, OLDER_LACK)
        except OutOfShapeError as error:
            self.close()
            raise self.damaged_header(str(error)) from error

    def keep(self, event):
        """Append what must not be lost: where it cannot be now, it is before the next event.

        Raises
        ------
        OSError, RuntimeError
            As `append` does.
        """
        self._owed.append(event)
        self._write_owed()

    def append(self, record):
        """Write an event, and before it those that are owed; return when it is on disk."""
        self._write_owed()
        super().append(record)

    def close(self):
        """Write what is owed, if that can be done now, and close the file."""
        with suppress(OSError, RuntimeError):
            self._write_owed()
        n_lost = sum(len(event["y"]) for event in self._owed if "told" in event)
        self._owed = []
        super().close()
        if n_lost and os.getpid() == self._process:
            warn_user(
                f"journal {self.path!r} must have room: {n_lost} values could not be written and "
                "are not in it. Save x_iters and func_vals of the result, and give them as x0 and "
                "y0 (or tell them) when it goes on."
            )

    def _write_owed(self):
        while self._owed:
            event = self._owed[0]
            if not self._is_last(event):  # Ctrl-C is raised when it is on disk
                super().append(event)
            del self._owed[0]

    def _is_last(self, event):
        last = self.records[-1] if self.records else {}
        return all(last.get(name) is value for name, value in event.items())

    def keep_state(self, state):
        """Replace what was learnt by now, a dict of what JSON can hold."""
        self._state.write({"n": len(self.records), "state": state})

    def read_state(self):
        """Return how many events came before the state kept last, and the state; or (0, None).

        Raises
        ------
        ValueError
            If it is of another shape than `keep_state` writes.
        """
        kept = self._state.read()
        if kept is None:
            return 0, None
        with self.state_as_written():
            require(kept, "it", {"n": whole(), "state": of_kind(dict)})
        if not 0 < kept["n"] <= len(self.records):
            return 0, None
        return kept["n"], kept["state"]

    def state_as_written(self):
        """Return a context in which what fails to be read of the second file is put into words."""
        remedy = "Remove that file: what was learnt is learnt again, and nothing told is lost."
        return as_written(f"{self._state.path!r}, beside the journal,", remedy)

    def forget_state(self):
        """Remove the second file, if there is one."""
        self._state.remove()
