"""The journal of an optimiser: its events on disk, for it to go on from."""

import os
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from operator import index

from skbo_silbo._checks import warn_user
from skbo_silbo.journal._describe import require_same
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
    version=6,
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
        self._learnt = None  # as the last event has it
        super().__init__(path, kind)

    def read_events(self, points):
        """Read the events that were written, once for all who follow them.

        Parameters
        ----------
        points : Points
        """
        self.events = read_events(self.records, points, self._damaged_event)
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
        """Have an optimiser take over events that follow on those of the last call.

        What it had learnt by then, too, where that is in this release's words.
        """

        def damaged(i, error):
            return self._damaged_event(events[i].content["n"], error)

        made_with = self.header.get("made with")
        if isinstance(made_with, dict):
            made_with = made_with.get("skbo_silbo")
        options = {"and_what_was_learnt": made_with == release()}
        self._learnt = replay(optimizer, events, damaged, self._learnt, **options)

    def _damaged_event(self, i, error):
        why = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        return self.damaged_record(i, why)

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
    """Close a log where its optimiser could not be made: it would stay locked."""
    try:
        yield
    except BaseException:
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
        return {"made with": release(), **who, "facts": facts}

    def check(then):
        now = {**identity(optimizer, whole=False), "facts": facts}
        with _header_as_written(log):
            _check_same(then, now, optimizer.space_, log.path)

    log.begin_or_check(make_header, check)


@cache
def release():
    """Return the version of this package; None where it is not installed."""
    try:
        return version("skbo_silbo")
    except PackageNotFoundError:
        return None


@contextmanager
def _header_as_written(log):
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise log.damaged_header(f"its header: {type(error).__name__}: {error}") from error


def _compared(header):
    """Return what two headers are compared by: who, options, seed."""
    unseen = dict.fromkeys(header["objects"], "one that cannot be pickled")
    options = {**header["options"], **unseen, **header["descriptions"]}
    who = {"optimizer": header["class"], **header["facts"], **options}
    return {**who, "random_state gives a seed that": index(header["seed"])}


def _check_same(then, now, space, path):
    try:
        check_space(then["space"], space)
    except ValueError as error:
        raise ValueError(f"{error} The data are journal {path!r}.") from None
    _refuse_journal_of_other_function(then, now, path)
    require_same(_compared(then), _compared(now), path)


def _refuse_journal_of_other_function(then, now, path):
    """Refuse to go on, as `minimize` or as the optimiser itself, with a journal of the other."""
    if ("method" in then["facts"]) == ("method" in now["facts"]):
        return
    own = "x_iters_ and func_vals_"
    by, remedy = "minimize(journal=)", "Go on with minimize"
    if "method" in now["facts"]:
        by, remedy = f"{then['class']}(journal=)", f"Go on with {then['class']}(journal=)"
        own += " (as x0 and y0)"
    raise ValueError(
        f"journal must be of the same function: {path!r} was written by {by}, for whose points and "
        f"signs the other does not know. {remedy}; or give another path, and tell it {own} from "
        "there."
    )
