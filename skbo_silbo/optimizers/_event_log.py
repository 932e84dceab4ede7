"""The journal of an optimiser: its events on disk, for it to go on from."""

import os
import platform
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from operator import index

from skbo_silbo._checks import warn_user
from skbo_silbo.journal._describe import require_same_search
from skbo_silbo.journal._journal import Journal, JournalKind
from skbo_silbo.optimizers._events import (
    RootSeed,
    changes,
    check_space,
    identity,
    read_events,
    replay,
)

OPTIMIZER = JournalKind(
    name="skbo_silbo optimizer",
    version=7,
    user="optimiser",
    to_close="Call close_journal() of the optimiser that has it, wait for its process to end",
)


class EventLog(Journal):
    """The events of an optimiser, each on disk before the optimiser goes on.

    Parameters
    ----------
    path : str or path-like
        Made if it does not exist; its folder must.
    kind : JournalKind, default=OPTIMIZER

    Raises
    ------
    RuntimeError, ValueError
        As `Journal` does.
    """

    def __init__(self, path, kind=OPTIMIZER):
        self.events = []  # those read when it was opened
        self._unwritten = []  # events to keep that could not be written
        self._learnt = {}  # as the last event has it
        super().__init__(path, kind)

    def read_events(self, points):
        """Read the events that were written, once for all who follow them.

        Parameters
        ----------
        points : Points
        """
        self.events = read_events(self.records, points, self.damaged_record)
        self.records = []

    def ask(self, places, learnt):
        """Append places that are pending from now on, and what has been learnt by now, a dict."""
        event = {"asked": places, "learnt": changes(self._learnt, learnt)}
        try:
            self.append(event)
        finally:
            if self.last is event:  # Ctrl-C is raised when it is on disk
                self._learnt = deepcopy(learnt)  # parts of the user's own may go on changing theirs

    def replay(self, optimizer, events):
        """Have an optimiser take over events, and what it had learnt by then.

        The latter where that is in this release's words.
        """

        def damaged(i, error):
            return self.damaged_record(events[i].content["n"], error)

        with _header_as_written(self):
            is_same = self.header["made with"]["skbo_silbo"] == made_with()["skbo_silbo"]
        self._learnt = replay(optimizer, events, damaged, and_what_was_learnt=is_same)

    def tell(self, event):
        """Append what an optimiser was told, or had cancelled, in a journal of its own: `keep`."""
        if self.kind.is_of_optimizer:
            self.keep(event)

    def keep(self, *events):
        """Append what must not be lost: where it cannot be now, it is before the next event.

        Raises
        ------
        OSError, RuntimeError
            As `append` does.
        """
        self._unwritten += events
        self._write_what_is_left()

    def append(self, record):
        """Write an event, and before it those that could not be; return when it is on disk."""
        self._write_what_is_left()
        super().append(record)

    def close(self):
        """Write what could not be, if that can be done now, and close the file."""
        with suppress(OSError, RuntimeError):
            self._write_what_is_left()
        n_lost = sum(len(event["y"]) for event in self._unwritten if "told" in event)
        self._unwritten = []
        super().close()
        if n_lost and os.getpid() == self._process:
            warn_user(
                f"journal {self.path!r} must have room: {n_lost} values could not be written and "
                "are not in it. Save what the result or the exception has of them, and give it as "
                "x0 and y0, as initial_results or by tell() when it goes on."
            )

    def _write_what_is_left(self):
        while self._unwritten:
            event = self._unwritten[0]
            if self.last is not event:  # Ctrl-C is raised when it is on disk
                super().append(event)
            del self._unwritten[0]


def open_log(path, random_state):
    """Return the open log of a path, and the random state to make its optimiser with.

    That is the seed of the journal where no random state is given, so that the run goes on as it
    would have.

    Returns
    -------
    log : EventLog or None
        None without a path.
    random_state : int, RandomState, Generator or None
    """
    if path is None:
        return None, random_state
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise ValueError(
            f"journal must be None or the path of a file: got {path!r}. Write journal='run.jsonl'."
        )
    log = EventLog(path)
    if log.header is not None and random_state is None:
        with closed_on_error(log), _header_as_written(log):
            random_state = RootSeed(index(log.header["seed"]))
    return log, random_state


@contextmanager
def closed_on_error(log):
    """Close a log, if there is one, where its optimiser could not be made: it would stay locked."""
    try:
        yield
    except BaseException:
        if log is not None:
            log.close()
        raise


def begin_or_check(log, optimizer, facts):
    """Write who the optimiser is into a new log, or refuse another one's that holds values.

    Parameters
    ----------
    log : EventLog
    optimizer : AskTellOptimizer
    facts : dict
        What else must be as it was, as plain data.

    Raises
    ------
    ValueError
        Naming the differences; or an option that holds what cannot be seen.
    """

    def make_header():
        who = identity(optimizer, whole=True)
        return {"made with": made_with(), **who, "facts": facts}

    def check(then):
        now = {**identity(optimizer, whole=False), "facts": facts}
        with _header_as_written(log):
            _check_same(then, now, optimizer.space_, log.path)

    log.begin_or_check(make_header, check)


@cache
def made_with():
    """Return the versions of Python, of this package and of those that it computes with.

    None of a package that is not installed, as this one where a checkout is on the path.
    """
    made = {"python": platform.python_version()}
    for name in ("skbo_silbo", "scikit-learn", "scipy", "numpy"):
        made[name] = None
        with suppress(PackageNotFoundError):
            made[name] = version(name)
    return made


@contextmanager
def _header_as_written(log):
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise log.damaged_header(error) from error


def _compared(header):
    """Return what two headers are compared by: who, options, seed."""
    unseen = dict.fromkeys(header["objects"], "one that cannot be pickled")
    options = {**header["options"], **unseen, **header["descriptions"]}
    is_minimize = "method" in header["facts"]  # go on with that, or give its points and values
    writer = "minimize(journal=)" if is_minimize else f"{header['class']}(journal=)"
    who = {"writer": writer, "optimizer": header["class"], **header["facts"], **options}
    return {**who, "random_state gives a seed that": index(header["seed"])}


def _check_same(then, now, space, path):
    check_space(then["space"], space, f"journal {path!r}")
    require_same_search(_compared(then), _compared(now), path)
