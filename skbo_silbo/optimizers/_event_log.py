"""The journal of an optimiser: what it was asked and told, and beside it what it had learnt."""

from skbo_silbo.journal import Journal, JournalKind, SideFile

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
        super().__init__(path, OPTIMIZER)
        self._state = SideFile(self.path + ".state")

    def keep_state(self, state):
        """Replace what was learnt by now, a dict of what JSON can hold."""
        self._state.write({"n": len(self.records), "state": state})

    def read_state(self):
        """Return how many events came before the state kept last, and the state; or (0, None)."""
        kept = self._state.read()
        if kept is None or not 0 < kept.get("n", 0) <= len(self.records):
            return 0, None
        return kept["n"], kept["state"]

    def forget_state(self):
        """Remove the second file, if there is one."""
        self._state.remove()
