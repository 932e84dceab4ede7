"""Hyperparameter search with SILBO, a drop-in for RandomizedSearchCV."""

import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from skbo_silbo._sklearn import (
    BaseSearchCV,
    Interval,
    StrOptions,
    adopt_rows,
    count_masked_scores_as_failed,
    search_state,
)
from skbo_silbo._typing import Auto, LegacyRandomState, RegressorLike, TransformerLike
from skbo_silbo.embedding import Learner
from skbo_silbo.model_selection._batches import Batches, callback_task
from skbo_silbo.model_selection._candidates import (
    add_predictions,
    result_rows,
    score_noise,
    searched_metric,
    unrun_folds_are_no_surprise,
    warn_of_failures,
    warn_of_interruption,
)
from skbo_silbo.model_selection._given import read_initial_params
from skbo_silbo.model_selection._memory import open_memory
from skbo_silbo.model_selection._optimizer import make_optimizer
from skbo_silbo.model_selection._progress import show_progress
from skbo_silbo.model_selection._racing import Race
from skbo_silbo.model_selection._requirements import read_space, require_options_that_fit
from skbo_silbo.model_selection._stopping import Stopping
from skbo_silbo.model_selection._under_way import CandidatesUnderWay, read_batch_size
from skbo_silbo.optimizers import SILBO
from skbo_silbo.space import Space, SpaceExhausted, SpaceUnion
from skbo_silbo.surrogate import Surrogate


@dataclass(frozen=True, eq=False)
class _Run:
    """What one call of `fit` has in hand while it searches."""

    batches: Batches
    memory: object
    stopping: Stopping
    progress: object
    race: Race | None
    waiting: list = field(default_factory=list)  # points that an earlier run has asked for


