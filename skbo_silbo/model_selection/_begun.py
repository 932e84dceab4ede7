"""What is being evaluated in this process, on disk in case the process ends with it.

A candidate that kills its process (out of memory, a crash in compiled code) leaves no line in the
journal, and is the first that the next run would propose. So before fits are begun their candidates
are written beside the journal. After a death each of them is evaluated alone, and one that the
process dies with again has failed.
"""

import warnings

from skbo_silbo.journal import SideFile
from skbo_silbo.workers import MOST_DEATHS, LostEvaluationWarning


class Begun:
    """The candidates under way, and those that were when the process of an earlier run ended.

    Parameters
    ----------
    journal : Journal or None
        Beside which the file stands; None: nothing is written, nothing known.
    space : Space or SpaceUnion
    is_needed : bool
        Whether fits are made in this process.
    """

    def __init__(self, journal, space, *, is_needed):
        self._space, self._is_needed = space, is_needed and journal is not None
        self._deaths = {}  # place -> deaths of the process with it alone; 0: only with others
        self._file = None
        if journal is not None:
            self._file = SideFile(journal.path + ".begun")
            self._read({tuple(record["x"]) for record in journal.records})

    def suspects(self):
        """Return the parameters of those that may have killed an earlier run."""
        return self._space.decode(list(self._deaths)) if self._deaths else []

    def is_suspect(self, params):
        """Return whether an earlier run may have ended with this candidate."""
        return bool(self._deaths) and self._place(params) in self._deaths

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
        if self._deaths.get(self._place(params), 0) < MOST_DEATHS:
            return None
        why = f"the process ended {MOST_DEATHS} times while this candidate was evaluated"
        if error_score == "raise":
            raise RuntimeError(f"{why}: {params}. Give error_score a number to go on without it.")
        text = f"candidate {params} counts as failed: {why}."
        warnings.warn(text, LostEvaluationWarning, stacklevel=2)
        return why

    def begin(self, points):
        """Write down that these candidates, and no others, are under way."""
        if self._is_needed:
            self._write([self._place(params) for params in points])

    def end(self, points):
        """Note that candidates have ended, and are in the journal."""
        for params in points if self._deaths else ():
            self._deaths.pop(self._place(params), None)

    def forget(self):
        """Know nothing, here and on disk: the candidates were another search's."""
        self._deaths = {}
        self._file.remove()

    def close(self):
        """Note that this process ends with none of them."""
        if self._deaths:
            self._write([])
        elif self._file is not None:
            self._file.remove()

    def _place(self, params):
        return tuple(self._space.encode([params])[0].tolist())

    def _write(self, places):
        deaths = [[list(place), n] for place, n in self._deaths.items()]
        self._file.write({"under way": [list(place) for place in places], "deaths": deaths})

    def _read(self, known):
        kept = self._file.read() or {"under way": [], "deaths": []}
        deaths = {tuple(place): n for place, n in kept["deaths"]}
        under_way = [tuple(place) for place in kept["under way"]]
        for place in under_way:
            deaths[place] = deaths.get(place, 0) + (len(under_way) == 1)
        self._deaths = {place: n for place, n in deaths.items() if place not in known}
