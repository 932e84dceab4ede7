"""The log of proposals and evaluations of a run, which is stored in a journal file."""

import os
import platform
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from importlib.metadata import version
from numbers import Integral
from typing import Any

from skbo_silbo._checks import warn_user
from skbo_silbo._descriptions import require_same
from skbo_silbo._typing import Content, Path
from skbo_silbo.journal.header import check_header, read_format
from skbo_silbo.journal.journal import Journal
from skbo_silbo.journal.records import (
    AttemptCounts,
    PointFormat,
    Record,
    read_records,
    values_to_record,
)
from skbo_silbo.journal.state import RootSeed, replay
from skbo_silbo.space.any_space import AnySpace


class NoLog:
    """Log of a run without a journal, which records nothing."""

    path: Any = None
    records: Any = ()
    n_calls, damaged = 0, None

    def __init__(self) -> None:
        self.fixed: Content = {}

    def seed(self, random_state: Any) -> Any:
        """Return the random state for the optimiser."""
        return random_state

    def begin(self, description: Any, space: Any, seed: int, fixed: Any = None, **_: Any) -> None:
        """Store the settings of the run in memory."""
        self.fixed, self.points = fixed or {}, PointFormat(space)

    def n_earlier_attempts(self, point: Any) -> int:
        """Return how often earlier runs began to evaluate a point: 0 without a journal."""
        return 0

    def ignore(self, *args: Any, **options: Any) -> None:
        """Ignore an event."""

    replay = write = close = ignore
    record_proposals = record_begin = record_withdrawal = ignore
    record_evaluation = record_observations = ignore


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
    points : PointFormat
        Conversion between points and their JSON data in the journal.
    records : list of Record
        The records of earlier runs, in the order in which they were written.
    n_calls : int
        Number of evaluations that earlier runs have started.
    damaged : callable
        Function ``damaged(n, error)`` that returns the error to raise if record n is invalid.
    """

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path)
        self.damaged = self._journal.damaged
        self.path, self.n_calls = self._journal.path, 0
        self.records: Any = []
        self.fixed: Content = {}
        self._random_state: int | None = None  # the random state of this run, if it is an integer
        self._unwritten: list[Content] = []  # observations that could not be written yet
        self._learnt: Content = {}  # the model at the last "asked" record
        self._under_way: dict[int, Content] = {}  # number of an evaluation -> record of its end
        self._earlier = AttemptCounts()  # evaluations that earlier runs left without an outcome

    def seed(self, random_state: Any) -> Any:
        """Return the random state for the optimiser, as recorded in the journal.

        The seed of the first run is used unless `random_state` is an integer.
        """
        header = self._journal.header
        if header is not None:
            check_header(header, self.damaged)
        if isinstance(random_state, Integral):
            self._random_state = int(random_state)
            return random_state
        return random_state if header is None else RootSeed(header["seed"])

    def begin(
        self,
        description: Any,
        space: AnySpace,
        seed: int,
        fixed: Content | None = None,
        *,
        candidates: Sequence[Any] = (),
        keeps_asked: bool = False,
    ) -> None:
        """Write the header of a new journal, or check that an existing one has the same settings.

        Parameters
        ----------
        description : dict
            JSON-compatible description of all settings that identify the search.
        space : Space, SpaceUnion or Box
        seed : int
            Integer that seeds all random streams of the optimiser.
        fixed : dict, default=None
            Settings that later runs of the search must not change.
        candidates : list of dict, default=()
            Initial candidates, which may be outside the space.
        keeps_asked : bool, default=False
            Whether to protect a journal that contains proposals but no observations from being
            overwritten.

        Raises
        ------
        ValueError
            If the journal contains evaluations of another search. The message names the
            differences.
        """
        header = self._journal.header
        if header is not None:
            try:
                self._check(header, description, fixed or {})
            except ValueError:
                paid = {"observed", "asked"} if keeps_asked else {"observed"}
                if any(paid & record.keys() for record in self._journal.records):
                    raise
                header = None  # nothing was evaluated, as after a mistyped call: overwrite it
        if header is None:
            seeds = {"seed": int(seed), "random_state": self._random_state}
            who = {"made with": made_with(), **seeds, "fixed": fixed or {}}
            self._journal.begin({**who, "search": description})
        header = self._journal.header
        self.fixed = header["fixed"]
        self.points = read_format(header["search"], self.damaged, space, candidates)
        self.records = read_records(self._journal.records, self.points, self.damaged)
        self._journal.records = []
        self._earlier = AttemptCounts(self.records)
        self.n_calls = self._earlier.n_calls

    def _check(self, header: Content, description: Any, fixed: Content) -> None:
        then, now, made = header["search"], description, header["made with"]
        if then["entry point"] != now["entry point"]:
            raise ValueError(
                f"journal {self.path!r} was written by {then['entry point']} and cannot be "
                f"resumed by {now['entry point']}. Use another path."
            )
        if self._random_state is not None:
            then = {**then, "random_state": header.get("random_state")}
            now = {**now, "random_state": self._random_state}
        rule = f"journal {self.path!r} belongs to another search"
        remedy = "Search with the same settings as before, or use another path."
        require_same(then, now, rule, remedy)
        kinds = [{k: type(v) for k, v in part.items()} for part in (header["fixed"], fixed)]
        if kinds[0] != kinds[1]:
            raise self.damaged(-1, f"'fixed' must be like {fixed!r}, got {header['fixed']!r}")
        changed = [name for name, now in made_with().items() if made.get(name) != now]
        if changed:
            warn_user(
                f"journal {self.path!r} was written with other versions of {', '.join(changed)}. "
                "Its evaluations are kept, but an uninterrupted search might have continued "
                "differently."
            )

    def n_earlier_attempts(self, point: Any) -> int:
        """Return how often earlier runs died while they evaluated a point, at most 2."""
        if not self._earlier.in_progress:
            return 0
        [key] = self.points.keys([point])
        return self._earlier.take(key)

    def replay(self, optimizer: Any, records: Sequence[Record]) -> None:
        """Restore an optimiser by replaying the journal's records.

        Its model is also restored if this version of the library fitted it, and fitted again
        otherwise.
        """
        made = self._journal.header["made with"]
        is_same = made.get("skbo_silbo") == made_with()["skbo_silbo"]
        self._learnt = replay(optimizer, records, self.damaged, and_what_was_learnt=is_same)

    def record_proposals(self, optimizer: Any, n: int = 1) -> None:
        """Record the last n proposals of an optimiser, and how its model has changed."""
        learnt = optimizer.model_to_dict()
        # repr, because 1 == 1.0 == True
        old = {name: repr(value) for name, value in self._learnt.items()}
        changed = {name: value for name, value in learnt.items() if old.get(name) != repr(value)}
        asked = list(map(self.points.write, optimizer.pending_[-n:]))
        record = {"asked": asked, "learnt": changed}
        try:
            self._append(record)
        finally:
            if self._journal.last is record:
                self._learnt = deepcopy(learnt)  # objects of users may modify their state

    def record_begin(self, trial: Any) -> None:
        """Record that the evaluation of a trial begins."""
        self._under_way[trial.number] = self._about(trial, "ended", called=True)
        self._append(self._about(trial, "begun", again=trial.attempts > 0))

    def record_withdrawal(self, trial: Any) -> None:
        """Record that an evaluation was withdrawn before its start."""
        self._append(self._about(trial, "ended", called=False))
        self._under_way.pop(trial.number, None)

    def record_evaluation(self, trial: Any, **content: Any) -> None:
        """Record the observation of a trial, with the `content` of `Evaluation.record`."""
        if trial.record is None:
            others = {name: [values] for name, values in trial.observation.others.items()}
            values = values_to_record([trial.observation.y], **others)
            how = {"error": trial.observation.error, "source": trial.source}
            how |= {"batch": trial.batch, "position": trial.position}
            how["proposal time"] = trial.proposal_time
            trial.record = {**self._about(trial, "observed"), **values, **how, **content}
        self.write(trial.record)
        self._under_way.pop(trial.number, None)

    def record_observations(self, points: Iterable[Any], *values: Any) -> None:
        """Record values that the user supplied."""
        self.write({"observed": list(map(self.points.write, points)), **values_to_record(*values)})

    def record_cancellation(self, points: Iterable[Any]) -> None:
        """Record that points are no longer pending."""
        self.write({"cancelled": list(map(self.points.write, points))})

    def _about(self, trial: Any, kind: str, **content: Any) -> Content:
        """Return a record with a point, the kind of the record being its first key."""
        outside = {} if trial.is_modelled else {"outside": True}
        return {kind: [self.points.write(trial.point)], **outside, **content}

    def write(self, record: Content) -> None:
        """Append a record to the journal, now or as soon as possible.

        If it cannot be written, for example because the disk is full, it is kept and written before
        the next record.

        Raises
        ------
        OSError, RuntimeError
            If `Journal.append` raises one of these errors.
        """
        if not any(record is other for other in (*self._unwritten, self._journal.last)):
            self._unwritten.append(record)
        self._write_unwritten()

    def close(self) -> None:
        """Record the running evaluations as ended, and close the journal."""
        try:
            left, self._under_way = self._under_way, {}
            with suppress(OSError, RuntimeError):
                self._write_unwritten()
                for ended in left.values():
                    self._append(ended)
        finally:  # otherwise Ctrl-C would leave the file locked
            self._journal.close()
        n_lost = sum(len(record.get("y", ())) for record in self._unwritten)
        self._unwritten = []
        if n_lost:
            warn_user(
                f"{n_lost} observations could not be written to journal {self.path!r}. Save them "
                "from the result or the exception, and pass them on (as x0 and y0, as "
                "initial_results, or to tell) when you continue."
            )

    def _append(self, record: Content) -> None:
        self._write_unwritten()
        self._journal.append(record)

    def _write_unwritten(self) -> None:
        while self._unwritten:
            record = self._unwritten[0]
            if self._journal.last is not record:  # Ctrl-C may be raised after it was written
                self._journal.append(record)
            del self._unwritten[0]


def open_log(path: Path | None) -> EventLog | NoLog:
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
def made_with() -> dict[str, str]:
    """Return the versions of Python and of the packages on which proposals depend."""
    packages = "skbo_silbo", "scikit-learn", "scipy", "numpy"
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
