"""The log of proposals and evaluations of a run, which is stored in a journal file."""

import os
import platform
from contextlib import suppress
from copy import deepcopy
from functools import cache
from importlib.metadata import version
from numbers import Integral

from skbo_silbo._checks import warn_user
from skbo_silbo._descriptions import require_same
from skbo_silbo.journal.journal import Journal
from skbo_silbo.optimizers.event import read_events
from skbo_silbo.optimizers.state import RootSeed, replay

HEADER = {"made with": dict, "seed": int, "fixed": dict, "search": dict}  # types of its fields
MOST_DEATHS = 2  # a point has failed if the process died this often while evaluating only it


class NoLog:
    """Log of a run without a journal, which records nothing."""

    path, events, n_calls = None, (), 0

    def __init__(self):
        self.fixed = {}

    def seed(self, random_state):
        """Return the random state for the optimiser."""
        return random_state

    def begin(self, description, points, seed, fixed=None, *, keeps_asked=False):
        """Store the settings of the run in memory."""
        self.fixed = fixed or {}

    def ignore(self, *args, **options):
        """Ignore an event."""

    replay = asked = begun = withdrawn = write = evaluated = close = ignore


class EventLog:
    """Log that records the events of a run in a journal file.

    The run only continues once an event is on disk.

    Parameters
    ----------
    path : str or path-like

    Attributes
    ----------
    path : str
    fixed : dict
        Settings of the first run that later runs must not change.
    events : list of Event
        The parsed events of earlier runs, in the order in which they were written.
    n_calls : int
        Number of evaluations that earlier runs have started.
    damaged : callable
        Function ``damaged(n, error)`` that returns the error to raise if event n cannot be read.
    """

    def __init__(self, path):
        self._journal = Journal(path)
        self.damaged = self._journal.damaged
        self.path, self.events, self.fixed, self.n_calls = self._journal.path, [], {}, 0
        self._random_state = None  # the random state of this run, if it is an integer
        self._unwritten = []  # observations that could not be written yet
        self._learnt = {}  # the model at the last "asked" event
        self._under_way = []  # points that this run is evaluating, as they are written
        self._deaths = {}  # key of a point that an earlier run left -> see `n_deaths`

    def seed(self, random_state):
        """Return the random state for the optimiser, as recorded in the journal.

        The seed of the first run is used unless `random_state` is an integer.
        """
        header = self._journal.header
        for name, kind in HEADER.items():
            if header is not None and not isinstance(header.get(name), kind):
                why = f"{name!r} must be of type {kind.__name__}, got {header.get(name)!r}"
                raise self.damaged(-1, why)
        if isinstance(random_state, Integral):
            self._random_state = int(random_state)
            return random_state
        return random_state if header is None else RootSeed(header["seed"])

    def begin(self, description, points, seed, fixed=None, *, keeps_asked=False):
        """Write the header of a new journal, or check that an existing one has the same settings.

        Parameters
        ----------
        description : dict
            JSON-compatible description of all settings that identify the search.
        points : Points
            Converter between points and their form in the journal.
        seed : int
            Integer that seeds all random streams of the optimiser.
        fixed : dict, default=None
            Settings that later runs of the search must not change.
        keeps_asked : bool, default=False
            Whether to protect a journal that contains proposals but no observations from being
            overwritten.

        Raises
        ------
        ValueError
            If the journal contains evaluations of another search. The message names the
            differences.
        """
        self._points = points
        header = self._journal.header
        if header is not None:
            try:
                self._check(header, description, fixed or {})
            except ValueError:
                kept = {"observed", "asked"} if keeps_asked else {"observed"}
                if any(kept & record.keys() for record in self._journal.records):
                    raise
                header = None  # nothing was evaluated, as after a mistyped call: overwrite it
        if header is None:
            seeds = {"seed": int(seed), "random_state": self._random_state}
            who = {"made with": made_with(), **seeds, "fixed": fixed or {}}
            self._journal.begin({**who, "search": description})
        self.fixed = self._journal.header["fixed"]
        self.events = read_events(self._journal.records, points, self.damaged)
        self._journal.records = []
        for event in self.events:
            self._count(event)

    def _check(self, header, description, fixed):
        then, now, made = header["search"], description, header["made with"]
        if then.get("entry point") != now["entry point"]:
            raise ValueError(
                f"journal {self.path!r} was written by {then.get('entry point')} and cannot be "
                f"resumed by {now['entry point']}. Use another path."
            )
        if self._random_state is not None:
            then = {**then, "random_state": header.get("random_state")}
            now = {**now, "random_state": self._random_state}
        rule = f"journal {self.path!r} belongs to another search"
        remedy = "Search with the same settings as before, or use another path."
        require_same(then, now, rule, remedy)
        if header["fixed"].keys() != fixed.keys():
            why = f"'fixed' must have the keys {list(fixed)}, got {header['fixed']!r}"
            raise self.damaged(-1, why)
        changed = [name for name, now in made_with().items() if made.get(name) != now]
        if changed:
            warn_user(
                f"journal {self.path!r} was written with other versions of {', '.join(changed)}. "
                "Its evaluations are kept, but an uninterrupted search might have continued "
                "differently."
            )

    def _count(self, event):
        """Count the evaluations that have begun, and those that a process left when it died."""
        if event.kind == "begun":
            self.n_calls += len(event.keys)
            for key in event.keys:
                self._deaths[key] = self._deaths.get(key, 0) + bool(event.content["alone"])
        elif event.kind in ("ended", "observed"):
            was_withdrawn = event.kind == "ended" and not event.content["called"]
            if was_withdrawn:
                self.n_calls -= len(event.keys)
            for key in event.keys:
                if not (was_withdrawn and self._deaths.get(key)):  # earlier deaths still count
                    self._deaths.pop(key, None)

    def n_deaths(self, point):
        """Return how many earlier processes died while evaluating only this point.

        It is None if no process died while evaluating it.
        """
        return self._deaths.get(self._key(point)) if self._deaths else None

    def replay(self, optimizer, events):
        """Restore an optimiser by replaying the journal's events.

        Its model is restored, too, unless another version of this library fitted it. In that case,
        it is fitted again.
        """
        made = self._journal.header["made with"]
        is_same = made.get("skbo_silbo") == made_with()["skbo_silbo"]
        self._learnt = replay(optimizer, events, self.damaged, and_what_was_learnt=is_same)

    def asked(self, optimizer, n=1):
        """Record the last n proposals of an optimiser and the changes of its model."""
        learnt = optimizer.model_to_dict()
        asked = optimizer.encoded_pending_[-n:].tolist()
        # repr, because 1 == 1.0 == True
        old = {name: repr(value) for name, value in self._learnt.items()}
        changed = {name: value for name, value in learnt.items() if old.get(name) != repr(value)}
        event = {"asked": asked, "learnt": changed}
        try:
            self._append(event)
        finally:
            if self._journal.last is event:
                self._learnt = deepcopy(learnt)  # objects of users may modify their state

    def begun(self, point, *, alone):
        """Record the start of an evaluation.

        `alone` is True if nothing else runs in this process.
        """
        [row] = self._points.rows([point])
        self._under_way.append(row)
        self._append({"begun": [row], "alone": alone})

    def withdrawn(self, point):
        """Record that an evaluation was withdrawn before its start."""
        [row] = self._points.rows([point])
        self._append({"ended": [row], "called": False})
        self._under_way.remove(row)

    def write(self, event):
        """Write an event that must not be lost to the journal.

        If it cannot be written now, as on a full disk, it is written before the next event.

        Raises
        ------
        OSError, RuntimeError
            If `Journal.append` raises one of these errors.
        """
        if not any(event is other for other in (*self._unwritten, self._journal.last)):
            self._unwritten.append(event)
        self._write_unwritten()

    def evaluated(self, point):
        """Mark an evaluation as completed."""
        [row] = self._points.rows([point])
        if row in self._under_way:
            self._under_way.remove(row)

    def close(self):
        """Record that running evaluations end with this run, and close the journal."""
        try:
            left, self._under_way = self._under_way, []
            with suppress(OSError, RuntimeError):
                self._write_unwritten()
                if left:
                    self._append({"ended": left, "called": True})
        finally:  # otherwise Ctrl-C would leave the file locked
            self._journal.close()
        n_lost = sum(len(event.get("y", ())) for event in self._unwritten)
        self._unwritten = []
        if n_lost:
            warn_user(
                f"{n_lost} observations could not be written to journal {self.path!r}. Save them "
                "from the result or the exception, and pass them on (as x0 and y0, as "
                "initial_results, or to tell) when you continue."
            )

    def _key(self, point):
        [key] = self._points.keys([point])
        return key

    def _append(self, event):
        self._write_unwritten()
        self._journal.append(event)

    def _write_unwritten(self):
        while self._unwritten:
            event = self._unwritten[0]
            if self._journal.last is not event:  # Ctrl-C may be raised after the event was written
                self._journal.append(event)
            del self._unwritten[0]


def open_log(path):
    """Open the log of a journal file, or return a log that records nothing if `path` is None.

    Raises
    ------
    ValueError, RuntimeError, OSError
        If `Journal` raises one of these errors.
    """
    if path is None:
        return NoLog()
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise ValueError(f"`journal` must be None or a path, got {path!r}.")
    return EventLog(path)


@cache
def made_with():
    """Return the versions of Python and of the packages on which proposals depend."""
    packages = "skbo_silbo", "scikit-learn", "scipy", "numpy"
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