class SILBOSearchCV(BaseSearchCV):
    """Search over hyperparameters that learns from every candidate which to try next.

    Takes the place of :class:`~sklearn.model_selection.RandomizedSearchCV`: the same arguments with
    the same defaults, and some more; the same methods and attributes. Candidates are
    proposed by :class:`~skbo_silbo.SILBO`, which maximises the mean test score: first a
    space-filling design, then what a model of the scores so far expects to be better.

    Parameters
    ----------
    estimator : estimator object
        Cloned for every fit. It needs a ``score`` method, or `scoring` must be given.
    param_distributions : dict, list of dicts, Space or SpaceUnion
        Parameter names to lists of values or distributions, read as :class:`~skbo_silbo.Space`
        says: a list of sorted numbers is ordered, any other list categorical. With a list of dicts
        a candidate has the parameters of one of them. They are searched together: `n_iter` is
        for all, and what is learnt of a parameter that several have with the same values counts
        in each.
    n_iter : int, default=10
        Most candidates to evaluate, the initial ones included. A finite space of fewer
        points is evaluated completely, no point twice, and ends the search.
    batch_size : int or "auto", default="auto"
        "auto": with one worker candidates are proposed one by one; with more, whenever a worker
        is free, from what is known by then: none waits for another, and the result depends on
        which fits end first. An int: so many candidates are proposed at a time and waited for; the
        result depends on it, not on `n_jobs`. Backends of joblib that give no results before the
        last fit (Ray's, "multiprocessing") are used in batches of as many candidates as keep all
        workers busy, with a warning.
    scoring : str, callable, list, tuple, dict or None, default=None
        As in RandomizedSearchCV. With several metrics the one that `refit` names is searched; if
        `refit` is False or a callable, the first.
    n_jobs : int or None, default=None
        Fits in parallel, as in RandomizedSearchCV; with an int as `batch_size`, at most
        ``batch_size * n_splits`` at a time.
    refit : bool, str or callable, default=True
        As in RandomizedSearchCV. A callable chooses among all candidates at the end; the
        search itself goes after the (first) metric.
    cv : int, splitter, iterable or None, default=None
        As in RandomizedSearchCV. A splitter splits once in every `fit`, so that all candidates
        are compared on the same splits even if it shuffles without a seed.
    verbose : int, default=0
        0: nothing is printed. 1: progress and the best score so far, as a bar (with tqdm installed)
        or a line per candidate. From 2 on: lines with the parameters, and scikit-learn's own.
    pre_dispatch : int or str, default="2*n_jobs"
        As in RandomizedSearchCV.
    random_state : int, RandomState instance or None, default=None
        Seed of the proposals. None gives other ones at every `fit`; numpy's global generator is
        never used.
    error_score : "raise" or float, default=nan
        Score of a fit that fails, and of one whose score is masked. A candidate whose fits all
        fail is a row of `cv_results_` with this score (its times are not known: NaN) and the search
        goes on.
    return_train_score : bool, default=False
        Whether `cv_results_` has training scores too.
    racing : bool, default=False
        Whether a candidate that surely loses is stopped after some of its folds: when, by its
        differences to the best so far on the same folds, it would be better in the end with a
        probability below .05, looks after the second and every further fold taken together. Folds
        that were not run are NaN in `cv_results_`, as are the mean and all that follows from it, so
        that the candidate is never ranked first; what its mean would have been is in a column of
        its own, and is what the model is told, with its deviation. At least three splits.
    timeout : float or None, default=None
        Seconds that the fits of a candidate may run, all together; then it has failed, with
        `error_score` and a `LostEvaluationWarning`. Fits are made in processes of their own, which
        are ended and replaced, with one worker too; with joblib's backend "threading" in threads,
        which are left behind. Other backends are refused. The refit has no limit.
    max_time : float or None, default=None
        Seconds after which no further batch is begun; the first one always is. With a journal, of
        this run. What is under way is waited for, so give `timeout` if fits may hang.
    patience : int or None, default=None
        Stop after so many candidates in a row without a better score, initial ones included.
    journal : str, path-like or None, default=None
        File to which every evaluated candidate is written before the next one is proposed, as a
        line of JSON. If it exists, the search continues where it was interrupted, or with a greater
        `n_iter` goes on, and the result is that of a search never interrupted. One file is for
        one search on one set of data.
    initial_results : dict, DataFrame, list of (params, score) or None, default=None
        What an earlier search found: its ``cv_results_``, a frame made from it (columns
        ``param_...`` and ``mean_test_score``), or pairs of parameters and score, NaN for a failed
        candidate. The model learns from them, they are not evaluated again, and the design at the
        start is shorter by their number. They are neither in `cv_results_` nor counted. Scores must
        be of the same metric on like data. Of candidates stopped by `racing` the prediction counts.
        Those that were "given" outside this space are left out.
    callback : callable or None, default=None
        Called after every candidate with a `SearchProgress`: `n_candidates`, `params`, `score`,
        `source`, `best_params`, `best_score`, `elapsed`. A true return value ends the search. It
        has nothing to do with the callbacks of scikit-learn 1.9, which work as well.
    fold_noise : bool, default=False
        Whether the model takes ``std_test_score / sqrt(n_splits)`` as noise of a candidate's score.
        All candidates are compared on the same splits, so most of it is common to all; searches
        told of it found no better scores (:doc:`/search_log`). It is for splits so few or small
        that the best score is often luck.
    embedding, n_components, surrogate, n_initial : default="auto"
        What is learnt of the scores, and after how many; as in :class:`~skbo_silbo.SILBO`. The
        method of the paper, for example, is ``embedding="semi-sir"`` with some `n_components`.
    optimizer_options : dict or None, default=None
        Other arguments of :class:`~skbo_silbo.SILBO`, such as ``{"acquisition": "ucb"}``.
    initial_params : "current", dict, list of dict or None, default="current"
        Candidates that are evaluated first, before the design. "current": the parameters that
        `estimator` has, where `n_iter` is above 1; with a list of dicts as `param_distributions`
        those of the first that holds them. They count in `n_iter`. One outside the space, such as
        ``gamma="scale"`` where a distribution is searched, is evaluated, and the model does not
        learn from it (of a dict given a warning says so). With an int as `batch_size` they are a
        batch of their own.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As in RandomizedSearchCV, in the order of evaluation, and besides ``iter``, the number of
        the batch, and ``source``, where the candidate came from: "given", "init", "model", or
        "resumed" if it was evaluated by an earlier run and is in the journal.
    optimizer_ : SILBO
        The optimiser after the last candidate; its values are the scores with a minus sign.
    stop_reason_ : str
        Why the search ended: "n_iter", "max_time", "patience", "callback", "exhausted" (a finite
        space) or "interrupted" (Ctrl-C, ``sys.exit``).
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, \
multimetric_, classes_, n_features_in_, feature_names_in_
        As in RandomizedSearchCV.

    Raises
    ------
    ValueError
        If an argument is invalid, if no fit of any candidate succeeds, or if the journal is of
        another search (then the message names what differs) or damaged.
    RuntimeError
        If another search is using the journal.
    TimeoutError
        If a candidate runs longer than `timeout`, with ``error_score="raise"``.
    Exception
        What `callback` or a full disk raises has the results so far as its attribute
        ``cv_results_``, which can be given as `initial_results`.

    Warns
    -----
    FirstPointsOnlyWarning
        If `n_iter` ends with the candidates that are made without a model, and `n_initial` is not
        given.
    UserWarning
        If the search is interrupted by Ctrl-C (SIGINT): it ends, the candidates evaluated are its
        results and the best is refitted; before the first success KeyboardInterrupt is raised. By
        ``sys.exit`` too, but SystemExit is raised, with the results in ``cv_results_``.
    LostEvaluationWarning
        If a candidate counts as failed because it ran longer than `timeout`, or because this
        process ended twice while it was evaluated.
    UserWarning
        If the candidates in the journal were proposed with other versions of Python, NumPy, SciPy,
        scikit-learn or this package, which may compute other digits.

    Notes
    -----
    **Journal.** The first line says what the search is: space, estimator, data, scoring, splits,
    the settings of the search and its seed. Only `n_iter`, `max_time`, `timeout`, `patience`,
    `n_jobs`, `verbose`, `pre_dispatch` and a callable `refit` may change later; anything else is
    refused by name once it holds a candidate. Functions are known by their name (lambdas, nested
    and decorated ones by what they hold), classes by their name and parameters, data by their
    content; what cannot be looked into is refused. With
    `random_state` None or a RandomState the journal keeps the seed drawn first. `cv` must give the
    same splits in every run. A line torn by a crash is dropped, and that candidate evaluated again.
    What was evaluated is not fitted again, the best model is. Where fits are made in this process,
    the journal says which candidates are under way: one with which the process ends (out of memory,
    a crash) is evaluated again, alone, and counts as failed when the process ends with it again.

    **Racing.** With j of k folds run, the differences to the incumbent of mean m and variance s^2,
    the final mean is m ± s sqrt((k - j) / (j k)), and m over this error follows Student's t. s^2 is
    moderated by those of earlier candidates; with fewer than three degrees of freedom in all
    nothing is stopped. The level is shared by the k - 2 looks. The sources are Maron and Moore
    (1994), Birattari et al. (2002), Cochran (1977, ch. 2) and Smyth (2004, section 3). It assumes
    that differences are normal, and that folds are alike.

    See Also
    --------
    SILBO : The optimiser, for functions of one's own.
    Space : What the parameters may be.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from skbo_silbo import SILBOSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 10),
    ...          "kernel": ["rbf", "poly"]}
    >>> search = SILBOSearchCV(SVC(), space, n_iter=15, random_state=0).fit(X, y)
    >>> len(search.cv_results_["params"]), bool(search.best_score_ > 0.96)
    (15, True)
    """

    best_params_: dict[str, Any]
    best_score_: float
    best_index_: int
    cv_results_: dict[str, Any]
    n_splits_: int
    optimizer_: SILBO
    refit_time_: float
    stop_reason_: str

    _parameter_constraints: ClassVar[dict] = {
        **BaseSearchCV._parameter_constraints,
        "param_distributions": [dict, list, Space, SpaceUnion],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "random_state": ["random_state"],
        "racing": ["boolean"],
        "timeout": [Interval(Real, 0, None, closed="neither"), None],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "journal": [str, os.PathLike, None],
        "callback": [callable, None],
        "fold_noise": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        batch_size: int | Auto = "auto",
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: LegacyRandomState = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        racing: bool = False,
        timeout: float | None = None,
        max_time: float | None = None,
        patience: int | None = None,
        journal: str | PathLike[str] | None = None,
        initial_results: Any = None,
        callback: Callable[..., Any] | None = None,
        fold_noise: bool = False,
        embedding: str | Learner | TransformerLike = "auto",
        n_components: int | Auto = "auto",
        surrogate: str | Surrogate | RegressorLike = "auto",
        n_initial: int | Auto = "auto",
        optimizer_options: Mapping[str, Any] | None = None,
        initial_params: Any = "current",
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.batch_size = batch_size
        self.random_state = random_state
        self.racing = racing
        self.timeout = timeout
        self.max_time = max_time
        self.patience = patience
        self.journal = journal
        self.initial_results = initial_results
        self.callback = callback
        self.fold_noise = fold_noise
        self.embedding = embedding
        self.n_components = n_components
        self.surrogate = surrogate
        self.n_initial = n_initial
        self.optimizer_options = optimizer_options
        self.initial_params = initial_params

    def _run_search(self, evaluate_candidates, *, callback_ctx=None):
        """Propose, evaluate and tell until the search ends, then make the table of results.

        Older versions of scikit-learn do not pass `callback_ctx`, and set `n_splits_` afterwards.
        """
        self.n_splits_ = search_state(evaluate_candidates).n_splits()
        count_masked_scores_as_failed(evaluate_candidates)
        space = read_space(self.param_distributions)
        given = read_initial_params(self.initial_params, self.estimator, space, self.n_iter)
        require_options_that_fit(self, make_optimizer(self, space, 0), given)
        task = {"task_name": "search", "max_subtasks": None}
        with (
            open_memory(self, space, given, evaluate_candidates) as memory,
            callback_task(self, callback_ctx, **task) as search_ctx,
        ):
            batches, ended_by = Batches(self, evaluate_candidates, search_ctx, memory.begun), None
            try:
                self._search(batches, memory)
            except (KeyboardInterrupt, SystemExit) as error:
                if not any(candidate.rows for candidate in batches.candidates):
                    raise
                self.stop_reason_, ended_by = "interrupted", error
                warn_of_interruption(batches.candidates, self.n_iter, error)
            except Exception as error:
                self._attach(error, batches, evaluate_candidates)
                raise
        self._make_table(batches, evaluate_candidates)
        if isinstance(ended_by, SystemExit):  # a signal's, it may be: nothing is fitted
            self.cv_results_ = batches.table
            raise ended_by

    def _attach(self, error, batches, evaluate_candidates):
        """Give an error the results so far, if there are any, and say so."""
        if not any(candidate.rows for candidate in batches.candidates):
            return
        with suppress(Exception):  # the first error is the one to raise
            self._make_table(batches, evaluate_candidates)
            error.cv_results_ = batches.table
            error.add_note(
                f"SILBOSearchCV: the results of {len(batches.candidates)} candidates are in the "
                "attribute 'cv_results_' of this exception, and can be given as initial_results."
            )

    def _make_table(self, batches, evaluate_candidates):
        rows = [row for candidate in batches.candidates for row in candidate.rows or ()]
        if not rows:
            raise ValueError(
                f"every fit of all {len(batches.candidates)} candidates failed: one must succeed. "
                f"Set error_score='raise' to debug. The last batch:\n{batches.candidates[-1].error}"
            )
        warn_of_failures(batches.candidates, self.error_score)
        if batches.table is None:  # all successes are from the journal
            batches.table = adopt_rows(evaluate_candidates, rows)
        self._tabulate(batches.table, batches.candidates)

    def _search(self, batches, memory):
        self.optimizer_ = make_optimizer(self, memory.space, memory.random_state)
        given = memory.given
        total = min(self.n_iter, memory.space.n_points + given.n_outside)
        stopping = Stopping(total, self.max_time, self.patience)
        with show_progress(self.verbose, total) as progress:
            race = Race(self.n_splits_, self.refit) if self.racing else None
            run = _Run(batches, memory, stopping, progress, race)
            batch_size, n_workers = read_batch_size(self)
            if batch_size is None:
                self._search_as_workers_are_free(run, n_workers)
            elif race is None and self.timeout is None and n_workers == 1:
                self._search_in_batches(run, batch_size, batches.evaluate)
            else:
                with self._workers(run, n_workers, in_batches=True) as workers:
                    self._search_in_batches(run, batch_size, workers.evaluate)
        self.stop_reason_ = stopping.reason(space_is_finite=total < self.n_iter)

    def _search_in_batches(self, run, batch_size, evaluate):
        if not run.memory.is_in_order:
            self._recall_all(run)
        while n := run.stopping.room(batch_size):
            if self._evaluate_given(run, evaluate):
                continue
            try:
                points, recalled = self._propose(run, n)
            except SpaceExhausted:  # what is left has next to no probability
                run.stopping.end("exhausted")
                break
            sources = self._sources(len(points))
            new = slice(len(recalled), None)
            evaluated = self._evaluate(run, points[new], sources[new], evaluate)
            self._take(run, evaluated, recalled)

    def _evaluate_given(self, run, evaluate):
        """Recall what was given, or evaluate it after all that is in the journal; say if any."""
        memory = run.memory
        recalled = memory.next_given(run.stopping.room(len(memory.given.params)))
        done = [*run.batches.candidates, *recalled]
        left = [] if memory.has_batches else memory.given.left(done)
        left = left[: run.stopping.room(len(left) + len(recalled)) - len(recalled)]
        if left or recalled:
            sources = ["given"] * len(left)
            self._take(run, self._evaluate(run, left, sources, evaluate), recalled)
        return bool(left or recalled)

    def _evaluate(self, run, points, sources, evaluate, *, is_in_order=True):
        """Evaluate a batch and put it on disk.

        One by one where an earlier run may have ended with a candidate of it, and not at all if it
        has done so again.
        """

        def kept(batch):
            batch = [replace(candidate, is_in_order=is_in_order) for candidate in batch]
            return self._keep(run, batch)

        begun = run.memory.begun
        if not any(begun.is_suspect(params) for params in points):
            return kept(evaluate(points, sources) if points else [])
        batch = []
        for params, source in zip(points, sources, strict=True):
            why = run.batches.why_not(params)
            failed = why and [run.batches.failed(params, source, why)]
            batch += kept(failed or evaluate([params], [source]))
        return batch

    def _search_as_workers_are_free(self, run, n_workers):
        self._recall_all(run)
        with self._workers(run, n_workers) as workers:
            self._look_at_suspects(run, workers)
            left = run.memory.given.left(run.batches.candidates)
            while self._begin(run, workers, left) or workers.n_under_way:
                workers.wait()
                for candidate in workers.ended():
                    self._take(run, self._keep_by_itself(run, [candidate]))

    @contextmanager
    def _workers(self, run, n_workers, *, in_batches=False):
        """Give workers; what has ended is told and put on disk even if the search is cut short."""
        options = {"race": run.race, "in_batches": in_batches}
        with CandidatesUnderWay(run.batches, n_workers, **options) as workers:
            try:
                yield workers
            except BaseException:
                if left := self._keep_by_itself(run, list(workers.ended())):
                    self._tell(left, run.memory.given)
                    run.batches.accept(left)
                raise

    def _keep_by_itself(self, run, candidates):
        """Put candidates on disk that are no whole batch; return them."""
        number = run.batches.n_batches
        candidates = [replace(c, iteration=number, is_in_order=False) for c in candidates]
        return self._keep(run, candidates)

    def _keep(self, run, candidates):
        """Put candidates on disk and return them; on a full one they are among the results."""
        try:
            run.memory.keep(candidates, self._noise_of)
        except OSError:
            run.batches.accept(candidates)
            raise
        return candidates

    def _look_at_suspects(self, run, workers):
        """Evaluate first, one by one, what an earlier run may have ended with."""
        for params in run.memory.begun.suspects():
            if run.stopping.room(1):
                run.waiting[:] = [point for point in run.waiting if point != params]
                is_given = run.memory.given.number(params) is not None
                sources = ["given"] if is_given else self._sources(1)
                evaluate = workers.evaluate
                self._take(run, self._evaluate(run, [params], sources, evaluate, is_in_order=False))

    def _begin(self, run, workers, given):
        """Let the workers have candidates, if they are free and there is room; say whether.

        Those left of the `given` come first, and are taken from that list. The others are asked for
        at once: after a value is told the model is fitted once.
        """
        n = run.stopping.room(workers.n_wanted, workers.n_under_way)
        if not n:
            return False
        first = [given.pop(0) for _ in given[:n]]
        for params in filter(run.memory.given.is_modelled, first):
            self._note_pending(params)
        for params in first:
            workers.begin(params, "given")
        if len(first) == n:
            return True
        n, n_under_way = n - len(first), len(self.optimizer_.pending_) - len(run.waiting)
        since = time.monotonic()
        try:
            points = self._wait_or_ask(run, n)
        except SpaceExhausted:
            run.stopping.end("exhausted")
            return False
        workers.note_proposal(time.monotonic() - since)
        for params, source in zip(points, self._sources(n, n_under_way), strict=True):
            workers.begin(params, source)
        return True

    def _note_pending(self, params):
        """Let the optimiser know that a candidate is under way, so that it proposes another."""
        with suppress(SpaceExhausted):  # it is already
            self.optimizer_.ask(fixed=params)

    def _recall_all(self, run):
        """Take over all that is in the journal; what was asked for last is waiting."""
        recalled = run.memory.follow_all(self.optimizer_, run.stopping.room(self.n_iter))
        run.waiting.extend(run.memory.given.without(self.optimizer_.pending_))
        if recalled:
            self._note(run, recalled, recalled)

    def _wait_or_ask(self, run, n):
        """Return n points, those first that an earlier run has asked for and not evaluated."""
        points = [run.waiting.pop(0) for _ in range(min(n, len(run.waiting)))]
        return points + (self.optimizer_.ask(n - len(points)) if len(points) < n else [])

    def _take(self, run, evaluated, recalled=()):
        """See to all that follows the evaluation of a batch, which is on disk."""
        batch = [*recalled, *evaluated]
        self._tell(batch, run.memory.given)
        self._note(run, batch, recalled)

    def _note(self, run, batch, recalled):
        run.batches.accept(batch)
        for i, candidate in enumerate(batch):
            if run.race is not None:
                run.race.note(candidate)
            run.stopping.count(candidate, recalled=i < len(recalled))
            run.progress.update(run.stopping, candidate)
            self._call_back(run.stopping, candidate)

    def _call_back(self, stopping, candidate):
        if self.callback is not None and self.callback(stopping.progress(candidate)):
            stopping.end("callback")

    def _propose(self, run, n):
        """Return n points, and the candidates of the journal that the first of them are."""
        run.memory.expect_batch(run.batches.n_batches)
        points, recalled = run.memory.next_batch(self.optimizer_, n)
        try:
            return [*points, *self._wait_or_ask(run, n - len(points))], recalled
        except SpaceExhausted:
            if not points:
                raise
            return points, recalled

    def _tell(self, candidates, given):
        """Tell scores of the space, with a minus sign because SILBO minimises."""
        modelled = [c for c in candidates if given.is_modelled(c.params)]
        noise = [self._noise_of(c) for c in modelled] if self._tells_noise else None
        if modelled:
            params, values = [c.params for c in modelled], [-c.score for c in modelled]
            self.optimizer_.tell(params, values, noise_std=noise)

    @property
    def _tells_noise(self):
        return self.fold_noise or self.racing

    def _noise_of(self, candidate):
        if not self._tells_noise:
            return math.nan
        if candidate.is_stopped:
            return candidate.noise
        return score_noise(candidate.rows, self.refit) if self.fold_noise else math.nan

    def _sources(self, n, n_under_way=0):
        """Say of the next n candidates where they come from; without values there is no model."""
        n_known = len(self.optimizer_.func_vals_) + n_under_way
        n_initial = max(self.optimizer_.n_initial_, 0 if n_known else n)
        return ["init" if i < n_initial else "model" for i in range(n_known, n_known + n)]

    def _format_results(self, candidate_params, n_splits, out, more_results=None):
        """Hand the raw rows of all calls so far to `_run_search`.

        `BaseSearchCV` calls this after each batch and would make, and warn about, the whole table
        again every time. `_tabulate` makes it once, at the end, in the dict returned here last.
        """
        return {"rows": out}

    def _tabulate(self, table, candidates):
        """Turn the dict that `BaseSearchCV` holds as results into ``cv_results_``, in place."""
        table.clear()
        more = {
            "iter": [candidate.iteration for candidate in candidates],
            "source": [candidate.source for candidate in candidates],
        }
        params = [candidate.params for candidate in candidates]
        rows = result_rows(candidates, self.error_score)
        n_splits = len(rows) // len(candidates)
        with unrun_folds_are_no_surprise(candidates):
            table.update(super()._format_results(params, n_splits, rows, more))
        if self.racing:
            add_predictions(table, candidates, searched_metric(rows, self.refit))
