"""The ensemble of sparse processes, its averaged acquisition, and the turns it takes."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gamma, halfcauchy

from skbo_silbo import SILBO
from skbo_silbo._numerics._gaussian_process import BELIEF_VARIANCE
from skbo_silbo.acquisition import (
    AcquisitionSurface,
    IdleRedraw,
    expected_improvement,
    mean_of_logs,
    plain_mean,
)
from skbo_silbo.embedding import IdentityLearner, LinearEmbedding
from skbo_silbo.optimizers._configuration import ACQUISITIONS
from skbo_silbo.optimizers._evidence import (
    choose_turns,
    held_out_constant,
    held_out_ensemble,
    held_out_log_density,
)
from skbo_silbo.space import Box
from skbo_silbo.surrogate import (
    EnsembleSurrogate,
    GaussianProcessSurrogate,
    ProcessMaker,
    TurnsMaker,
    is_due,
)
from skbo_silbo.surrogate._ensemble import LEAST_WEIGHT, N_MEMBERS, SelectedProcess
from skbo_silbo.surrogate._prior import half_cauchy_prior

D = 30


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, D))
    return X, np.sin(3 * X[:, 4]) + X[:, 11] ** 2


@pytest.fixture(scope="module")
def ensemble(data):
    return EnsembleSurrogate().fit(*data, rng=np.random.default_rng(1))


def surface_of(ensemble, data, name="ei"):
    return AcquisitionSurface(
        ACQUISITIONS[name](1, 100), ensemble, LinearEmbedding(D), data[1].min()
    )


def test_prior_is_half_cauchy_of_the_weights_themselves_and_gamma_of_the_noise():
    prior = half_cauchy_prior(5, 2.5)
    thetas = np.random.default_rng(0).normal(0, 2, (2, 7))

    def truth(theta):
        weights = np.exp(-2 * theta[1:-1])
        noise = np.exp(theta[-1])
        return halfcauchy(scale=2.5).logpdf(weights).sum() + gamma(0.9, scale=0.1).logpdf(noise)

    ours = np.subtract(*(prior.log_density(theta)[0] for theta in thetas))
    assert ours == pytest.approx(truth(thetas[0]) - truth(thetas[1]))
    h = 1e-5 * np.eye(7)
    slopes = [prior.log_density(thetas[0] + e)[0] - prior.log_density(thetas[0] - e)[0] for e in h]
    assert_allclose(prior.log_density(thetas[0])[1], np.array(slopes) / 2e-5, atol=1e-7)


def test_members_differ_and_find_the_inputs_that_matter(data, ensemble):
    assert len(ensemble.members) == N_MEMBERS
    for member in ensemble.members:
        assert set(np.argsort(-member.weights_)[:2]) == {4, 11}
    assert len({tuple(m.weights_) for m in ensemble.members}) == N_MEMBERS
    assert set(np.argsort(-ensemble.weights_)[:2]) == {4, 11}


def test_inputs_without_weight_are_left_out_and_nothing_else_changes(data):
    X, y = data
    whole = GaussianProcessSurrogate(prior=half_cauchy_prior(D, 2.5)).fit(X, y)
    part = SelectedProcess.without_idle(whole, X, y, 0.0)
    assert 2 <= part.columns.size < D
    assert_array_equal(part.columns, np.flatnonzero(whole.weights_ > LEAST_WEIGHT))
    Z = np.random.default_rng(2).uniform(-1, 1, (50, D))
    for ours, theirs in zip(part.predict(Z), whole.predict(Z), strict=True):
        assert_allclose(ours, theirs, atol=5e-3)
    *_, by_mean, by_std = part.predict_gradient(Z)
    idle = np.setdiff1d(np.arange(D), part.columns)
    assert by_mean.shape == (50, D)
    assert (by_mean[:, idle] == 0).all()
    assert (by_std[:, idle] == 0).all()
    assert_allclose(by_mean, whole.predict_gradient(Z)[2], atol=0.02)


def test_equal_values_leave_one_input():
    X = np.random.default_rng(0).uniform(-1, 1, (9, 3))
    process = GaussianProcessSurrogate(
        np.r_[0.0, np.full(3, 9.0), -9.0], prior=half_cauchy_prior(3, 2.5)
    ).fit(X, np.ones(9))
    assert SelectedProcess.without_idle(process, X, np.ones(9), 0.0).columns.size == 1


def test_mixture_has_the_moments_of_samples_of_its_members(ensemble):
    Z = np.random.default_rng(3).uniform(-1, 1, (3, D))
    rng = np.random.default_rng(4)
    each = [member.predict(Z) for member in ensemble.members]
    draws = np.concatenate([m + s * rng.normal(size=(200_000, 3)) for m, s in each])
    mean, std = ensemble.predict(Z)
    assert_allclose(mean, draws.mean(axis=0), atol=0.005)
    assert_allclose(std, draws.std(axis=0), rtol=0.01)


def test_gradient_of_the_mean_is_that_of_the_mixture(ensemble):
    z = np.random.default_rng(10).uniform(-1, 1, (1, D))
    h = 1e-6 * np.eye(D)
    slopes = (ensemble.predict(z + h)[0] - ensemble.predict(z - h)[0]) / 2e-6
    assert_allclose(ensemble.mean_gradient(z)[0], slopes, atol=1e-6)


def test_the_subspace_is_learnt_from_whichever_had_the_turn():
    optimizer, turns = SILBO([(-1, 1)] * D, random_state=0), set()
    for n in range(36):
        x = optimizer.ask()
        optimizer.tell(x, float((x[3] - 0.4) ** 2))
        if n >= 32:
            optimizer.ask()
            turns.add(optimizer.to_dict()["state"]["surrogate"]["turn"])
            assert np.abs(optimizer.subspace_.components[0]).argmax() == 3
    assert turns == {"process", "ensemble"}


def test_state_restores_the_ensemble_bit_for_bit(data, ensemble):
    again = EnsembleSurrogate().from_state(ensemble.to_state(), *data)
    Z = np.random.default_rng(5).uniform(-1, 1, (6, D))
    assert_array_equal(again.predict(Z), ensemble.predict(Z))
    assert again.to_state() == ensemble.to_state()


def test_every_member_believes_a_value_as_bayes_says(ensemble):
    z, y = np.random.default_rng(6).uniform(-1, 1, (1, D)), 0.3
    believing = ensemble.with_points(z, np.array([y]))
    for before, after in zip(ensemble.members, believing.members, strict=True):
        (mean,), (std,) = before.predict(z)
        signal = np.exp(before.process.theta_[0]) * before.process.y_scale_**2
        noise = BELIEF_VARIANCE * signal
        weight = std**2 / (std**2 + noise)
        assert after.predict(z)[0][0] == pytest.approx(mean + weight * (y - mean), abs=1e-6)
        assert after.predict(z)[1][0] == pytest.approx(np.sqrt(weight * noise), rel=1e-3)


def test_expected_improvement_is_averaged_not_its_logarithm(data, ensemble):
    surface = surface_of(ensemble, data)
    X = np.random.default_rng(7).uniform(-1, 1, (8, D))
    each = [expected_improvement(*m.predict(X), surface.best) for m in ensemble.members]
    assert_allclose(np.exp(surface.values(X)), np.mean(each, axis=0), rtol=1e-9)


@pytest.mark.parametrize("name", ["ei", "ucb"])
def test_gradient_of_the_average(data, ensemble, name):
    surface = surface_of(ensemble, data, name)
    x = np.random.default_rng(8).uniform(-1, 1, D)
    value, gradient = surface.value_and_gradient(x)
    assert value == pytest.approx(surface.values(x[None])[0])
    h = 1e-6 * np.eye(D)
    slopes = (surface.values(x + h) - surface.values(x - h)) / 2e-6
    assert_allclose(gradient, slopes, atol=1e-4 * np.abs(slopes).max())


def test_averages_and_their_gradients():
    values = np.array([[0.0, 1.0], [2.0, -np.inf]])
    mean, shares = mean_of_logs(values)
    assert_allclose(mean, [np.log((1 + np.e**2) / 2), 1 - np.log(2)])
    assert_allclose(shares.sum(axis=0), 1.0)
    mean, shares = plain_mean(values[:, :1])
    assert (mean, shares.tolist()) == (1.0, [[0.5], [0.5]])


def test_an_ensemble_is_climbed_and_no_input_drawn_anew(data, ensemble):
    X, y = data
    surface = surface_of(ensemble, data)
    box, ranked = Box([(-1, 1)] * D), X[np.argsort(y)]
    Z, found = IdleRedraw().find(surface, ranked, box, np.random.default_rng(9))
    assert_array_equal(Z, found)
    values = surface.values(found)
    assert (np.diff(values) <= 1e-6 * np.abs(values[1:])).all()


def test_both_take_turns_and_each_goes_on_from_its_own_state(data):
    X, y = data
    maker, state, turns = TurnsMaker(ProcessMaker("sparse")), None, []
    rng = np.random.default_rng(0)
    for n in range(20, 36):
        before, noise = state, np.zeros(n)
        surrogate, state = maker.fit(state, X[:n], y[:n], noise, tune=False, rng=rng)
        turns.append(state["turn"])
        other = {"process": "ensemble", "ensemble": "process"}[state["turn"]]
        if before is not None:
            assert state.get(other) == before.get(other)
        restored = maker.restore(state, X[:n], y[:n], noise)
        assert_array_equal(restored.predict(X), surrogate.predict(X))
        assert maker.fits(state, D)
        assert not maker.fits(state, D - 1)
    assert turns[0] == "process"
    assert set(turns) == {"process", "ensemble"}


def held_out(X, y, seed=0):
    folds = np.random.default_rng(seed).permutation(y.size) % 5
    whole = held_out_log_density(IdentityLearner("sparse"), X, y, X[:0], folds)
    return held_out_ensemble(X, y, folds, np.random.default_rng(seed)) - whole


def test_evidence_is_against_an_ensemble_where_all_inputs_matter():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (60, D))
    learner = IdentityLearner("sparse", takes_turns=True)
    all_matter, few_do = X @ rng.normal(size=D), np.sin(3 * X[:, 4]) * X[:, 11]
    assert held_out(X, all_matter).mean() < 0.0
    assert choose_turns(learner, X, all_matter, rng).takes_turns is False
    assert choose_turns(learner, X, few_do, rng).takes_turns is True


def test_the_ensembles_evidence_holds_no_label_of_its_fold():
    rng = np.random.default_rng(3)
    X, noise = rng.uniform(-1, 1, (50, D)), rng.normal(size=50)
    folds = np.arange(50) % 5
    density = held_out_ensemble(X, noise, folds, rng)
    assert density.mean() < held_out_constant(noise, folds).mean()


@pytest.mark.parametrize("takes_turns", [None, True])
def test_without_labels_enough_or_without_an_ensemble_nothing_is_chosen(takes_turns):
    learner = IdentityLearner("sparse", takes_turns=takes_turns)
    X = np.zeros((29 if takes_turns else 40, D))
    assert choose_turns(learner, X, X[:, 0], np.random.default_rng(0)) is learner


def test_where_evidence_is_against_it_all_turns_are_the_process_s(data):
    X, y = data
    maker, state = ProcessMaker().for_learner(IdentityLearner("sparse", takes_turns=False)), None
    rng = np.random.default_rng(0)
    for n in range(20, 30):
        _, state = maker.fit(state, X[:n], y[:n], np.zeros(n), tune=False, rng=rng)
        assert state["turn"] == "process"


def test_the_choice_of_turns_outlives_json():
    optimizer = SILBO([(-1, 1)] * D, random_state=0)
    weights = np.random.default_rng(0).normal(size=D)
    for _ in range(48):
        x = optimizer.ask()
        optimizer.tell(x, float(weights @ x))
    data = json.loads(json.dumps(optimizer.to_dict()))
    assert data["state"]["turns"] is False
    again = SILBO.from_dict(data)
    assert again.to_dict() == optimizer.to_dict()
    assert_array_equal(again.ask(), optimizer.ask())


def test_hyperparameters_are_due_with_five_percent_more_labels_or_ten_where_it_takes_long():
    assert [is_due(n, 100, 10) for n in (104, 105)] == [False, True]
    assert [is_due(n, 200, 1000) for n in (210, 219, 221)] == [False, False, True]


def test_turns_are_taken_with_many_inputs_only():
    def turns(d):
        optimizer = SILBO([(-1, 1)] * d, n_initial=5, random_state=0)
        seen = set()
        for _ in range(16):
            x = optimizer.ask()
            optimizer.tell(x, float(((x - 0.3) ** 2)[:2].sum()))
            state = optimizer.to_dict()["state"]["surrogate"]
            seen.add(state and state.get("turn"))
        return seen - {None}

    assert turns(21) == {"process", "ensemble"}
    assert turns(20) == set()
