"""SILBOSampler: Optuna's own conformance suite for samplers, and what it does not ask."""

import pickle

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402
from optuna.testing.pytest_samplers import (  # noqa: E402
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)
from optuna.trial import TrialState, create_trial  # noqa: E402
from optuna_worker import conditional  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402

from skbo_silbo.inspection import SearchDisplay  # noqa: E402 (matplotlib when it draws)
from skbo_silbo.integrations import SILBOSampler  # noqa: E402
from skbo_silbo.integrations._optuna_trials import OptunaSpace, see_trials  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)


class TestOptunasSuite(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    """All classes but the one for samplers of several objectives, which contradicts the last."""

    @pytest.fixture
    def sampler(self):
        return lambda: SILBOSampler(seed=0)


@pytest.mark.slow
class TestOptunasSuiteWithAnEarlyModel(BasicSamplerTestCase, RelativeSamplerTestCase):
    """The same, where nearly every proposal is the model's."""

    @pytest.fixture
    def sampler(self):
        return lambda: SILBOSampler(seed=0, n_startup_trials=2)


def new_study(direction="minimize", **options):
    options = {"seed": 0, **options}
    return optuna.create_study(direction=direction, sampler=SILBOSampler(**options))


def bowl(trial):
    x, y = (trial.suggest_float(name, -5.0, 5.0) for name in "xy")
    return (x - 1.0) ** 2 + (y + 2.0) ** 2


@pytest.mark.slow
def test_it_learns():
    study = new_study()
    study.optimize(bowl, n_trials=20)
    assert abs(study.best_value) < 0.05  # random points: one in 600 is as near


def test_seed_determines_trials():
    runs = []
    for seed in (0, 0, 1):
        study = new_study(seed=seed, n_startup_trials=3)
        study.optimize(bowl, n_trials=6)
        runs.append([trial.params for trial in study.trials])
    assert runs[0] == runs[1] != runs[2]


def test_new_sampler_resumes_study():
    study = new_study()
    study.optimize(bowl, n_trials=11)
    study.sampler = SILBOSampler(seed=5)
    study.optimize(bowl, n_trials=4)
    assert study.best_trial.number > 10


def test_one_sampler_serves_one_study_after_the_other():
    sampler = SILBOSampler(seed=0)
    for name in ("x", "other"):
        study = optuna.create_study(sampler=sampler)
        study.optimize(lambda t, name=name: t.suggest_float(name, 0.0, 1.0) ** 2, n_trials=8)
        assert study.best_value < 0.1


@pytest.mark.quick
def test_reseeding_changes_what_is_drawn():
    study = new_study()
    study.optimize(bowl, n_trials=1)
    trial = study.trials[0]
    distribution = FloatDistribution(0.0, 1.0)
    draw = study.sampler.sample_independent
    before = draw(study, trial, "x", distribution)
    assert draw(study, trial, "x", distribution) == before
    study.sampler.reseed_rng()
    assert draw(study, trial, "x", distribution) != before


@pytest.mark.quick
def test_options_are_those_of_silbo():
    study = new_study(embedding="semi-sir", n_components=1, surrogate=GaussianProcessRegressor())
    study.optimize(bowl, n_trials=11)
    assert len(study.trials) == 11
    for options, message in (
        ({"seed": "a"}, r"seed.*got 'a'"),
        ({"n_components": 0}, "n_components"),
        ({"embedding": "no"}, "embedding"),
        ({"nonsense": 1, "n_initial": 3}, r"among.*got \['n_initial', 'nonsense'\]"),
        ({"n_component": 1}, r"^Did you mean 'n_components'. The options of SILBOSampler"),
        ({"n_startup_trials": 0}, r"n_startup_trials must be 'auto' or .* >= 1, got 0"),
        ({"constraints_func": len, "acquisition": "ucb"}, r"acquisition.*'ei'"),
    ):
        with pytest.raises(ValueError, match=message):
            SILBOSampler(**options)
    SILBOSampler(acquisition="ucb")


# Spaces.


@pytest.mark.quick
@pytest.mark.parametrize(
    "distribution",
    [
        FloatDistribution(-10.2, 10.2),
        FloatDistribution(0.1, 0.7),
        FloatDistribution(1e-7, 1.0, log=True),
        FloatDistribution(-10.2, 10.2, step=0.1),
        FloatDistribution(0.0, 1e6, step=1e-3),
        IntDistribution(-3, 9, step=3),
        IntDistribution(1, 100, log=True),
        IntDistribution(1, 10**9, log=True),
        IntDistribution(-(10**12), 10**12),
        CategoricalDistribution([True, False, None, "a", 1.5]),
        CategoricalDistribution([float("nan"), "nan"]),
    ],
    ids=repr,
)
def test_every_value_goes_to_the_space_and_back(distribution):
    space = OptunaSpace({"p": distribution})
    values = []
    for u in np.linspace(-1.0, 1.0, 41):
        [point] = space.space.decode(np.full((1, space.space.n_features_), u))
        value = space.from_point(point)["p"]
        assert distribution._contains(value)
        assert space.from_point(space.to_point({"p": value})) == {"p": value}
        values.append(distribution.to_external_repr(value))
        assert distribution.to_internal_repr(values[-1]) == value
    if not isinstance(distribution, CategoricalDistribution):
        ends = np.array([distribution.low, distribution.high], dtype=float)
        room = 1e-6 * (ends[0] if distribution.log else np.ptp(ends))  # the grid of the cube
        np.testing.assert_allclose([values[0], values[-1]], ends, rtol=1e-6, atol=room)
        assert values == sorted(values)
        assert type(values[0]) is (int if isinstance(distribution, IntDistribution) else float)


def test_log_integer_follows_rounded_log_uniform():
    space = OptunaSpace({"n": IntDistribution(1, 8, log=True)})
    grid = np.linspace(-1.0, 1.0, 20001)[:, None]
    drawn = [int(space.from_point(point)["n"]) for point in space.space.decode(grid)]
    expected = np.diff(np.log(np.arange(9) + 0.5)) / np.log(8.5 / 0.5)
    np.testing.assert_allclose(np.bincount(drawn)[1:] / len(drawn), expected, atol=1e-3)


@pytest.mark.slow
def test_parameter_without_effect_in_its_branch_is_not_searched():
    """Optuna's issue 3826."""

    def objective(trial):
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            trial.suggest_float("meaningless", 0.0, 10.0)
            return 1.0
        return trial.suggest_float("meaningful", 0.0, 10.0)

    study = new_study()
    study.optimize(objective, n_trials=22)
    assert study.best_value < 0.05
    assert all(set(t.params) < {"kind", "meaningless", "meaningful"} for t in study.trials)
    assert all(len(t.params) == 2 for t in study.trials)


def test_conditions_of_parameters_are_inferred():
    def objective(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        if x > 0.5:  # cannot be inferred
            x += trial.suggest_float("y", 0.0, 1.0)
        for i in range(trial.suggest_int("layers", 1, 3)):
            x += trial.suggest_float(f"width{i}", 0.0, 1.0)
        return x + by_two_choices(trial)

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=80)
    distributions = SILBOSampler().infer_relative_search_space(study, study.trials[0])
    inactive = seen_by_all(study, distributions).inactive
    assert inactive["fx"] == [{"a": (1, 2)}]
    assert inactive["b"] == [{"a": (0,)}]
    assert inactive["fu"] == [{"a": (0,)}, {"a": (1, 2), "b": (1,)}]
    assert inactive["width2"] == [{"layers": (1, 2)}]
    assert not inactive.keys() & {"x", "y", "a", "layers", "width0"}


@pytest.mark.slow
def test_finite_conditional_space_is_searched_without_repeats():
    def objective(trial):
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return trial.suggest_int("n", 0, 20)
        return trial.suggest_int("m", 0, 3) - 2

    study = new_study()
    study.optimize(objective, n_trials=25)
    assert len({tuple(t.params.items()) for t in study.trials}) == 25


# Trials that are not simply complete.


def seen_by_all(study, distributions):
    return see_trials(study, number=-1, distributions=distributions)


X = {"x": FloatDistribution(0.0, 1.0)}


def add(study, x, state, value=None, **more):
    study.add_trial(
        create_trial(state=state, params={"x": x}, distributions=X, value=value, **more)
    )


def test_what_ended_trials_are_worth():
    for direction, sign in (("minimize", 1.0), ("maximize", -1.0)):
        study = new_study(direction)
        add(study, 0.1, TrialState.COMPLETE, 2.0)
        add(study, 0.2, TrialState.FAIL)
        add(study, 0.3, TrialState.PRUNED, intermediate_values={3: 7.0, 1: 9.0})
        add(study, 0.4, TrialState.PRUNED)
        seen = seen_by_all(study, X)
        values = [seen.observed[n].value for n in range(4)]
        np.testing.assert_array_equal(values, [sign * 2.0, np.nan, sign * 7.0, np.nan])
        assert seen.complete == [{"x": 0.1}]


def test_trial_outside_current_range_is_ignored():
    study = new_study()
    add(study, 0.1, TrialState.COMPLETE, 2.0)
    add(study, 0.9, TrialState.COMPLETE, 3.0)
    assert list(seen_by_all(study, {"x": FloatDistribution(0.5, 2.0)}).observed) == [1]
    assert seen_by_all(study, {"x": CategoricalDistribution(["a", "b"])}).observed == {}


def test_missing_trial_constraints_are_nan():
    study = new_study("maximize")
    for x, attributes in [
        (0.1, {"constraints": [0.0, -1.0]}),
        (0.2, {"constraints:heat": 2.0, "other": 7.0}),
        (0.3, {}),
    ]:
        add(study, x, TrialState.COMPLETE, 1.0, system_attrs=attributes)
    seen = [seen_by_all(study, X).observed[n] for n in range(3)]
    np.testing.assert_array_equal([trial.value for trial in seen], -1.0)
    constraints = [trial.constraints for trial in seen]
    nan = np.nan
    np.testing.assert_array_equal(constraints, [[nan, 0.0, -1.0], [2.0, nan, nan], [nan] * 3])


@pytest.mark.parametrize("by_objective", [False, True])
def test_constraints_are_kept_and_found(by_objective):
    def objective(trial):
        value = bowl(trial)
        excess = 1.5 - trial.params["x"]  # feasible: x >= 1.5
        if by_objective:
            trial.set_constraint("right", excess)
        trial.set_user_attr("c", excess)
        return value

    if by_objective and not hasattr(optuna.trial.Trial, "set_constraint"):
        pytest.skip("Optuna 5 or newer")
    options = {} if by_objective else {"constraints_func": lambda trial: [trial.user_attrs["c"]]}
    study = new_study(**options)
    study.optimize(objective, n_trials=18)
    assert min(t.value for t in study.trials if t.params["x"] >= 1.5) < 0.6  # 0.25 at x = 1.5
    if not by_objective:
        first = study.trials[0]
        assert first.system_attrs["constraints"] == (first.user_attrs["c"],)


@pytest.mark.quick
@pytest.mark.parametrize("returned", [[np.nan], 1.0, np.array(1.0), None, ["a"]])
def test_constraints_of_another_form_are_refused(returned):
    study = new_study(constraints_func=lambda trial: returned)
    with pytest.raises(ValueError, match=r"constraints_func.*return"):
        study.optimize(bowl, n_trials=1)
    assert len(study.trials) == 1


def test_enqueued_trials_are_taken_as_they_are():
    study = new_study()
    study.optimize(bowl, n_trials=11)
    study.enqueue_trial({"x": 1.0, "y": -2.0})
    study.optimize(bowl, n_trials=3)
    assert study.trials[11].params == {"x": 1.0, "y": -2.0}
    assert len({tuple(t.params.values()) for t in study.trials}) == 14


# Running trials.


def test_running_trials_are_pending_and_not_proposed_again():
    study = new_study()
    study.optimize(bowl, n_trials=12)
    space = {name: FloatDistribution(-5.0, 5.0) for name in "xy"}
    asked = [study.ask() for _ in range(4)]
    for trial in asked:
        trial.suggest_float("x", -5.0, 5.0)
    shown = seen_by_all(study, space).pending
    points = [{name: t.suggest_float(name, -5.0, 5.0) for name in "xy"} for t in asked]
    assert points == shown  # before y was suggested
    gaps = [np.hypot(a["x"] - b["x"], a["y"] - b["y"]) for a in points for b in points]
    assert sorted(gaps)[4] > 0.0
    for trial, point in zip(asked, points, strict=True):
        study.tell(trial, (point["x"] - 1.0) ** 2 + (point["y"] + 2.0) ** 2)
    study.optimize(bowl, n_trials=2)


def test_concurrent_samplers_propose_different_points():
    """As two processes that begin a trial at the same time."""
    study = new_study()
    study.optimize(bowl, n_trials=14)
    space = study.sampler.infer_relative_search_space(study, study.trials[0])
    numbers = [study._storage.create_new_trial(study._study_id) for _ in range(3)]
    trials = [study._storage.get_trial(number) for number in numbers]
    hidden = [see_trials(study, trial.number, space).n_ahead({}) for trial in trials]
    assert hidden == [0, 1, 2]
    points = []
    for trial in reversed(trials):  # the last asks first: none has shown its parameters
        params = SILBOSampler(seed=0).sample_relative(study, trial, space)
        points.append(tuple(params.values()))
    assert len(set(points)) == 3


def test_killed_trial_does_not_change_proposals():
    """A process that is killed while it proposes leaves a running trial without parameters."""
    distributions = {name: FloatDistribution(-5.0, 5.0) for name in "xy"}

    def proposed(n_killed):
        study = new_study()
        for _ in range(n_killed):
            study.ask()
        for x, y in np.random.default_rng(0).uniform(-5.0, 5.0, (14, 2)).tolist():
            told = {"params": {"x": x, "y": y}, "value": (x - 1.0) ** 2 + (y + 2.0) ** 2}
            study.add_trial(create_trial(distributions=distributions, **told))
        return study.ask(distributions).params

    assert proposed(n_killed=3) == proposed(n_killed=0)


def test_exhausted_finite_space_is_resampled():
    study = new_study()
    study.optimize(lambda t: t.suggest_int("n", 0, 3) + t.suggest_int("m", 0, 2), n_trials=16)
    points = [tuple(trial.params.values()) for trial in study.trials]
    assert len(points) == 16
    assert set(points[1:]) == {(n, m) for n in range(4) for m in range(3)}


def test_threads():
    study = new_study()
    study.optimize(bowl, n_trials=12, n_jobs=4)
    points = [tuple(trial.params.values()) for trial in study.trials]
    assert len(set(points)) == 12
    assert all(trial.state == TrialState.COMPLETE for trial in study.trials)


# Trials that would be the same.


def by_two_choices(trial):
    if trial.suggest_categorical("a", ["x", "y", "z"]) == "x":
        return trial.suggest_float("fx", 0.0, 1.0)
    if trial.suggest_categorical("b", ["u", "v"]) == "u":
        return trial.suggest_int("fu", 0, 9)
    return trial.suggest_float("fv", 0.0, 1.0) - 0.5


def some_fail(trial):
    kind = trial.suggest_categorical("kind", ["bad", "good"])
    if trial.number % 3 == 0:
        raise RuntimeError("before the others are suggested")
    return trial.suggest_float(kind, 0.0, 1.0)


@pytest.mark.parametrize("objective", [by_two_choices, some_fail])
def test_conditional_studies_evaluate_no_trial_twice(objective):
    study = new_study()
    study.optimize(objective, n_trials=15, catch=RuntimeError)
    done = [tuple(sorted(t.params.items())) for t in study.trials if t.state.is_finished()]
    done = [params for params, t in zip(done, study.trials, strict=True) if t.value is not None]
    assert len(set(done)) == len(done) >= 10


def test_incomplete_failed_trial_excludes_no_point():
    """Nor does a running one that has shown one of its parameters."""
    study = new_study()
    study.optimize(conditional, n_trials=15)
    space = study.sampler.infer_relative_search_space(study, study.trials[0])
    own = CategoricalDistribution(["adam", "sgd"])
    for kind in own.choices:
        shown = {"params": {"optimizer": kind}, "distributions": {"optimizer": own}}
        study.add_trial(create_trial(state=TrialState.FAIL, **shown))
    seen = seen_by_all(study, space)
    for t in study.trials[:15]:
        shown = {name: space[name].to_internal_repr(value) for name, value in t.params.items()}
        unused = {name: 0.0 for name in space if name not in t.params}
        assert seen.repeats(shown | unused)
        assert not seen.repeats(shown | unused | {"rate": 0.0123})


class Thing:
    """A choice that JSON has not."""


THINGS = [Thing(), Thing()]


@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution:UserWarning")
@pytest.mark.parametrize(
    "choices",
    [np.arange(4), [np.float32(0.5), np.float64(2.0)], THINGS, [(1, 2), (3,)], [b"a", b"b"]],
    ids=["numpy integers", "numpy floats", "objects", "tuples", "bytes"],
)
def test_choices_that_json_has_not(choices):
    study = new_study(n_startup_trials=3)

    def objective(trial):
        index = list(choices).index(trial.suggest_categorical("c", choices))
        return index + trial.suggest_float("x", 0.0, 1.0)

    study.optimize(objective, n_trials=7)
    assert study.best_value < 1.0  # of the first choice


def test_large_proposal_is_one_attribute():
    study = new_study(n_startup_trials=2)
    names = [f"a parameter with a long name, number {i}" for i in range(40)]
    study.optimize(lambda t: sum(t.suggest_float(n, 0.0, 1.0) for n in names), n_trials=4)
    keys = [set(trial.system_attrs) for trial in study.trials]
    assert keys[1:] == [{"silbo:params"}] * 3
    assert set(study.trials[-1].system_attrs["silbo:params"]) == set(names)


# --- what a study has learnt ----------------------------------------------------------------------


def mixed(trial):
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    layers = trial.suggest_int("layers", 2, 8, step=2)
    kind = trial.suggest_categorical("kind", ["a", None])
    return (np.log10(rate) + 2.0) ** 2 + 0.1 * layers + (kind == "a")


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_study_predicts_in_its_units_and_sign():
    study = new_study("maximize")
    study.optimize(lambda trial: -mixed(trial), n_trials=14)
    optimizer = pickle.loads(pickle.dumps(study.sampler)).optimizer_of(study)
    best = optimizer.predict({"rate": 1e-2, "layers": 2, "kind": "None"})
    assert best.mean == pytest.approx(-0.2, abs=0.3)
    assert optimizer.best_y_ == study.best_value
    assert set(optimizer.subspace_.shares.names) == {"rate", "layers", "kind"}
    pytest.importorskip("matplotlib")
    display = SearchDisplay.from_result(study, kind="convergence")
    np.testing.assert_array_equal(display.values, [trial.value for trial in study.trials])


def test_what_a_study_cannot_say_is_refused():
    with pytest.raises(NotFittedError, match=r"study.*complete"):
        SILBOSampler().optimizer_of(new_study())
    other = optuna.create_study(sampler=optuna.samplers.RandomSampler())
    with pytest.raises(NotFittedError, match=r"study.*complete"):
        SearchDisplay.from_result(other)
    with pytest.raises(TypeError, match=r"optuna\.Study.*got str"):
        SILBOSampler().optimizer_of("study")
    both = optuna.create_study(directions=["minimize", "maximize"])
    with pytest.raises(ValueError, match="multi-objective"):
        SILBOSampler().optimizer_of(both)
