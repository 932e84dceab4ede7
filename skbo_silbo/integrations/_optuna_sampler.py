"""SILBO as a sampler for Optuna."""

import threading
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import as_reals, brief, check_integer, did_you_mean
from skbo_silbo._typing import Auto

try:
    import optuna
except ImportError as error:
    raise ImportError(
        "SILBOSampler requires Optuna. Install it with: pip install skbo_silbo[optuna]."
    ) from error
from optuna.distributions import BaseDistribution
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from skbo_silbo.integrations._optuna_trials import (
    CONSTRAINTS,
    PROPOSED,
    OptunaSpace,
    common_space,
    keep_attribute,
    see_trials,
)
from skbo_silbo.journal.state import engine_options
from skbo_silbo.optimizers import SILBO
from skbo_silbo.space import SpaceExhausted

MOST_TRIES = 5  # attempts to propose parameters that no other trial has
MOST_DRAWS = 100  # random draws until a small space is considered exhausted


class SILBOSampler(optuna.samplers.BaseSampler):
    """Sampler for single-objective `Optuna <https://optuna.org>`_ studies based on SILBO.

    The parameters of completed trials are proposed jointly by :class:`~skbo_silbo.SILBO`. New
    parameters are sampled at random. Where no completed trial has a conditional parameter, it is
    not searched but set to the middle of its range. The sampler infers these conditions from
    categorical parameters and from integers with at most ten values. If the range of a parameter
    has changed, the latest range is used and trials outside it are ignored. Several threads or
    processes may work on one study: the sampler reads all trials from the storage of the study and
    takes running trials into account.

    Parameters
    ----------
    seed : int or None, default=None
        Seed of the proposals. All processes of a study can use the same seed, because the
        proposals also depend on the trial number. None uses a random seed.
    n_startup_trials : int or "auto", default="auto"
        Number of completed trials before the surrogate is used. Until then, parameters are taken
        from the initial design of :class:`~skbo_silbo.SILBO`. "auto" means ``4 + 2 sqrt(m)``, at
        most 11, for m columns of the encoded space.
    constraints_func : callable or None, default=None
        Function of a completed or pruned trial that returns a sequence of numbers. The trial is
        feasible if none of them is positive. Values set by ``Trial.set_constraint`` (Optuna 5) are
        used as well.
    **options
        Further arguments of :class:`~skbo_silbo.SILBO`, such as ``embedding="semi-sir"`` or
        ``n_components=2``.

    Raises
    ------
    ValueError
        If an option is unknown, if there are constraints and `acquisition` is not on a log scale,
        or, when sampling, if the study has several objectives.

    Notes
    -----
    Pruned trials are represented by their last intermediate value. Failed trials, including trials
    that missed Optuna's heartbeat, are failed evaluations of SILBO, which avoids their
    neighbourhood.

    With constraints, the acquisition function is the expected improvement on the best feasible
    trial times the probability that all constraints hold. This requires ``acquisition="ei"``, the
    default, or a function with the attribute ``is_log = True``. A trial without a value for one of
    the constraints is not considered feasible.

    Examples
    --------
    >>> import optuna
    >>> from skbo_silbo.integrations import SILBOSampler
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> def objective(trial):
    ...     x = trial.suggest_float("x", -5, 5)
    ...     n = trial.suggest_int("n", 1, 10)
    ...     return (x - 1) ** 2 + (n - 3) ** 2
    >>> study = optuna.create_study(sampler=SILBOSampler(seed=0))
    >>> study.optimize(objective, n_trials=25)
    >>> study.best_value < 0.1
    True
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        n_startup_trials: int | Auto = "auto",
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        **options: Any,
    ) -> None:
        constrained = constraints_func is not None
        self._options = _check_options(n_startup_trials, constrained, options)
        self._constraints_func = constraints_func
        if seed is not None:
            check_integer("seed", seed, 0, "None")
        self._seed = _new_seed() if seed is None else int(seed)
        self._model: _StudyModel | None = None
        self._lock = threading.RLock()

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.RLock())

    def reseed_rng(self) -> None:
        """Draw a new seed, so that copies of the sampler in other processes differ."""
        with self._lock:
            self._seed, self._model = _new_seed(), None

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the distributions of all parameters in the completed trials of a study."""
        return common_space(study)

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Propose values for all parameters of the search space together."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        with self._lock:
            if self._model is None or self._model.key != (study.study_name, search_space):
                self._model = _StudyModel(study.study_name, search_space, self._options, self._seed)
            return self._propose_new(study, trial, search_space)

    def _propose_new(self, study, trial, search_space):
        """Propose parameters that no other trial evaluates, and store them with the trial.

        Trials that begin at the same time do not see each other. Therefore each trial first stores
        its proposal and then reads the proposals of the others. If another trial has the same
        proposal, the trial that began later proposes again.
        """
        params, seen = None, see_trials(study, trial.number, search_space)
        for _ in range(MOST_TRIES):
            former, params = params, self._model.propose(trial.number, seen, params)
            if params == former:  # the space is exhausted
                break
            keep_attribute(study, trial, PROPOSED, params)
            seen = see_trials(study, trial.number, search_space)
            if not seen.repeats(params):
                break
        return as_suggested(params, search_space)

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Sample a value of one parameter from its distribution."""
        self._raise_error_if_multi_objective(study)
        rng = _rng(self._seed, trial.number, param_name)
        distributions = {param_name: param_distribution}
        return as_suggested(_draw(OptunaSpace(distributions), rng), distributions)[param_name]

    def optimizer_of(self, study: optuna.Study) -> SILBO:
        """Return a `SILBO` optimiser that has observed the finished trials of a study.

        Use it to analyse a study by ``predict``, ``subspace_``, ``recommended_`` or the displays of
        `skbo_silbo.inspection`. The trials may come from any sampler. The study is not modified.

        Parameters
        ----------
        study : optuna.Study
            A single-objective study with a completed trial.

        Returns
        -------
        optimizer : SILBO
            Optimiser fitted to the trials. Its points have all parameters of the study, with
            categories as strings and missing parameters at the middle of their range.

        Raises
        ------
        NotFittedError
            If there is no completed trial, or no parameter has more than one value.
        TypeError
            If `study` is not a study.
        ValueError
            If the study has several objectives.

        Examples
        --------
        >>> import optuna
        >>> from skbo_silbo.integrations import SILBOSampler
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
        >>> study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=12)
        >>> mean, std, _ = SILBOSampler(seed=0).optimizer_of(study).predict({"x": 0.7})
        >>> round(mean, 1), std < 0.1
        (0.5, True)
        """
        if not isinstance(study, optuna.Study):
            raise TypeError(
                f"`study` must be an optuna.Study, got {type(study).__name__}. Load a stored study "
                "with optuna.load_study."
            )
        self._raise_error_if_multi_objective(study)
        if not (distributions := common_space(study)):
            raise NotFittedError(
                "`study` must have a completed trial with a parameter that has more than one value,"
                f" got none among {len(study.trials)} trials. Optimise it first."
            )
        is_maximised = study.direction == StudyDirection.MAXIMIZE
        options = {**self._options, "maximize": is_maximised}
        model = _StudyModel(study.study_name, distributions, options, self._seed)
        return model.fit(see_trials(study, -1, distributions))

    def after_trial(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Evaluate `constraints_func` for a finished trial and store the constraint values."""
        if self._constraints_func is None or state == TrialState.FAIL:
            return
        returned = self._constraints_func(trial)
        constraints = as_reals(returned)
        if constraints is None or constraints.ndim != 1 or np.isnan(constraints).any():
            raise ValueError(
                f"`constraints_func` must return a sequence of numbers, got {brief(returned)} for "
                f"trial {trial.number}. Return one number per constraint, positive if it is "
                "violated, for example [0.5]."
            )
        keep_attribute(study, trial, CONSTRAINTS, tuple(constraints.tolist()))


