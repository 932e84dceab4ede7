"""Makers of surrogates: how the loop starts, tunes and restores one.

`fit` returns a surrogate conditioned on the data, and the state from which it can be restored and
the next one be started.

The known variance of every value's noise, (n,), is for those with ``takes_noise``; the loop refuses
to be told of it where the others are in use, and gives them zeros.
"""

from dataclasses import dataclass
from types import MappingProxyType

from skbo_silbo.surrogate._additive import AdditiveProcess
from skbo_silbo.surrogate._cylindrical import CylindricalProcess
from skbo_silbo.surrogate._ensemble import EnsembleSurrogate
from skbo_silbo.surrogate._image_process import ImageProcess
from skbo_silbo.surrogate._process import GaussianProcessSurrogate
from skbo_silbo.surrogate._regressor import RegressorSurrogate, check_regressor

TUNE_GROWTH = 1.05  # labels, relative, between searches of the hyperparameters
LONG_GROWTH = 1.1  # the same where a search takes long
LONG_WORK = 2 * 10**7  # labels squared times inputs: about a second
ENSEMBLE_SHARE = 0.5  # of the turns


def is_due(n, tuned_at, r):
    """Return whether n labels of r inputs are enough more to search the hyperparameters again."""
    growth = TUNE_GROWTH if n**2 * r <= LONG_WORK else LONG_GROWTH
    return n >= growth * tuned_at


def with_state(surrogate):
    """Return the surrogate and its state."""
    return surrogate, surrogate.to_state()


@dataclass(frozen=True)
class ProcessMaker:
    """Makes Gaussian processes on the coordinates z.

    Attributes
    ----------
    prior : {"dimension-scaled", "sparse"}
        Of the length scales.
    """

    prior: str = "dimension-scaled"

    takes_noise = True

    def for_learner(self, learner):
        """Return the maker that the learner goes with: its prior, and whether there are turns."""
        process = ProcessMaker(getattr(learner, "prior", self.prior))
        turns = getattr(learner, "takes_turns", None)
        return process if turns is None else TurnsMaker(process, turns)

    def fits(self, state, r):
        """Return whether the hyperparameters of a former surrogate can start one of r inputs."""
        return len(state.get("theta", ())) == r + 2

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y), started at `state` unless that is None."""
        theta = None if state is None else state["theta"]
        surrogate = GaussianProcessSurrogate(theta, prior=self.prior)
        return with_state(surrogate.fit(Z, y, noise, tune=tune))

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return GaussianProcessSurrogate(prior=self.prior).from_state(state, Z, y, noise)


@dataclass(frozen=True)
class TurnsMaker:
    """One process or an ensemble of sparse ones, by chance anew for every number of labels.

    The process gains soonest; where its belief about the inputs is wrong it stands still, and the
    ensemble, slower at first, does not (doc/search_log.rst). The state holds that of both, so that
    each goes on from its own; the first surrogate is the process.

    Attributes
    ----------
    process : ProcessMaker
    has_ensemble : bool
        Else every turn is the process's.
    """

    process: ProcessMaker
    has_ensemble: bool = True

    takes_noise = True

    def fits(self, state, r):
        """Return whether a former process can start one of r inputs."""
        return "process" in state and self.process.fits(state["process"], r)

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return the surrogate whose turn it is, conditioned on (Z, y), and the state of both.

        Each searches its hyperparameters when the labels have grown enough since it last did.
        """
        state = {"tuned_at": {}} if state is None else state
        drawn = rng.random() < ENSEMBLE_SHARE
        turn = "ensemble" if self.has_ensemble and "process" in state and drawn else "process"
        tuned_at = state["tuned_at"].get(turn, 0)
        tune = is_due(y.size, tuned_at, Z.shape[1])
        if turn == "process":
            surrogate, own = self.process.fit(state.get(turn), Z, y, noise, tune=tune, rng=rng)
        else:
            surrogate, own = _fit_ensemble(state.get(turn), Z, y, noise, tune=tune, rng=rng)
        counts = {**state["tuned_at"], turn: y.size if tune else tuned_at}
        return surrogate, {**state, turn: own, "turn": turn, "tuned_at": counts}

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        own = state[state["turn"]]
        if state["turn"] == "process":
            return self.process.restore(own, Z, y, noise)
        return EnsembleSurrogate().from_state(own, Z, y, noise)


