"""SILBO as the paper has it: Algorithms 1, 3 and 4, and how many evaluations they take."""

import json
import sys
import warnings

import numpy as np
import pytest
from ask_tell import run
from global_generator import global_generator_unchanged
from numpy.testing import assert_allclose, assert_array_equal

from skbo_silbo import SILBO, minimize
from skbo_silbo.baselines import SILBOBottomUp, SILBOTopDown
from skbo_silbo.baselines._silbo_as_printed import _import_cma, preimage_by_evolution
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.embedding.linear import nearest_points
from skbo_silbo.space import key_of


def ridge(x):
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2 + x[2])


def bottom_up(n_initial=10, update_every=5, **options):
    options = {"embedding": "semi-sir-local", "acquisition": "ei", **options}
    sizes = {"n_components": 2, "n_initial": n_initial, "update_every": update_every}
    return SILBOBottomUp([(-1, 1)] * 8, random_state=0, **sizes, **options)


@pytest.mark.parametrize(
    ("n_initial", "update_every", "n_updates", "n_calls"),
    [(10, 5, 3, 90), pytest.param(50, 20, 9, 1600, marks=pytest.mark.slow)],
)
def test_bottom_up_costs_1600_evaluations(n_initial, update_every, n_updates, n_calls):
    # updates after 20, 40, ..., 180 iterations evaluate 70 + 90 + ... + 230 = 1350 points again
    optimizer = bottom_up(n_initial, update_every, embedding="auto")
    run(optimizer, ridge, n_calls)
    before = n_initial + update_every * n_updates
    assert len(optimizer._ledger.Z) == before + update_every
    assert optimizer._model.learnt_at == before
    assert len(np.unique(optimizer.x_iters_.round(9), axis=0)) == n_calls


def test_old_points_are_reevaluated_after_new_embedding():
    optimizer = run(bottom_up(), ridge, 15)  # 10 first points and 5 iterations
    before = optimizer.embedding_
    Z = optimizer._ledger.Z
    assert len(Z) == 15
    again = []
    for _ in range(15):
        again.append(optimizer.ask())
        optimizer.tell(again[-1], ridge(again[-1]))
    after = optimizer.embedding_
    assert after is not before
    assert_allclose(again, np.clip(Z @ np.linalg.pinv(after.basis), -1, 1), atol=1e-8)
    optimizer.ask()  # an iteration: the sixteenth coordinates
    assert len(optimizer._ledger.Z) == 16
    assert optimizer.embedding_ is after


def test_initial_values_are_kept_under_first_embedding():
    optimizer = run(bottom_up(), ridge, 10)
    x = optimizer.ask()
    X = optimizer.x_iters_
    assert not (np.abs(X - x).max(axis=1) < 1e-9).any()
    order = np.lexsort(X.T[::-1])
    assert_allclose(optimizer._ledger.Z[:10], X[order] @ optimizer.embedding_.basis, atol=1e-8)


def test_model_uses_values_of_current_embedding():
    optimizer = run(bottom_up(), ridge, 15 + 15)
    optimizer.ask()
    X, y, *_ = optimizer._labelled()
    assert len(y) == 15
    again = optimizer.x_iters_[15:]
    assert_allclose(np.sort(X, axis=0), np.sort(again, axis=0), atol=1e-8)


def test_batched_bottom_up_reevaluates_same_points():
    optimizer = run(bottom_up(), ridge, 15)
    batch = optimizer.ask(17)  # all 15 places are pending, and nothing is known at any of them
    assert len(np.unique(batch, axis=0)) == 17
    one_by_one = run(run(bottom_up(), ridge, 15), ridge, 15).x_iters_[15:]
    assert_allclose(batch[:15], one_by_one, atol=1e-12)
    optimizer.tell(batch, [ridge(x) for x in batch])
    assert optimizer.ask().shape == (8,)


def test_external_points_get_coordinates():
    optimizer = bottom_up(n_initial=5)
    X = np.random.default_rng(1).uniform(-1, 1, (12, 8))
    optimizer.tell(X, [ridge(x) for x in X])
    run(optimizer, ridge, 5)
    again = np.array([optimizer.ask() for _ in range(17)])
    basis = optimizer.embedding_.basis
    inside = (np.abs(again) < 1).all(axis=1)
    assert_allclose((again @ basis @ basis.T)[inside], again[inside], atol=1e-8)
    assert len(optimizer._ledger.Z) == 17


def test_point_failing_twice_is_not_proposed_again():
    optimizer = run(bottom_up(), ridge, 15)
    run(optimizer, lambda x: np.nan, 3)
    run(optimizer, ridge, 12)
    X = [key_of(x) for x in optimizer.x_iters_]
    run(optimizer, ridge, 3)
    assert len({key_of(x) for x in optimizer.x_iters_} - set(X)) == 3