class _StudyModel:
    """Optimiser for one search space of a study, updated before each proposal."""

    def __init__(self, study_name, distributions, options, seed):
        self.key = study_name, dict(distributions)  # identifies the study and its search space
        self._options, self._seed = options, seed
        self._distributions, self._inactive = distributions, {}
        self._space = OptunaSpace(distributions)
        self._optimizer, self._observed = None, {}
        design = self._make_optimizer()
        n = min(design.n_initial_, self._space.space.n_points)
        self._n_startup, self._design = design.n_initial_, design.ask(n)

    def propose(self, number, seen, former=None):
        """Propose parameters for a trial that no other trial has, if possible.

        `former` is the previous proposal for this trial, which another trial also received.
        """
        for params in self._candidates(number, seen, former):
            if not seen.repeats(params):
                break
        return params

    def _candidates(self, number, seen, former):
        if len(seen.complete) < self._n_startup:
            if number < len(self._design):
                yield self._space.from_point(self._design[number])
        else:
            self._update(seen)
            with suppress(SpaceExhausted):
                # Trials that began earlier with the same observations take the next proposals.
                for _ in range(seen.n_ahead(former or {})):
                    self._optimizer.ask()
                for _ in range(MOST_TRIES):
                    yield self._space.from_point(self._optimizer.ask())
        rng = _rng(self._seed, number, "draws")
        for _ in range(MOST_DRAWS):
            yield _draw(self._space, rng)

    def fit(self, seen):
        """Return the optimiser after it has observed all finished trials."""
        self._update(seen)
        self._optimizer.expected_gain()
        return self._optimizer

    def _update(self, seen):
        if self._inactive != seen.inactive:
            self._inactive, self._optimizer = seen.inactive, None
            self._space = OptunaSpace(self._distributions, seen.inactive)
        known = {number: (t.value, *t.constraints) for number, t in seen.observed.items()}
        changed = any(
            not np.array_equal(known.get(n), v, equal_nan=True) for n, v in self._observed.items()
        )
        if self._optimizer is None or changed:
            self._optimizer, self._observed = self._make_optimizer(), {}
        new = [number for number in known if number not in self._observed]
        if new:
            points = [self._space.to_point(seen.observed[number].params) for number in new]
            values = np.array([known[number] for number in new])
            learnt = values[:, 1:] if values.shape[1] > 1 else None
            values = self._optimizer.sign * values[:, 0]
            self._optimizer.tell(points, values, constraints=learnt)
            self._observed |= {number: known[number] for number in new}
        # The running trials, and no others, are pending.
        for point in self._optimizer.pending_:
            self._optimizer.cancel(point)
        for params in seen.pending:
            self._optimizer.register(self._space.to_point(params))

    def _make_optimizer(self):
        return SILBO(self._space.space, random_state=self._seed, **self._options)


