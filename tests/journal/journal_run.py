"""One run with a journal, in a process of its own, for the tests that kill or interrupt it.

It comes by some places: P, a proposal; F, a fit or a call of the function; W, a line of the journal
of which half is written; S, a line that is not synced; D, one that is. Where the test wants it to,
it says so through a pipe, and waits there.
"""

import json
import os
import signal
import warnings
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from select import select

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo import SILBO, SILBOSearchCV, minimize

N_ITER, PLACES = 16, "PFWSD"
FOLDER = "SKBO_SILBO_JOURNAL_RUN"
HANGS = 300  # seconds after which a run does not come


def come_by(place):
    """Say where the run is, and wait there, if that is wanted: once so many have been told."""
    if FOLDER not in os.environ:  # of a run that is not watched
        return
    folder = Path(os.environ[FOLDER])
    wanted, n_told, journal = (folder / "wanted").read_text().split("\n")
    if wanted == place and count_told(Path(journal)) >= int(n_told):
        with open(folder / "now", "wb", buffering=0) as now, open(folder / "go", "rb", 0) as go:
            now.write(place.encode())
            go.read(1)


def count_told(journal):
    """Return how many values a journal holds."""
    return journal.read_bytes().count(b'"observed"') if journal.exists() else 0


class Run:
    """A search in a process of its own, in a session of its own with its workers.

    Use it in a ``with`` statement, at the end of which the workers are gone too.
    """

    def __init__(self, folder, journal, place, n_told, backend, door, **options):
        """Begin a run; the options are those of `run_there`."""
        folder.mkdir()
        self.folder = folder
        for name in ("now", "go"):
            os.mkfifo(folder / name)
        (folder / "wanted").write_text(f"{place}\n{n_told}\n{journal}")
        self._now, self._go = (os.open(folder / name, os.O_RDWR) for name in ("now", "go"))
        self.process = get_context("forkserver").Process(
            target=run_there, args=(folder, journal, backend, door), kwargs=options
        )
        self.process.start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.join()
        os.close(self._now)
        os.close(self._go)

    def wait(self):
        """Return where the run is and waits, or "E" if it has ended."""
        ready, _, _ = select([self._now], [], [], HANGS)
        assert ready, "it hangs"
        return os.read(self._now, 1).decode()

    def go_on(self):
        """Let the run go on, and come by without waiting."""
        (self.folder / "wanted").write_text("\n0\n")
        os.write(self._go, b"." * 999)

    def results(self):
        """Return the results of a run that ends."""
        self.process.join(HANGS)
        assert self.process.exitcode == 0
        return json.loads((self.folder / "results").read_text())


class Told(BaseEstimator):
    """Says where it is, fails for one kind, and has a score that differs between folds."""

    def __init__(self, a=0.0, b=0.0, kind="x"):
        self.a, self.b, self.kind = a, b, kind

    def fit(self, X, y=None):
        come_by("F")
        if self.kind == "fails":
            raise RuntimeError("this kind cannot be fitted")
        self.mean_ = float(np.mean(X))
        return self

    def score(self, X, y=None):
        return -((self.a - 0.7) ** 2) - (self.b - 0.2) ** 2 + 0.01 * float(np.mean(X))


def searched(n_iter=N_ITER, journal=None, **options):
    """Fit a search; return the results that must not depend on interruptions, in plain JSON."""
    search = SILBOSearchCV(
        Told(),
        {"a": uniform(), "b": uniform(), "kind": ["x", "y", "fails"]},
        n_iter=n_iter,
        cv=KFold(2),
        journal=journal,
        **options,
    )
    results = search.fit(np.random.RandomState(0).normal(size=(30, 2))).cv_results_
    return {
        key: [repr(value) for value in column]
        for key, column in results.items()
        if "time" not in key and key != "resumed"
    }


def minimized(batch_size, random_state, n_iter=N_ITER, journal=None):
    """Minimise a function that says where it is, and return every point and value."""

    def func(x):
        come_by("F")
        return np.nan if x[2] > 0.8 else (x[0] - 0.7) ** 2 + (x[1] - 0.2) ** 2

    found = minimize(func, [(0, 1)] * 3, n_calls=n_iter, random_state=random_state, journal=journal)
    return {"x": repr(found.x_iters.tolist()), "y": repr(found.func_vals.tolist())}


DOORS = {"search": searched, "minimize": minimized}


def come_by_the_disk(journal, write=os.write, fsync=os.fsync, ask=SILBO.ask):
    """Have the run come by what it writes, and by its proposals."""

    def is_journal(file):
        return journal.exists() and os.path.samestat(os.fstat(file), os.stat(journal))

    def write_half(file, data):
        if not is_journal(file):
            return write(file, data)
        n = write(file, data[: len(data) // 2 + 1])
        come_by("W")
        return n

    def sync(file):
        if not is_journal(file):
            return fsync(file)
        come_by("S")
        fsync(file)
        return come_by("D")

    def ask_after(self, *args, **kwargs):
        come_by("P")
        return ask(self, *args, **kwargs)

    os.write, os.fsync, SILBO.ask = write_half, sync, ask_after


def run_there(folder, journal, backend, door, **options):
    """Run as a command in a terminal does: at the head of a session, ended by Ctrl-C."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ[FOLDER] = str(folder)
    warnings.simplefilter("ignore")
    try:
        with parallel_config(backend=backend, n_jobs=2):
            Parallel()(delayed(abs)(1) for _ in range(4))
            come_by_the_disk(journal)
            final = DOORS[door](journal=journal, **options)
        (folder / "results").write_text(json.dumps(final))
    finally:
        (folder / "now").write_text("E")
