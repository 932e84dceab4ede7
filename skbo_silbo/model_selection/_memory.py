"""Candidates that an earlier run of the same search has evaluated, and keeping those of this run.

A run with a journal follows the events in it: the optimiser is asked and told as it was, and takes
over what it had learnt by the last proposal. What follows is what would have followed.
"""

import math
import os
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from inspect import signature
from numbers import Integral, Real

import joblib
import numpy as np
from joblib import effective_n_jobs

from skbo_silbo._checks import warn_user
from skbo_silbo._sklearn import search_state
from skbo_silbo.journal._describe import describe, describe_data, require_same_search
from skbo_silbo.journal._journal import JournalKind
from skbo_silbo.minimization._call_log import CallLog
from skbo_silbo.model_selection._candidates import Candidate
from skbo_silbo.model_selection._given import read_initial_results
from skbo_silbo.model_selection._goals import goal_values
from skbo_silbo.model_selection._optimizer import n_first_candidates
from skbo_silbo.optimizers._constraints import KnownConstraints
from skbo_silbo.optimizers._event_log import EventLog, made_with
from skbo_silbo.optimizers._events import describe_space, root_seed
from skbo_silbo.optimizers._records import UNREADABLE, values_to_data
from skbo_silbo.workers._joblib import dies_with_its_calls

# Parameters of a search that do not decide what its candidates are and what their scores mean.
MAY_CHANGE = (
    *("callback", "journal", "max_time", "n_iter", "n_jobs", "patience", "pre_dispatch", "timeout"),
    "verbose",
)
# Parameters that the fingerprint has in a form of its own.
DESCRIBED_SPECIALLY = (
    *("batch_size", "constraints", "cv", "estimator", "initial_results", "param_distributions"),
    "refit",
)


def search_fingerprint(search, space, state):
    """Return all that decides what the candidates of a search are and what their scores mean.

    That is every parameter of the search but those in `MAY_CHANGE`, the data, and what is routed
    to splitter, estimator and scorers.

    Parameters
    ----------
    search : SILBOSearchCV
    space : Space or SpaceUnion
        Read from its `param_distributions`.
    state : SearchState
        The data and splits of the fit.

    Returns
    -------
    fingerprint : dict
        What JSON can hold.

    Raises
    ------
    ValueError
        If the splitter gives other splits when it splits again, or a part cannot be described.
    """
    metric = search.refit if isinstance(search.refit, str) else None
    by_order = isinstance(search.scoring, dict) and metric is None  # which is searched
    fingerprint = {
        "param_distributions": describe_space(space),
        "estimator": describe(search.estimator),
        "X": describe_data(state.X),
        "y": describe_data(state.y),
        "fit parameters": _described_data(state.fit_params),
        "scorer parameters": _described_data(state.score_params),
        "order of scoring": [str(name) for name in search.scoring] if by_order else None,
        "cv": {"splits": _splits_digest(state)},
        "refit": list(search._goals) if search._goals else metric,
        **{name: describe(getattr(search, name)) for name in described_parameters(type(search))},
    }
    # Only a number can be compared with that of an earlier run; otherwise the journal's counts.
    if not isinstance(search.random_state, Integral):
        fingerprint["random_state"] = None
    fingerprint["batch_size"] = 1 if search.batch_size == "auto" else describe(search.batch_size)
    fingerprint["constraints"] = KnownConstraints.of(search.constraints, space).described
    if search.initial_results is not None:
        told_before = read_initial_results(search.initial_results, search.refit, space)
        fingerprint["initial_results"] = describe(told_before)
    return fingerprint


def _described_data(parameters):
    return {name: describe_data(data) for name, data in sorted(parameters.items())}


def described_parameters(cls):
    """Return the names of a search's parameters that the fingerprint has as they are."""
    left_out = {*MAY_CHANGE, *DESCRIBED_SPECIALLY}
    return [name for name in signature(cls).parameters if name not in left_out]


def _splits_digest(state):
    first, second = (
        joblib.hash([list(map(np.ascontiguousarray, pair)) for pair in state.split()])
        for _ in range(2)
    )
    if first != second:
        raise ValueError(
            "cv must give the same splits every time when there is a journal, for candidates of "
            f"different runs to be comparable: got {state.splitter!r}. Give it an int as "
            "random_state."
        )
    return first