def _check_options(n_startup_trials, constrained, options):
    allowed = [name for name in engine_options(SILBO) if name != "n_initial"]
    if unknown := sorted(set(options) - set(allowed)):
        allowed += ["seed", "n_startup_trials", "constraints_func"]
        raise ValueError(
            f"{did_you_mean(unknown, allowed)}The options of SILBOSampler must be among {allowed}, "
            f"got {unknown}. Remove or rename them; n_startup_trials replaces n_initial."
        )
    check_integer("n_startup_trials", n_startup_trials, 1, "'auto'")
    options = {**options, "n_initial": n_startup_trials}
    optimizer = SILBO([(0.0, 1.0)] * 2, **options)  # raises if a value is invalid in any space
    if constrained:
        optimizer.check_constraints([0.0])
    return options


def as_suggested(params, distributions):
    """Convert parameters from Optuna's internal representation to the values users see."""
    return {name: distributions[name].to_external_repr(value) for name, value in params.items()}


def _draw(space, rng):
    """Sample each parameter from its distribution."""
    x = rng.uniform(-1.0, 1.0, (1, space.space.n_features_))
    return space.from_point(space.space.decode(x)[0])


def _rng(seed, number, purpose):
    """Return a random generator that depends only on the seed and the trial."""
    return np.random.default_rng([seed, number, zlib.crc32(purpose.encode())])


def _new_seed():
    return int(np.random.default_rng().integers(2**31))