def test_bottom_up_restores_moved_and_replaced_points():
    optimizer = run(bottom_up(), ridge, 17)  # the first update moved 15 points
    again = SILBOBottomUp.from_dict(json.loads(json.dumps(optimizer.to_dict())))
    assert_array_equal(run(again, ridge, 30).x_iters_, run(optimizer, ridge, 30).x_iters_)


@pytest.mark.parametrize("method", [SILBOBottomUp, SILBOTopDown])
def test_the_settings_of_the_paper(method):
    optimizer = method([(-1, 1)] * 9, random_state=0)
    assert optimizer.n_initial_ == 50
    assert (optimizer.n_unlabeled, optimizer.update_every) == (50, 20)
    learner = optimizer._configuration.learner
    X = np.random.default_rng(0).uniform(-1, 1, (60, 9))
    estimator = learner._fitted(2, X, X[:, 0], X[:0])
    assert (estimator.n_neighbors, estimator.n_local_neighbors, estimator.solver) == (7, 7, "paper")


@pytest.mark.slow
def test_top_down_never_evaluates_again():
    options = {"acquisition": "ei", "n_initial": 12, "update_every": 3}
    options |= {"method": "silbo-td", "n_components": 2, "n_calls": 17, "random_state": 0}
    result, again = (minimize(ridge, [(-1, 1)] * 5, **options) for _ in range(2))
    assert result.nfev == 17
    assert len(np.unique(result.x_iters.round(9), axis=0)) == 17
    assert_array_equal(result.x_iters, again.x_iters)


def test_random_search_proposes_acquisition_maximum():
    optimizer = run(bottom_up(n_initial=15), ridge, 15)
    x = optimizer.ask()
    optimizer._pending.clear()
    surface = optimizer._surface(None)
    z = optimizer._ledger.Z[-1]
    widths = optimizer.embedding_.half_widths
    assert (np.abs(z) <= widths).all()
    others = np.random.default_rng(5).uniform(-1, 1, (500, 2)) * widths
    assert (surface.values_at(z[None]) >= surface.values_at(others)).mean() > 0.95
    assert_allclose(x, np.clip(optimizer.embedding_.expand(z[None]), -1, 1)[0], atol=1e-8)


def test_default_settings_do_not_warn():
    optimizer = SILBOBottomUp([(-1, 1)] * 6, random_state=0)
    X = optimizer.ask(50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.tell(X, (X**2).sum(axis=1)).ask()


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "n_calls"), [(SILBO, 23), (SILBOBottomUp, 45)])
def test_embedding_is_relearned_at_update_time(cls, n_calls):
    optimizer = cls(
        [(-1, 1)] * 6,
        embedding="semi-sir",
        n_components=2,
        n_initial=10,
        update_every=[20],
        random_state=0,
    )
    learnt = []
    for _ in range(n_calls):
        x = optimizer.ask()
        learnt.append(optimizer._model.learnt_at)
        optimizer.tell(x, ridge(x))
    assert list(dict.fromkeys(learnt)) == [0, 10, 20]
    data = optimizer.to_dict()
    assert data["objects"] == []
    assert cls.from_dict(json.loads(json.dumps(data)))._configuration.update_every == (20,)


@pytest.mark.parametrize("wrong", [[], [20, 10], [5, 5], [0], "20", 1.5, True])
def test_a_schedule_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match="update_every must be"):
        SILBO([(-1, 1)] * 3, update_every=wrong)


def make_embedding(d, r, seed):
    return LinearEmbedding.from_components(np.random.default_rng(seed).normal(size=(r, d)))


@pytest.mark.parametrize(("d", "r"), [(1, 1), (7, 3), pytest.param(60, 2, marks=pytest.mark.slow)])
def test_evolution_finds_preimage_without_global_generator(d, r):
    embedding, rng = make_embedding(d, r, 0), np.random.default_rng(0)
    z = embedding.project(rng.uniform(-1, 1, (1, d)))[0]
    with global_generator_unchanged():
        x, other = (preimage_by_evolution(z, embedding, rng) for _ in range(2))
    assert np.abs(x).max() <= 1
    size = np.linalg.norm(embedding.half_widths)
    assert np.linalg.norm(embedding.project(x[None])[0] - z) < 5e-3 * size
    if d > r:
        assert np.abs(x - other).max() > 0.05  # what B does not see is left to chance


@pytest.mark.slow
def test_evolution_outside_the_image_comes_near_its_edge():
    embedding = make_embedding(20, 2, 3)
    z = 2 * embedding.half_widths
    x = preimage_by_evolution(z, embedding, np.random.default_rng(0))
    nearest = nearest_points(z[None], embedding, np.zeros(20))
    distances = np.linalg.norm(embedding.project(np.vstack([x, nearest])) - z, axis=1)
    assert distances[0] < 1.02 * distances[1]


def test_cma_without_matplotlib_warns_of_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [name for name in sys.modules if name.partition(".")[0] == "cma"]:
        monkeypatch.delitem(sys.modules, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _import_cma() is sys.modules["cma"]