SEARCH = JournalKind(
    name="skbo_silbo",
    version=9,
    user="search",
    is_of_optimizer=False,  # what that is told is written with all that is known of the candidate
)


class SearchJournal:
    """The candidates of a journal; without a journal none, and nothing is kept.

    Parameters
    ----------
    space : Space or SpaceUnion
        Of the search.
    random_state : int, RandomState or None
        For the optimiser.
    given : InitialCandidates
        The candidates that are evaluated first.
    log : EventLog or None, default=None
        Open, and begun.
    is_at_risk : bool, default=False
        Whether fits are made in this process, which may end with them.
    goals_of : callable or None, default=None
        Returns the values of several goals, (m,), of a `Candidate`; None where there is one.

    Attributes
    ----------
    n_initial : int or None
        How many candidates come before the first model, as when the journal was begun: a greater
        `n_iter` continues the same search.
    candidates : list of Candidate
        In the order of evaluation.
    begun : CallLog
        What is being evaluated, and what was when an earlier run ended without a word.
    """

    def __init__(self, space, random_state, given, log=None, *, is_at_risk=False, goals_of=None):
        self.n_initial = None if log is None else log.header["n_initial"]
        self.space, self.random_state, self.log = space, random_state, log
        self.given = given
        self._optimizer = None
        self._events = [] if log is None else log.events
        self._told = [i for i, event in enumerate(self._events) if event.kind == "told"]
        self.candidates = [self._read(i) for i in self._told]
        self._require_rows_alike()
        self.goals_of = goals_of
        for i, candidate in zip(self._told if goals_of else (), self.candidates, strict=False):
            self._events[i] = replace(self._events[i], goals=goals_of(candidate)[None])
        self.begun = CallLog(log, given, is_needed=is_at_risk)
        if self.candidates and log.header["made with"] != made_with():
            self._warn_of_versions()

    def _read(self, i):
        try:
            return _candidate(self._events[i])
        except UNREADABLE as error:
            raise self.log.damaged_record(i, error) from error

    def _require_rows_alike(self):
        """Refuse rows that have not the names of those before.

        A failed fit has no scores, and where a scorer of several metrics raised there is a number.
        """
        known = {}
        for i, candidate in zip(self._told, self.candidates, strict=True):
            for row in (row for row in candidate.rows or () if not row["fit_error"]):
                names = {k: sorted(v) if isinstance(v, dict) else None for k, v in row.items()}
                known = known or names
                several = [k for k in names if names[k] and known.get(k)]
                if names.keys() != known.keys() or any(names[k] != known[k] for k in several):
                    raise self.log.damaged_record(i, f"rows must be alike: got {names}")
                known = {k: known[k] or names[k] for k in known}

    def follow(self, optimizer, n, n_open):
        """Have an optimiser follow all events up to candidate n, and write its own from now on.

        The last `n_open` of these candidates are not told, as others of their batch are to come.
        """
        if self.log is None:
            return
        end = self._told[n] if n < len(self._told) else len(self._events)
        kept = sorted(set(range(end)) - set(self._told[n - n_open : n]))
        followed = [self._events[i] for i in kept if self._events[i].is_of_optimizer]
        self.log.replay(optimizer, followed)
        optimizer._log = self.log
        self._optimizer = optimizer

    def close(self):
        """Note that this process ends with nothing under way; the optimiser writes no more."""
        self.begun.close()
        if self._optimizer is not None:
            self._optimizer.close_journal()

    def keep(self, candidates):
        """Put candidates on disk, one after the other."""
        if self.log is not None:
            self.log.keep(*(_event(candidate, self.given) for candidate in candidates))
            self.begun.end([candidate.params for candidate in candidates])

    def _warn_of_versions(self):
        then, now = self.log.header["made with"], made_with()
        changed = [f"{k} {then.get(k)} then, {now[k]} now" for k in now if then.get(k) != now[k]]
        warn_user(
            f"the candidates in journal {self.log.path!r} may not be those that would be proposed "
            f"now ({'; '.join(changed)}). They are kept, and the search continues from them, but "
            "not as an uninterrupted one would have."
        )