def _fit_ensemble(state, Z, y, noise, *, tune, rng):
    """Return an ensemble and its state; the hyperparameters are kept unless `tune`."""
    if tune:
        ensemble = EnsembleSurrogate().fit(Z, y, noise, rng=rng)
    else:
        ensemble = EnsembleSurrogate().from_state(state, Z, y, noise)
    return ensemble, ensemble.to_state()


@dataclass(frozen=True)
class RegressorMaker:
    """Makes surrogates of a regressor, fitted from the start whenever there are new values.

    Attributes
    ----------
    regressor : estimator
        With ``predict(Z, return_std=True)``; cloned.
    """

    regressor: object

    takes_noise = False

    def for_learner(self, learner):
        """Return this maker: it is the same for every learner."""
        return self

    def fits(self, state, r):
        """Return whether the seed of a former surrogate can start one: always."""
        return True

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y), its random numbers seeded by `rng`."""
        return with_state(RegressorSurrogate(self.regressor, int(rng.integers(2**31))).fit(Z, y))

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return RegressorSurrogate(self.regressor, state["seed"]).fit(Z, y)


@dataclass(frozen=True)
class ImageMaker:
    """Makes Gaussian processes on a function of the coordinates, with one length scale.

    Attributes
    ----------
    view : callable
        From (n, r) to (n, k).
    """

    view: object

    takes_noise = True

    def for_learner(self, learner):
        """Return this maker: it is the same for every learner."""
        return self

    def fits(self, state, r):
        """Return whether the hyperparameters of a former surrogate can start one: always."""
        return True

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y), started at `state` unless that is None."""
        theta = None if state is None else state["theta"]
        inner = GaussianProcessSurrogate(theta, isotropic=True)
        return with_state(ImageProcess(inner.fit(self.view(Z), y, noise, tune=tune), self.view))

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        inner = GaussianProcessSurrogate(isotropic=True)
        return ImageProcess(inner.from_state(state, self.view(Z), y, noise), self.view)


@dataclass(frozen=True)
class CylindricalMaker:
    """Makes Gaussian processes with the cylindrical kernel."""

    takes_noise = False

    def for_learner(self, learner):
        """Return this maker: it is the same for every learner."""
        return self

    def fits(self, state, r):
        """Return whether the hyperparameters of a former surrogate can start one: always."""
        return True

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y), started at `state` unless that is None."""
        theta = None if state is None else state["theta"]
        return with_state(CylindricalProcess(theta).fit(Z, y, tune=tune))

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return CylindricalProcess(state["theta"]).fit(Z, y, tune=False)


@dataclass(frozen=True)
class AdditiveMaker:
    """Makes sums of Gaussian processes on groups of inputs.

    Attributes
    ----------
    group_size : int
    """

    group_size: int

    takes_noise = False

    def for_learner(self, learner):
        """Return this maker: it is the same for every learner."""
        return self

    def fits(self, state, r):
        """Return whether the groups of a former surrogate are those of r inputs."""
        return sum(map(len, state["groups"])) == r

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y); the groups of `state` compete with new ones."""
        process = AdditiveProcess(self.group_size)
        return with_state(process.fit(Z, y, rng, former=state, tune=tune))

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return AdditiveProcess(self.group_size).from_state(state, Z, y)


SURROGATES = MappingProxyType({"auto": ProcessMaker, "gaussian-process": ProcessMaker})


def make_surrogates(surrogate):
    """Return the maker of this name, or the one of a regressor.

    Raises
    ------
    ValueError
        When there is no such name.
    TypeError
        When the regressor gives no standard deviation.
    """
    if isinstance(surrogate, str):
        if surrogate not in SURROGATES:
            raise ValueError(
                f"surrogate must be one of {sorted(SURROGATES)} or a regressor with "
                f"predict(Z, return_std=True): got {surrogate!r}."
            )
        return SURROGATES[surrogate]()
    check_regressor(surrogate)
    return RegressorMaker(surrogate)
