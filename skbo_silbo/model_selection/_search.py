"""Hyperparameter search with SILBO, a drop-in replacement for RandomizedSearchCV."""

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skbo_silbo._checks import check_integer
from skbo_silbo._sklearn import BaseSearchCV, Interval, SearchState, StrOptions, search_state
from skbo_silbo._typing import Auto, LegacyRandomState, RegressorLike, TransformerLike
from skbo_silbo.embedding import Learner
from skbo_silbo.evaluation import Progress
from skbo_silbo.evaluation.budget import Budget
from skbo_silbo.evaluation.initial_design import warn_of_first_points_only
from skbo_silbo.evaluation.loop import EvaluationLoop
from skbo_silbo.evaluation.progress import show_progress
from skbo_silbo.evaluation.resume import read_trials
from skbo_silbo.journal.log import EventLog, NoLog, open_log
from skbo_silbo.journal.state import RootSeed, root_seed
from skbo_silbo.minimization.methods import METHODS
from skbo_silbo.model_selection._cross_validation import CrossValidation, callback_task
from skbo_silbo.model_selection._description import describe_search
from skbo_silbo.model_selection._early_stopped import warn_if_groups_are_not_passed
from skbo_silbo.model_selection._final_models import fit_candidate, fit_ensemble
from skbo_silbo.model_selection._goals import TIME, SeveralGoals, has_goals
from skbo_silbo.model_selection._optimizer import make_optimizer
from skbo_silbo.model_selection._proposals import CandidateProposals
from skbo_silbo.model_selection._report import expected_score, remedy_without_model
from skbo_silbo.model_selection._results import (
    attach_results,
    has_succeeded,
    make_results,
    require_success_in_space,
    results_table,
    warn_of_interruption,
)
from skbo_silbo.model_selection._settings import Settings, read_settings
from skbo_silbo.optimizers.predictions import Prediction
from skbo_silbo.sensitivity import LearntSubspace
from skbo_silbo.space import Space, SpaceUnion
from skbo_silbo.surrogate import Surrogate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(eq=False, repr=False)
class SILBOSearchCV(SeveralGoals):
    """Hyperparameter search by Bayesian optimisation with SILBO.

    A drop-in replacement for :class:`~sklearn.model_selection.RandomizedSearchCV` with the same
    methods and attributes. Candidates are proposed by :class:`~skbo_silbo.SILBO`, which maximises
    the mean test score. The search evaluates the estimator's current parameters first, then an
    initial design, and then the candidates that a surrogate of the scores expects to be better.

    Parameters
    ----------
    estimator : estimator object
        The estimator to tune, which is cloned for every fit. It must have a ``score`` method unless
        `scoring` is passed.
    param_distributions : "auto", dict, list of dicts, Space or SpaceUnion, default="auto"
        Search space. "auto" uses :func:`~skbo_silbo.default_space`; a dict with ``"...": "auto"``
        is completed by default ranges. Otherwise parameter names are mapped to lists of values or
        distributions as in :class:`~skbo_silbo.Space`: a list of sorted numbers is ordered, any
        other list is categorical. In a list of dicts each dict is a branch, and a candidate has
        the parameters of one branch. All branches share `n_iter` and a single surrogate, which
        learns about common parameters from all branches.
    n_iter : int or None, default=10
        Maximum number of candidates, including initial candidates. For Gaussian naive Bayes and
        extremely randomised trees, known candidates (see `initial_params`) can use up the default
        of 10, so that the surrogate proposes none. If None, only `max_time`, which is then
        required, limits the search. The search also ends when all points of a finite space have
        been evaluated.
    batch_size : int or "auto", default="auto"
        Number of candidates to propose at a time. "auto" proposes a candidate whenever a worker is
        free. With several workers, the result then depends on the order in which fits finish. With
        an int, the search waits for all candidates of a batch, and the result does not depend on
        `n_jobs`.
    scoring : str, callable, list, tuple, dict or None, default=None
        Metric or metrics of the candidates, as in RandomizedSearchCV. With several metrics, the
        search maximises the metrics given by `refit`, or the first metric if `refit` is False or a
        callable.
    n_jobs : int or None, default=None
        Number of fits to run in parallel, as in RandomizedSearchCV. The joblib backends "loky",
        "threading" and "dask" are supported. With an int as `batch_size`, at most ``batch_size *
        n_splits`` fits run at a time.
    refit : bool, str, callable, list or tuple of str, default=True
        Metric by which the best candidate is chosen and refitted, as in RandomizedSearchCV. A
        callable selects the best candidate at the end of the search. A list of two or three
        objectives starts a multi-objective search, which does not refit; see `pareto_front_`.
        Objectives are metrics in `scoring` ("score" if there is only one) and "fit_time", which is
        minimised. Cannot be combined with `patience`, `target` or `initial_results`.
    cv : int, splitter, iterable or None, default=None
        Cross-validation strategy, as in RandomizedSearchCV. All candidates are evaluated on the
        same splits, even if the splitter shuffles without a seed.
    verbose : int, default=0
        Verbosity. 0 prints nothing. 1 shows the progress and the best score so far, as a bar if
        tqdm is installed and otherwise as a line per candidate. With 2 or more, the lines include
        the parameters, and scikit-learn's messages are printed, too.
    pre_dispatch : int or str, default="2*n_jobs"
        Number of fits dispatched to workers at once: "all", a number, or a multiple of ``n_jobs``.
    random_state : int, RandomState instance or None, default=None
        Seed of the proposals. Pass an int for reproducible results. With None, each `fit` uses a
        different seed, and NumPy's global generator is not used.
    error_score : "raise" or float, default=nan
        Score assigned to a fit that fails. The search continues. The fit time of a candidate that
        times out is recorded as NaN.
    return_train_score : bool, default=False
        Whether to include training scores in `cv_results_`. Computing them takes additional time.
    timeout : float or None, default=None
        Time limit in seconds for all fits of a candidate. A candidate that exceeds it counts as
        failed, with a `LostEvaluationWarning`. Fits then run in separate processes, or in threads
        with joblib's backend "threading", where they cannot be stopped. Other backends are
        rejected. The refit is not limited.
    max_time : float or None, default=None
        Time in seconds after which no further fit is started. The first candidate of a run is
        always completed. Running fits are completed. A later candidate with unfinished splits is
        dropped, and a resumed search evaluates it again. If a search is resumed, the time starts
        again at zero.
    n_retries : int, default=1
        Number of times to repeat a fit whose worker dies. If all repetitions fail in this way, the
        candidate counts as failed.
    target : float or None, default=None
        Score at which to stop. The search stops once the mean test score of a candidate is at least
        `target`.
    patience : int or None, default=None
        Number of consecutive candidates without improvement after which the search stops. None
        means no such limit.
    journal : str, path-like or None, default=None
        File in which every evaluated candidate is saved. If it exists, the search is resumed, or
        continued with a larger `n_iter`. If `n_initial` is an int, a continued search has the same
        result as an uninterrupted one. See :doc:`/journals`.
    initial_results : dict, list of (params, score) or None, default=None
        Results of an earlier search with the same metric on similar data: its ``cv_results_``, a
        dict of columns ``param_...`` and ``mean_test_score``, or pairs of parameters and score (NaN
        or None for failed candidates). These results are used to fit the surrogate, are not
        evaluated again and reduce the size of the initial design. They are not included in
        `cv_results_` or `n_iter`. From a halving search, only candidates with the full resource are
        used.
    callback : callable or None, default=None
        Function that is called with a `skbo_silbo.evaluation.Progress` after each candidate that is
        not read from the journal. The search ends if it returns a true value. Callbacks of
        scikit-learn 1.9 are also supported, independently of this parameter.
    embedding, n_components, surrogate, n_initial : default="auto"
        Embedding and surrogate of the scores, and size of the initial design, as in
        :class:`~skbo_silbo.SILBO`.
    optimizer_options : dict or None, default=None
        Other arguments of :class:`~skbo_silbo.SILBO` or of `method`, such as
        ``{"acquisition": "ucb"}``.
    initial_params : "known", "current", dict, list of dict or None, default="known"
        Candidates to evaluate before the initial design; they count towards `n_iter`.

        - "current": the estimator's current parameters, if `n_iter` is greater than 1.
        - "known": in addition, up to nine configurations that performed well on other data sets.
          They exist for Gaussian naive Bayes and extremely randomised trees, and are used if the
          space is one dict of exactly their parameters. If branches of the space exclude current
          parameters, up to four branches are also tried, with the excluded parameters in the middle
          of their ranges.
        - dict or list of dicts: these candidates.

        A candidate outside the space, such as ``gamma="scale"`` for a distribution, is evaluated
        but not used to fit the surrogate.
    constraints : callable, NonlinearConstraint, tuple (names, constraint), list of these, or \
            None, default=None
        Constraints between parameters, checked before a candidate is proposed: a function of a
        candidate (a dict) that returns whether it is valid, or a
        `scipy.optimize.NonlinearConstraint` of a function that returns numbers. A tuple of
        parameter names and a ``LinearConstraint`` or ``NonlinearConstraint`` applies the constraint
        to the array of these parameters; candidates that lack one of the parameters satisfy it.
        Invalid `initial_params` raise an error, except that invalid current parameters of the
        estimator are skipped with a warning.

    method : str or callable, default="silbo"
        The optimiser: one of the methods of :func:`~skbo_silbo.minimize`. The paper's algorithms
        are "silbo-td" and "silbo-bu". Pass ``initial_params=None`` to start them with their own
        design. It has 50 candidates, so set `n_initial` if `n_iter` is not larger. Parameters that
        the method does not have, such as `surrogate`, raise an error.

    Attributes
    ----------
    cv_results_ : dict of arrays
        Results of all candidates in the order of evaluation, with the columns of
        RandomizedSearchCV. Additional columns are ``iter``, the index of the batch, ``source``, the
        origin of the candidate ("given", "known", "init" or "model"), ``resumed``, whether it was
        read from the journal, and ``proposal_time``, the time in seconds that proposing it took.
    space_ : dict, list of dicts, Space or SpaceUnion
        The search space, in which default ranges have replaced "auto".
    optimizer_ : SILBO
        The optimiser after the last candidate. It minimises the negative scores.
    subspace_ : LearntSubspace
        The parameters that matter, as estimated by :attr:`SILBO.subspace_` of `optimizer_`. It is
        computed on access, and requires that the search went beyond its initial candidates.
    pareto_front_ : ndarray of int
        Indices of the non-dominated rows of ``cv_results_`` in a multi-objective search. Fit times
        that differ by less than the standard deviation of their difference over the splits count
        as equal, so the front can contain a row that is slightly slower than another row with the
        same scores. Attributes of a single best candidate, such as `best_params_`, do not exist.
    stop_reason_ : str
        Why the search ended: "budget" (`n_iter` candidates were evaluated), "max_time", "target",
        "patience", "callback", "exhausted" (a finite space has no other candidate) or "interrupted"
        (Ctrl-C, ``sys.exit``).
    n_samples_fit_ : int
        Number of samples that were passed to `fit`.
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, \
multimetric_, classes_, n_features_in_, feature_names_in_
        As in RandomizedSearchCV.

    Raises
    ------
    ValueError
        If an argument is invalid, no candidate satisfies `constraints`, all candidates in the
        search space fail, or the journal is damaged or was written by a different search.
    RuntimeError
        If another search is using the journal.
    TimeoutError
        If a candidate runs longer than `timeout`, with ``error_score="raise"``.
    Exception
        Any exception of `callback`. Like the exceptions for a full disk and for a search space in
        which all candidates fail, it has the results so far in its attribute ``cv_results_``, which
        can be passed as `initial_results`.

    Warns
    -----
    UserWarning
        If the search is interrupted by Ctrl-C (SIGINT). The search ends with the candidates
        evaluated so far, and the best of them is refitted. If none has succeeded yet,
        KeyboardInterrupt is raised. After ``sys.exit``, SystemExit is raised without a refit, and
        the search has the results in its attribute ``cv_results_``.
    FirstPointsOnlyWarning
        If `n_iter` is so small that a search by another `method` ends before the first proposal of
        its model, or smaller than `n_initial` (without a journal).
    LostEvaluationWarning
        If a candidate counts as failed because it ran longer than `timeout`, or because this
        process ended twice while it was evaluated.
    UserWarning
        If the candidates in the journal were proposed with other versions of Python, NumPy, SciPy,
        scikit-learn or this package, whose results may differ slightly.

    Notes
    -----
    **Journal.** Only limits (`n_iter`, `max_time`, `timeout`, `patience`, `target`, `n_retries`,
    `n_jobs`, `pre_dispatch`), `verbose`, `callback` and a callable `refit` may change between runs.
    Any other change raises an error that names the difference. `cv` must give the same splits in
    every run. If `random_state` is None or a RandomState, the seed of the first run is used.
    Finished candidates are not fitted again, except that the best one is refitted. If this process
    runs the fits and dies, the candidate is evaluated again without others running. It counts as
    failed if the process dies a second time.

    See Also
    --------
    SILBO : The optimiser, for functions of one's own.
    Space : Possible values of parameters.

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

    estimator: Any
    param_distributions: Any = "auto"
    _: KW_ONLY
    n_iter: int | None = 10
    batch_size: int | Auto = "auto"
    scoring: Any = None
    n_jobs: int | None = None
    refit: Any = True
    cv: Any = None
    verbose: int = 0
    pre_dispatch: int | str = "2*n_jobs"
    random_state: LegacyRandomState = None
    error_score: float | str = np.nan
    return_train_score: bool = False
    timeout: float | None = None
    max_time: float | None = None
    n_retries: int = 1
    target: float | None = None
    patience: int | None = None
    journal: str | PathLike[str] | None = None
    initial_results: Any = None
    callback: Callable[[Progress], Any] | None = None
    embedding: str | Learner | TransformerLike = "auto"
    n_components: int | Auto = "auto"
    surrogate: str | Surrogate | RegressorLike = "auto"
    n_initial: int | Auto = "auto"
    optimizer_options: Mapping[str, Any] | None = None
    initial_params: Any = "known"
    constraints: Any = None
    method: str | Callable[..., Any] = "silbo"

    _parameter_constraints: ClassVar[dict] = {
        **BaseSearchCV._parameter_constraints,
        "refit": [*BaseSearchCV._parameter_constraints["refit"], list, tuple],
        "param_distributions": [dict, list, Space, SpaceUnion, StrOptions({"auto"})],
        "n_iter": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "random_state": ["random_state"],
        "timeout": [Interval(Real, 0, None, closed="neither"), None],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "n_retries": [Interval(Integral, 0, None, closed="left")],
        "target": [Real, None],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "journal": [str, os.PathLike, None],
        "callback": [callable, None],
        "method": [StrOptions({*METHODS}), callable],
    }

    def _run_search(self, evaluate_candidates: Any, *, callback_ctx: Any = None) -> None:
        """Evaluate candidates until the search ends, and compute ``cv_results_``.

        Older versions of scikit-learn do not pass `callback_ctx`, and set `n_splits_` afterwards.
        """
        state = search_state(evaluate_candidates)
        warn_if_groups_are_not_passed(self.estimator, state.split_params, state.fit_params)
        self.n_splits_ = state.n_splits()
        self.n_samples_fit_ = state.X.shape[0] if hasattr(state.X, "shape") else len(state.X)
        settings = read_settings(self, state.X, state.y)
        task = {"task_name": "search", "max_subtasks": None}
        n, title = settings.n_candidates, type(self).__name__
        with (
            closing(open_log(self.journal)) as log,
            callback_task(self, callback_ctx, **task) as search_ctx,
        ):
            self._begin(settings, state, log)
            with (
                closing(CrossValidation(self, state, n, search_ctx)) as evaluation,
                show_progress(self.verbose, title, n, "candidate") as show,
            ):
                loop = self._make_loop(settings, evaluation, log, show)
                interruption: BaseException | None = None
                try:
                    loop.resume(*read_trials(log, evaluation, loop.proposals, loop.batch_size))
                    if self.method != "silbo" or self.n_initial != "auto":
                        warn_of_first_points_only(loop, is_chosen=self.n_initial != "auto")
                    self.stop_reason_ = loop.run().reason
                    require_success_in_space(loop.trials, self.error_score, self.n_splits_)
                except (KeyboardInterrupt, SystemExit) as error:
                    interruption = self._interrupted(loop, error)
                except Exception as error:
                    attach_results(error, self, loop.trials, evaluate_candidates)
                    raise
        table = make_results(self, loop.trials, evaluate_candidates)
        if isinstance(interruption, SystemExit):  # exit quickly, without a refit
            self.cv_results_ = table
            raise interruption

    def _begin(self, settings: Settings, state: SearchState, log: EventLog | NoLog) -> None:
        """Create the optimiser, and write or compare the header of the journal."""
        seed, n_initial = root_seed(log.seed(self.random_state)), settings.n_initial
        # first, so that an invalid option is not written to a journal or reported as another search
        self.optimizer_ = make_optimizer(self, settings, RootSeed(seed), n_initial)
        description = None if log.path is None else describe_search(self, settings, state)
        candidates, fixed = settings.initial.params, {"n_initial": n_initial}
        log.begin(description, settings.space, seed, fixed, candidates=candidates)
        if log.fixed["n_initial"] != n_initial:  # a resumed search with another n_iter
            n_initial = log.fixed["n_initial"]
            self.optimizer_ = make_optimizer(self, settings, RootSeed(seed), n_initial)

    def _make_loop(
        self, settings: Settings, evaluation: CrossValidation, log: EventLog | NoLog, show: Any
    ) -> EvaluationLoop:
        """Create the evaluation loop of the search."""
        size: Any = self.batch_size
        if size == "auto":
            size = 1 if effective_n_jobs(self.n_jobs) == 1 else None
        budget = Budget(
            self.n_iter,
            "n_iter",
            max_time=self.max_time,
            patience=self.patience,
            target=self.target,
            callback=self.callback,
            higher_is_better=True,
        )
        initial = settings.initial
        is_plain = self.method == "silbo" and not (self._goals or self.constraints)
        moves_best = is_plain and bool(initial.params)
        proposals = CandidateProposals(self.optimizer_, log, initial, moves_best=moves_best)
        workers = evaluation.make_workers
        return EvaluationLoop(
            evaluation, budget, log, proposals, workers, batch_size=size, show=show
        )

    def _interrupted(self, loop: EvaluationLoop, error: BaseException) -> BaseException:
        """Return the exception that interrupted the search if there are results, else raise it."""
        if not any(map(has_succeeded, loop.trials)):
            error.add_note("SILBOSearchCV: no candidate had been evaluated successfully yet.")
            raise error
        self.stop_reason_ = "interrupted"
        warn_of_interruption(loop.trials, self.n_iter, error)
        return error

    def predict_score(self, params: Any) -> Prediction:
        """Predict the mean test scores of candidates with the surrogate.

        The candidates need not have been evaluated, and no estimator is fitted. In contrast,
        :meth:`predict` calls the method of `best_estimator_`.

        Parameters
        ----------
        params : dict, list of n dicts or DataFrame of n rows
            Candidates inside the space. A candidate outside the space, such as one with
            ``gamma="scale"``, is only accepted if it has been evaluated. Its score is then returned
            with standard deviation 0.

        Returns
        -------
        prediction : Prediction
            Predicted `mean` and `std` of the score that the search maximised, in its original units
            and sign. They are numbers for one candidate, and arrays of shape (n,) for several.

        Raises
        ------
        NotFittedError
            If the search is not fitted, or evaluated only initial candidates, so that there is no
            model.
        ValueError
            If a candidate is outside the space, or the search was multi-objective.

        Examples
        --------
        >>> from scipy.stats import loguniform
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> from skbo_silbo import SILBOSearchCV
        >>> search = SILBOSearchCV(SVC(), {"C": loguniform(1e-3, 1e3)}, n_iter=12, random_state=0)
        >>> mean, std, _ = search.fit(*load_iris(return_X_y=True)).predict_score({"C": 1.0})
        >>> 0.9 < mean < 1.0, std < 0.05
        (True, True)
        """
        check_is_fitted(self, "optimizer_")
        return expected_score(self, params)

    def evaluation_table(self) -> dict[str, list[Any]]:
        """Return the evaluated candidates as a dict of columns, for use without pandas."""
        check_is_fitted(self, "cv_results_")
        has_time = has_goals(self) and TIME in self.refit
        return results_table(self.cv_results_, self.n_splits_, has_time=has_time)

    def to_frame(self) -> "pd.DataFrame":
        """Return the evaluated candidates as a DataFrame, in the order of ``cv_results_``.

        Returns
        -------
        frame : DataFrame
            One column per parameter, then "value" (the mean test score; with several metrics, one
            column each), "fit_time" if it is an objective (the mean), "source" (see
            ``cv_results_``), "seconds" (for fitting and scoring all splits) and "status" ("ok", or
            "failed" if a score is not finite). If a parameter has the name of one of these columns,
            an underscore is appended to the name of the column.

        Raises
        ------
        NotFittedError
            If the search is not fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> from skbo_silbo import SILBOSearchCV
        >>> search = SILBOSearchCV(SVC(), {"C": [0.1, 1, 10]}, n_iter=3, random_state=0)
        >>> frame = search.fit(*load_iris(return_X_y=True)).to_frame()
        >>> frame.columns.tolist()
        ['C', 'value', 'source', 'seconds', 'status']
        """
        import pandas as pd

        return pd.DataFrame(self.evaluation_table())

    @property
    def subspace_(self) -> LearntSubspace:
        """Parameters and directions that affect the score, as a `LearntSubspace`.

        :meta private:
        """
        check_is_fitted(self, "optimizer_")
        try:
            return self.optimizer_.subspace_
        except NotFittedError as error:
            n_initial, n = self.optimizer_.n_initial_, len(self.optimizer_.func_vals_)
            raise NotFittedError(
                f"subspace_ needs a model, which is fitted from {n_initial} values on, before the "
                f"next candidate, got {n}. {remedy_without_model(self)} or reduce `n_initial`."
            ) from error

    def choose(self, index: int, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit the estimator with the parameters in one row of ``cv_results_``.

        Pass the data again, because the search does not store them. The search is not modified.

        Parameters
        ----------
        index : int
            Row of ``cv_results_`` that contains the candidate.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        **params : dict
            Additional parameters as in :meth:`fit`. Parameters for the estimator are passed to its
            ``fit`` method.

        Returns
        -------
        estimator : estimator object
            The fitted estimator.

        Raises
        ------
        NotFittedError
            If the search is not fitted.
        ValueError, IndexError
            If ``cv_results_`` has no row `index`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from skbo_silbo import SILBOSearchCV
        >>> X, y = load_iris(return_X_y=True)
        >>> space = {"n_neighbors": [5, 10, 20, 40]}
        >>> search = SILBOSearchCV(KNeighborsClassifier(), space, n_iter=3, random_state=0)
        >>> search.fit(X, y).choose(0, X, y)
        KNeighborsClassifier()
        """
        check_is_fitted(self, "cv_results_")
        check_integer("index", index, minimum=0)
        return fit_candidate(self, index, X, y, params)

    def ensemble(self, X: Any, y: Any, *, n: int = 10, **params: Any) -> Any:
        """Fit a voting ensemble of the `n` best candidates.

        Pass the data again, because the search does not store them. The search is not modified, and
        works with ``refit=False``, too. The ensemble stores `n` models, so it needs about `n` times
        the memory and prediction time of `best_estimator_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        n : int, default=10
            Number of candidates in the ensemble. They are ranked by the mean test score that the
            search maximised, or by the first metric in a multi-objective search. Candidates without
            a score, or with the same parameters as a better candidate, are left out.
        **params : dict
            Additional parameters as in :meth:`fit`. `sample_weight` is passed to all models. With
            metadata routing, all metadata that the estimator requests are passed.

        Returns
        -------
        ensemble : VotingClassifier or VotingRegressor
            The fitted ensemble. A classifier averages predicted probabilities (``voting="soft"``),
            or takes the majority of the predicted classes if a candidate has no ``predict_proba``.

        Raises
        ------
        NotFittedError
            If the search is not fitted.
        ValueError
            If there are fewer than `n` such candidates, or the estimator is neither a classifier
            nor a regressor. Also if ``class_weight`` is a dict and the classes are not 0, 1, ...,
            because VotingClassifier encodes classes in this way.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from skbo_silbo import SILBOSearchCV
        >>> X, y = load_iris(return_X_y=True)
        >>> search = SILBOSearchCV(DecisionTreeClassifier(random_state=0), random_state=0)
        >>> ensemble = search.fit(X, y).ensemble(X, y, n=3)
        >>> len(ensemble.estimators_), ensemble.voting
        (3, 'soft')
        """
        check_is_fitted(self, "cv_results_")
        check_integer("n", n)
        return fit_ensemble(self, X, y, n, params)