@contextmanager
def open_memory(search, space, given, evaluate_candidates):
    """Give the memory of a search: that of its journal, checked to be of the same search.

    Parameters
    ----------
    search : SILBOSearchCV
    space : Space or SpaceUnion
    given : InitialCandidates
    evaluate_candidates : callable
        What scikit-learn gave to ``_run_search``.

    Raises
    ------
    ValueError
        If the journal is of another search, is no journal, or is damaged.
    RuntimeError
        If another search uses it.
    """
    goals_of = None
    if search._goals:
        goals_of = partial(goal_values, goals=search._goals, error_score=search.error_score)
    if search.journal is None:
        yield SearchJournal(space, search.random_state, given, goals_of=goals_of)
        return
    fingerprint = cache(
        partial(search_fingerprint, search, space, search_state(evaluate_candidates))
    )
    if not os.path.exists(search.journal):
        fingerprint()  # refused before there is a file

    with EventLog(search.journal, SEARCH) as log:
        _begin_or_check(log, search, space, fingerprint)
        log.read_events(given)
        at_risk = dies_with_its_calls(effective_n_jobs(search.n_jobs), search.timeout)
        options = {"is_at_risk": at_risk, "goals_of": goals_of}
        memory = SearchJournal(space, log.header["seed"], given, log, **options)
        try:
            yield memory
        finally:
            memory.close()


def _begin_or_check(log, search, space, fingerprint):
    def make_header():
        seed = search.random_state
        return {
            "seed": int(seed) if isinstance(seed, Integral) else root_seed(seed) % 2**31,
            "made with": made_with(),
            "search": fingerprint(),
            "n_initial": n_first_candidates(search, space),
        }

    def check(then):
        require_same_search(then.get("search"), fingerprint(), log.path)

    log.begin_or_check(make_header, check)
    for name, kind in {"seed": int, "n_initial": int, "made with": dict}.items():
        if type(log.header.get(name)) is not kind:
            raise log.damaged_header(f"{name!r} must not be {log.header.get(name)!r}")


def _event(candidate, given):
    params = candidate.params
    return {
        "told": given.rows([params]),
        "y": values_to_data([-candidate.score]),  # minimised
        "noise_std": [None],
        "iter": candidate.iteration,
        "source": candidate.source,
        # for the eye of a reader: "told" says what they are
        "params": {k: repr(v) if isinstance(v, dict) else _plain(v) for k, v in params.items()},
        "error": candidate.error,
        "in order": candidate.is_in_order,
        "rows": None if candidate.rows is None else [_plain(row) for row in candidate.rows],
    }


def _candidate(event):
    [params], [y] = event.points, event.y
    content, rows = event.content, event.content["rows"]
    _require_types(content)
    return Candidate(
        params=params,
        iteration=content["iter"],
        source="resumed",
        rows=None if rows is None else [_row(row) for row in rows],
        error=content["error"],
        score=-float(y),
        is_in_order=content["in order"],
    )


def _require_types(content):
    kinds = {"iter": int, "error": (str, type(None)), "in order": bool, "rows": (list, type(None))}
    for name, kind in kinds.items():
        if not isinstance(content[name], kind):
            raise TypeError(f"{name!r} must not be {content[name]!r}")
    if not (content["rows"] or isinstance(content["error"], str)):
        raise TypeError("'rows' or 'error' must say what became of it")


def _plain(value):
    """Return a row, or part of one, with what JSON has; "nan", "inf" and objects are text."""
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Real) and not isinstance(value, Integral):
        value = float(value)
    is_plain = value is None or isinstance(value, (int, str))
    return value if is_plain or (isinstance(value, float) and math.isfinite(value)) else repr(value)


def _row(stored):
    """Return a row as scikit-learn made it, after checking that it is one."""
    error, names = stored["fit_error"], [name for name in stored if name != "fit_error"]
    if not {"fit_time", "score_time", "test_scores"} <= set(names):
        raise KeyError(f"a row has times and scores: got {names}")
    if not isinstance(error, (str, type(None))):
        raise TypeError(f"'fit_error' must not be {error!r}")
    return {"fit_error": error, **{name: _numbers(stored[name], name) for name in names}}


def _numbers(value, name):
    if isinstance(value, dict) and value and name.endswith("scores"):
        return {key: _numbers(member, "") for key, member in value.items()}
    if type(value) not in (int, float, str):
        raise TypeError(f"{name!r} must not be {value!r}")
    number = float(value)
    return number if isinstance(value, str) else value
