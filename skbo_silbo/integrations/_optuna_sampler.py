"""SILBO as a sampler of Optuna."""

import threading
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import as_reals, brief, check_integer
from skbo_silbo._typing import Auto

try:
    import optuna
except ImportError as error:
    raise ImportError(
        "skbo_silbo.integrations must have Optuna, which is not installed. "
        "Install it: pip install skbo_silbo[optuna]."
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
from skbo_silbo.optimizers import SILBO
from skbo_silbo.optimizers._state import engine_options
from skbo_silbo.space import SpaceExhausted

MOST_TRIES = 5  # to propose what no other trial has
MOST_DRAWS = 100  # after which a space of few points counts as used up


class SILBOSampler(optuna.samplers.BaseSampler):
    """Sampler for an `Optuna <https://optuna.org>`_ study of one objective that asks SILBO.

    All parameters that a complete trial has had are proposed together by
    :class:`~skbo_silbo.SILBO`, conditional ones too: a trial that did without one takes part with
    the middle of its range. A parameter not met before is drawn at random. Of one whose range has
    changed the latest range counts, and trials outside it are left out. Running trials take part
    with the value that the model predicts. It may be used from several threads or processes on one
    study at once. All but the state of its model is in the study's storage, and that state is made
    anew where it is missing.

    Parameters
    ----------
    seed : int or None, default=None
        Seed of the proposals. The same seed on several processes of one study is right: what is
        drawn depends on the number of the trial, too. None: another one for every sampler.
    n_startup_trials : int or "auto", default="auto"
        Complete trials before the first model; until then points of a Sobol sequence. "auto":
        ``4 + 2 sqrt(m)`` for m columns, at most 11.
    constraints_func : callable or None, default=None
        Called with the frozen trial when it is complete or pruned; returns a sequence of numbers,
        of which none is above 0 if the trial is feasible. Values set by ``Trial.set_constraint``
        (Optuna 5) count as well.
    **options
        Further arguments of :class:`~skbo_silbo.SILBO`, for example ``embedding="semi-sir"``,
        ``n_components=2``.

    Raises
    ------
    ValueError
        If an option is unknown, or there are constraints and `acquisition` is not a logarithm; from
        Optuna's calls, if the study has several objectives.

    Notes
    -----
    A pruned trial takes part with its last intermediate value. A failed one (also one that Optuna's
    heartbeat gave up) is a failed evaluation for SILBO: the place is avoided. Constraints are
    learnt, each by name, and trials are proposed by expected improvement on the best feasible one
    times the probability that all hold (``acquisition="ei"``, the default, or a function
    that declares ``is_log = True``); a trial that has no value for a constraint is not known to be
    feasible.

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
        """Take another seed, as a copy of a sampler in another process needs it."""
        with self._lock:
            self._seed, self._model = _new_seed(), None

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the distributions of all parameters that a complete trial has had."""
        return common_space(study)

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return a value for every parameter of the search space."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        with self._lock:
            if self._model is None or self._model.of != (study.study_name, search_space):
                self._model = _StudyModel(study.study_name, search_space, self._options, self._seed)
            return self._propose_new(study, trial, search_space)

    def _propose_new(self, study, trial, search_space):
        """Return a proposal that no other trial has, and let other processes see it.

        Two trials that begin at once know nothing of one another. Each writes what it proposes,
        then looks: one of the two sees the other, and proposes anew; if both do, the one that
        began later takes what comes after.
        """
        params, seen = None, see_trials(study, trial.number, search_space)
        for _ in range(MOST_TRIES):
            former, params = params, self._model.propose(trial.number, seen, params)
            if params == former:  # a space that is used up
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
        """Return a value at random, from the distribution."""
        self._raise_error_if_multi_objective(study)
        rng = _rng(self._seed, trial.number, param_name)
        distributions = {param_name: param_distribution}
        return as_suggested(_draw(OptunaSpace(distributions), rng), distributions)[param_name]

    def optimizer_of(self, study: optuna.Study) -> SILBO:
        """Return an optimiser that knows the ended trials of a study, whoever proposed them.

        For what it says of them: ``predict``, ``subspace_``, ``recommended_``, and the displays of
        `skbo_silbo.inspection`. Nothing of it comes back to the study.

        Parameters
        ----------
        study : optuna.Study
            Of one objective, with a complete trial.

        Returns
        -------
        optimizer : SILBO
            With the parameters and the sign of the study. Categories are text. What a trial has no
            value for is at the middle of its range; ``predict`` needs such a value too.

        Raises
        ------
        NotFittedError
            When no trial is complete, or no parameter has two values.
        TypeError, ValueError
            For what is no study, or one of several objectives.

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
                f"study must be an optuna.Study: got {type(study).__name__}. Read a stored one by "
                "optuna.load_study."
            )
        self._raise_error_if_multi_objective(study)
        if not (distributions := common_space(study)):
            raise NotFittedError(
                "study must have a complete trial with a parameter of two values or more: got "
                f"{len(study.trials)} trials, none of them so. Optimise it first."
            )
        is_maximised = study.direction == StudyDirection.MAXIMIZE
        options = {**self._options, "maximize": is_maximised}
        model = _StudyModel(study.study_name, distributions, options, self._seed)
        return model.of_ended(see_trials(study, None, distributions))

    def after_trial(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Keep what `constraints_func` says of a trial that is complete or pruned."""
        if self._constraints_func is None or state == TrialState.FAIL:
            return
        returned = self._constraints_func(trial)
        constraints = as_reals(returned)
        if constraints is None or constraints.ndim != 1 or np.isnan(constraints).any():
            raise ValueError(
                f"constraints_func must return a sequence of numbers: got {brief(returned)} for "
                f"trial {trial.number}. Return one of each constraint, positive where it is "
                "violated, for example [0.5]."
            )
        keep_attribute(study, trial, CONSTRAINTS, tuple(constraints.tolist()))


class _StudyModel:
    """An optimiser over one search space, brought up to date at every proposal."""

    def __init__(self, study_name, distributions, options, seed):
        self.of = study_name, dict(distributions)  # whose model this is
        self._options, self._seed = options, seed
        self._space = OptunaSpace(distributions)
        self._optimizer, self._observed = None, {}
        design = self._make_optimizer()
        n = min(design.n_initial_, self._space.space.n_points)
        self._n_startup, self._design = design.n_initial_, design.ask(n)

    def propose(self, number, seen, former=None):
        """Return parameters for the trial with this number, which repeat no other's if possible.

        `former` was proposed before, and other trials have it.
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
                # A trial that began before this one, with the same knowledge, is expected to have
                # what would be proposed now; this one gets what comes after.
                for _ in range(seen.n_ahead(former)):
                    self._optimizer.ask()
                for _ in range(MOST_TRIES):
                    yield self._space.from_point(self._optimizer.ask())
        rng = _rng(self._seed, number, "draws")
        for _ in range(MOST_DRAWS):
            yield _draw(self._space, rng)

    def of_ended(self, seen):
        """Return the optimiser, told all trials that ended, with a model where they suffice."""
        self._update(seen)
        self._optimizer.expected_gain()
        return self._optimizer

    def _update(self, seen):
        known = {number: (value, *c) for number, (_, value, c) in seen.observed.items()}
        changed = any(
            not np.array_equal(known.get(n), v, equal_nan=True) for n, v in self._observed.items()
        )
        if self._optimizer is None or changed:
            self._optimizer, self._observed = self._make_optimizer(), {}
        new = [number for number in known if number not in self._observed]
        if new:
            points = [self._space.to_point(seen.observed[number][0]) for number in new]
            values = np.array([known[number] for number in new])
            learnt = values[:, 1:] if values.shape[1] > 1 else None
            sign = -1.0 if self._optimizer.maximize else 1.0
            self._optimizer.tell(points, sign * values[:, 0], constraints=learnt)
            self._observed |= {number: known[number] for number in new}
        self._set_pending(seen.pending)

    def _set_pending(self, pending):
        """Replace the points that the optimiser holds for pending by those of running trials."""
        for point in self._optimizer.pending_:
            self._optimizer.cancel(point)
        for params in pending:
            self._optimizer.register(self._space.to_point(params))

    def _make_optimizer(self):
        return SILBO(self._space.space, random_state=self._seed, **self._options)


def _check_options(n_startup_trials, constrained, options):
    known = [name for name in engine_options(SILBO) if name != "n_initial"]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ValueError(
            f"options of SILBOSampler must be among {known}: got {unknown}. Remove or rename them; "
            "n_initial is called n_startup_trials here."
        )
    check_integer("n_startup_trials", n_startup_trials, 1, "'auto'")
    options = {**options, "n_initial": n_startup_trials}
    optimizer = SILBO([(0.0, 1.0)] * 2, **options)  # refuses values that are invalid in any space
    if constrained:
        optimizer.check_constraints([0.0])
    return options


def as_suggested(params, distributions):
    """Return parameters as the objective sees them, from Optuna's internal representations."""
    return {name: distributions[name].to_external_repr(value) for name, value in params.items()}


def _draw(space, rng):
    """Return parameters at random, as the distributions have them."""
    x = rng.uniform(-1.0, 1.0, (1, space.space.n_features_))
    return space.from_point(space.space.decode(x)[0])


def _rng(seed, number, purpose):
    """Return a random stream that no other trial of the study has, whichever process asks."""
    return np.random.default_rng([seed, number, zlib.crc32(purpose.encode())])


def _new_seed():
    return int(np.random.default_rng().integers(2**31))
