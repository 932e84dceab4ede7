"""Candidates that an earlier run of the same search has evaluated, and keeping those of this run.

A run with a journal makes the same proposals as the run before it, and takes the values of the
first ones from the journal. The optimiser is then in the state in which it was interrupted, all
that it learnt on the way included, and what follows is what would have followed.
"""

import math
import os
import platform
import warnings
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import version
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from skbo_silbo._sklearn import search_state
from skbo_silbo.journal import Journal, JournalKind, require_same
from skbo_silbo.model_selection._backend import dies_with_its_fits
from skbo_silbo.model_selection._begun import Begun
from skbo_silbo.model_selection._candidates import Candidate
from skbo_silbo.model_selection._fingerprint import search_fingerprint, without_new_defaults

SEARCH = JournalKind(
    name="skbo_silbo", version=2, number="candidate", user="search", without_checksums=(1,)
)


class Memory:
    """The candidates of a journal; without a journal none, and nothing is kept.

    Parameters
    ----------
    space : Space or SpaceUnion
        Of the search.
    random_state : int, RandomState or None
        For the optimiser.
    given : Given
        The candidates that are evaluated first.
    journal : Journal or None, default=None
        Open, and begun.
    is_at_risk : bool, default=False
        Whether fits are made in this process, which may end with them.

    Attributes
    ----------
    candidates : list of Candidate
        In the order of evaluation.
    diverged : bool
        Whether what was proposed now has differed from what the journal holds.
    begun : Begun
        What is being evaluated, and what was when an earlier run ended without a word.
    """

    def __init__(self, space, random_state, given, journal=None, *, is_at_risk=False):
        self.space, self.random_state, self.journal = space, random_state, journal
        self.given = given
        records = [] if journal is None else journal.records
        self.candidates = [self._read(i, record) for i, record in enumerate(records)]
        self.diverged = False
        self.begun = Begun(journal, given, is_needed=is_at_risk)

    def _read(self, i, record):
        try:
            return _candidate(record, self.given)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise self.journal.damaged_record(i) from error

    def recall(self, first, n):
        """Return the candidates with the numbers first, ..., first + n - 1 as far as there are."""
        return self.candidates[first : first + n]

    @property
    def is_in_order(self):
        """Whether the candidates were proposed one batch after the other, and can be so again."""
        return all(candidate.is_in_order for candidate in self.candidates)

    def agrees(self, points, recalled):
        """Return whether the points proposed begin with those recalled, to the last bit."""
        proposed = self.space.encode(points[: len(recalled)])
        return np.array_equal(proposed, self.space.encode([c.params for c in recalled]))

    def keep(self, candidates):
        """Put candidates on disk, one after the other."""
        if self.journal is not None:
            for candidate in candidates:
                self.journal.append(_record(candidate, self.given))
            self.begun.end([candidate.params for candidate in candidates])

    def diverge(self):
        """Note, and warn, that the proposals are other ones than they were."""
        self.diverged = True
        then, now = self.journal.header["made with"], _versions()
        changed = [f"{name} {then.get(name)} then, {now[name]} now" for name in now]
        warnings.warn(
            f"the candidates in journal {self.journal.path!r} are not those that would be proposed "
            f"now ({'; '.join(changed)}). They are kept, and the search continues from them, but "
            "not as an uninterrupted one would have.",
            UserWarning,
            stacklevel=2,
        )


@contextmanager
def open_memory(search, space, given, evaluate_candidates):
    """Give the memory of a search: that of its journal, checked to be of the same search.

    Parameters
    ----------
    search : SILBOSearchCV
    space : Space or SpaceUnion
    given : Given
    evaluate_candidates : callable
        What scikit-learn gave to ``_run_search``.

    Raises
    ------
    ValueError
        If the journal is of another search, is no journal, or is damaged.
    RuntimeError
        If another search uses it.
    """
    if search.journal is None:
        yield Memory(space, search.random_state, given)
        return
    state = search_state(evaluate_candidates)
    # In the words of the journal: those of older ones do for what could not be described now.
    fingerprint = cache(partial(_fingerprint, search, space, state))
    if not os.path.exists(search.journal):
        fingerprint(SEARCH.version)  # refused before there is a file

    with Journal(search.journal, SEARCH) as journal:
        _begin_or_check(journal, search, space, fingerprint)
        at_risk = dies_with_its_fits(effective_n_jobs(search.n_jobs), search.timeout)
        memory = Memory(space, journal.header["seed"], given, journal, is_at_risk=at_risk)
        try:
            yield memory
        finally:
            memory.begun.close()


def _begin_or_check(journal, search, space, fingerprint):
    def make_header():
        seed, now = _seed(search.random_state), fingerprint(SEARCH.version)
        return {"seed": seed, "made with": _versions(), "search": now}

    def check(then):
        version, old = then["version"], then["search"]
        now = without_new_defaults(fingerprint(version), old, type(search), version)
        require_same(old, now, journal.path)

    def forget():
        Begun(journal, space, is_needed=False).forget()

    journal.begin_or_check(make_header, check, forget)


def _fingerprint(search, space, state, version):
    fingerprint = search_fingerprint(search, space, state, version)
    # Only a number can be compared with that of an earlier run; otherwise the journal's counts.
    numbered = isinstance(search.random_state, Integral)
    fingerprint["random_state"] = int(search.random_state) if numbered else None
    return fingerprint


def _seed(random_state):
    if isinstance(random_state, Integral):
        return int(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def _versions():
    packages = ("skbo_silbo", "scikit-learn", "scipy", "numpy")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def _record(candidate, places):
    [x] = places.encode([candidate.params])
    return {
        "iter": candidate.iteration,
        "source": candidate.source,
        "params": {name: _readable(value) for name, value in candidate.params.items()},
        "x": x.tolist(),
        "score": _plain(candidate.score),
        "error": candidate.error,
        "in order": candidate.is_in_order,
        "rows": None if candidate.rows is None else [_plain(row) for row in candidate.rows],
        **({"noise": candidate.noise} if candidate.is_stopped else {}),
    }


def _candidate(record, places):
    [params] = places.decode([record["x"]])
    rows = record["rows"]
    return Candidate(
        params=params,
        iteration=record["iter"],
        source="resumed",
        rows=None if rows is None else [_row(row) for row in rows],
        error=record["error"],
        score=float(record["score"]),
        is_in_order=record.get("in order", True),
        noise=record.get("noise"),
    )


def _readable(value):
    """Return a value for the eye of a reader; `x` says what it is."""
    value = value.item() if isinstance(value, np.generic) else value
    plain = value is None or isinstance(value, (bool, int, str))
    return value if plain or (isinstance(value, float) and math.isfinite(value)) else repr(value)


def _plain(value):
    """Return a row, or part of one, with numbers that JSON has; "nan" and "inf" are text."""
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else str(float(value))
    return value


def _row(stored):
    return {key: value if key == "fit_error" else _numbers(value) for key, value in stored.items()}


def _numbers(value):
    if isinstance(value, dict):
        return {key: _numbers(member) for key, member in value.items()}
    return float(value) if isinstance(value, str) else value
