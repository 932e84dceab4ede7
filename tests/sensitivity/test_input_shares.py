"""Input shares: posterior draws, total Sobol indices, intervals and the verdict."""

import re

import numpy as np
import pytest
from levels import sets
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, loguniform, norm, qmc, uniform

from benchmarks.experiments._share_coverage import PlantedSum, measure_shares
from skbo_silbo import SILBO, Space
from skbo_silbo.baselines import RandomSearch
from skbo_silbo.sensitivity import InputModel, InputShares
from skbo_silbo.sensitivity._input_model import principal_slopes
from skbo_silbo.sensitivity._posterior_draws import FunctionDraws, draw_hyperparameters
from skbo_silbo.space import Box, SpaceUnion
from skbo_silbo.surrogate import GaussianProcessSurrogate
from skbo_silbo.surrogate.warps import IdentityWarp


def cube(d):
    return Box([(-1.0, 1.0)] * d)


def fit(space, func, n, seed=0):
    X = space.round(np.random.default_rng(seed).uniform(-1, 1, (n, space.n_features_)))
    return InputModel.fit(space, X, func(X))


# --- draws ----------------------------------------------------------------------------------------


@pytest.mark.quick
def test_draws_have_moments_of_correlated_normal():
    precision = np.array([[2.0, 1.2], [1.2, 1.0]])
    mode, rng = np.array([0.3, -0.2]), np.random.default_rng(0)

    def loss(theta):
        off = theta - mode
        return 0.5 * off @ precision @ off, precision @ off

    draws = draw_hyperparameters(loss, mode, np.array([[-30.0, 30.0]] * 2), 1500, rng)
    expected = np.linalg.inv(precision)
    error = 5 * np.sqrt(2 / 1500)  # five standard errors of a variance
    assert_allclose(np.cov(draws.T), expected, atol=error * expected.max())
    assert_allclose(draws.mean(axis=0), mode, atol=5 * np.sqrt(expected.max() / 1500))


@pytest.mark.statistical
def test_posterior_draws_follow_skewed_density():
    # theta = log of a Gamma(2, 1) variable: loss = exp(theta) - 2 theta, least at log 2.
    def loss(theta):
        return float(np.exp(theta[0]) - 2.0 * theta[0]), np.exp(theta) - 2.0

    bounds, rng = np.array([[-20.0, 20.0]]), np.random.default_rng(0)
    draws = draw_hyperparameters(loss, np.log([2.0]), bounds, 1500, rng)
    assert np.exp(draws).mean() == pytest.approx(2.0, abs=5 * np.sqrt(2 / 1500))
    narrow = draw_hyperparameters(loss, np.log([2.0]), np.array([[0.5, 0.8]]), 50, rng)
    assert narrow.min() >= 0.5
    assert narrow.max() <= 0.8


@pytest.fixture(scope="module")
def surrogate():
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1, 1, (30, 3))
    y = np.sin(3 * Z[:, 0]) + Z[:, 1] + 0.1 * rng.standard_normal(30)
    return GaussianProcessSurrogate().fit(Z, y)


def at_the_mode(surrogate):
    return surrogate.observations_.condition(surrogate.theta_)


@pytest.mark.quick
def test_drawn_functions_have_the_posterior_mean_and_variance(surrogate):
    rng = np.random.default_rng(1)
    P = rng.uniform(-1, 1, (6, 3))
    mean, std = surrogate.predict(P)
    # Fresh features for every few draws: those that share theirs share their error.
    draws = np.vstack([FunctionDraws(at_the_mode(surrogate), 4, rng)(P)[:-1] for _ in range(500)])
    found = surrogate.y_mean_ + surrogate.y_scale_ * draws
    assert_allclose((found.mean(axis=0) - mean) / std, 0.0, atol=5 / np.sqrt(2000))
    assert_allclose(found.var(axis=0) / std**2, 1.0, atol=0.35)


def test_moved_draws_equal_evaluated_draws(surrogate):
    rng = np.random.default_rng(1)
    P, Q = rng.uniform(-1, 1, (2, 5, 3))
    draws = FunctionDraws(at_the_mode(surrogate), 3, rng)
    mean = surrogate.predict(P)[0]
    assert_allclose(surrogate.y_mean_ + surrogate.y_scale_ * draws(P)[-1], mean, atol=1e-9)
    moved = P.copy()
    moved[:, [0, 2]] = Q[:, [0, 2]]
    values = draws.values(draws.replace_columns(draws.prepare(P), [0, 2], Q[:, [0, 2]]))
    assert_allclose(values, draws(moved), atol=1e-4)


# --- total indices --------------------------------------------------------------------------------


def test_shares_of_a_known_function():
    # f = a + b c with a, b, c uniform on [-1, 1]: variances 1/3 and 1/9, so that the total effects
    # are 3/4, 1/4 and 1/4; a and b together explain 3/4, all three everything.
    space = Space({name: uniform(-1, 2) for name in "abcd"} | {"kind": ["x", "y", "z"]})
    shares = fit(space, lambda X: X[:, 0] + X[:, 1] * X[:, 2], 80).shares
    assert shares.names == ("a", "b", "c", "d", "kind")
    assert_allclose(shares.share, [0.75, 0.25, 0.25, 0.0, 0.0], atol=0.05)
    assert_allclose(shares.together[:3, 0], [0.75, 0.75, 1.0], atol=0.05)
    assert shares.n_important == 3
    assert shares.verdict.startswith("3 of 5 inputs explain")
    assert shares.ranked[0] == "a"
    assert set(shares.ranked[3:]) == {"d", "kind"}
    low, high = shares.intervals[:, 1:].T
    assert (low <= shares.share).all()
    assert (shares.share <= high).all()
    assert (low[3:] == 0.0).all()


@pytest.mark.quick
def test_a_category_is_one_input():
    space = Space({"kind": ["u", "v", "w", "x"], "a": uniform()})

    def level(X):  # column j of a category is 1 where it is taken
        return 2.0 * X[:, :4].argmax(axis=1)

    shares = fit(space, level, 40).shares
    assert shares.names == ("kind", "a")
    assert_allclose(shares.share, [1.0, 0.0], atol=0.05)


# Each case is a space, a function of encoded points X and their branches b, and the true shares.
# The first columns of X encode the choice. A distribution on [-1, 1] is encoded unchanged.


def sums(k, step):
    """y = a_i + step i in branch i of k, with a_i on [0, 1]: variance 1/12 within branches."""
    space = [{"kind": [f"m{i}"], f"a{i}": uniform()} for i in range(k)]
    between = step**2 * (k**2 - 1) / 12
    total = 1 / 12 + between
    choice = (1 - 1 / k) / 12 + between  # the branch stays the same with probability 1 / k
    truth = {"kind": choice / total} | {f"a{i}": 1 / 12 / k / total for i in range(k)}
    return space, lambda X, b: (X[np.arange(len(X)), b - k] + 1) / 2 + step * b, truth


SYMMETRIC = uniform(-1, 2)  # variance 1/3


def a_product_and_a_line():
    """y = a b in one branch, c in the other: variances 1/9 and 1/3, both means 0."""
    space = [{"kind": ["x"], "a": SYMMETRIC, "b": SYMMETRIC}, {"kind": ["y"], "c": SYMMETRIC}]
    truth = {"kind": 1 / 2, "a": 1 / 4, "b": 1 / 4, "c": 3 / 4}
    return space, lambda X, b: np.where(b == 0, X[:, 1] * X[:, 2], X[:, 3]), truth


def one_in_common_and_one_idle():
    """y = s + a in one branch, s in the other, where e is irrelevant: variance 1/3 + 1/6."""
    space = [
        {"kind": ["x"], "s": SYMMETRIC, "a": SYMMETRIC},
        {"kind": ["y"], "s": SYMMETRIC, "e": SYMMETRIC},
    ]
    truth = {"kind": 1 / 6, "s": 2 / 3, "a": 1 / 3, "e": 0.0}
    return space, lambda X, b: X[:, 1] + np.where(b == 0, X[:, 2], 0), truth


def one_name_with_two_ranges():
    """y = C, on [0, 1] or [1, 2] by branch: variance 1/12 within and 1/4 between branches."""
    space = [{"kind": ["x"], "C": uniform()}, {"kind": ["y"], "C": uniform(1, 1)}]
    truth = {"kind": 7 / 8, "C": 1 / 4}
    return space, lambda X, b: np.where(b == 0, X[:, 1] + 1, X[:, 2] + 3) / 2, truth


class Exact:
    """A known objective with the interface of `FunctionDraws`."""

    def __init__(self, func):
        self._func = func

    def __call__(self, X):
        return np.tile(self._func(X), (2, 1))

    values = __call__

    def prepare(self, X):
        return X

    def replace_columns(self, X, columns, new):
        X = X.copy()
        X[:, columns] = new
        return X

    def mean_gradient(self, X):
        return np.zeros_like(X)


def known_model(space, draws):
    """Return an `InputModel` whose posterior is a known function."""
    X = np.zeros((1, space.n_features_))
    return InputModel(space, X, np.zeros(1), 0, IdentityWarp(), 1.0, True, [draws], (0.0, 1.0))


def with_branches(space, func):
    """Return a function of X that computes the branch from its first columns."""
    choice = space.column_groups()[space.choice_name]
    several = len(choice) > 1
    return lambda X: func(X, X[:, choice].argmax(1) if several else (X[:, 0] > 0).astype(int))


@pytest.mark.parametrize(
    ("space", "func", "truth"),
    [
        sums(2, 0.5),
        sums(4, 0.5),
        sums(9, 0.1),
        a_product_and_a_line(),
        one_in_common_and_one_idle(),
        one_name_with_two_ranges(),
    ],
)
def test_shares_in_a_conditional_space(space, func, truth):
    space = SpaceUnion(space)
    shares = known_model(space, Exact(with_branches(space, func))).shares
    assert dict(zip(shares.names, shares.share, strict=True)) == pytest.approx(truth, abs=0.02)
    assert shares.together[-1, 0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.statistical
@sets(1, 3)
def test_intervals_cover_shares_of_conditional_space(n_sets):
    # Were the coverage .9, fewer held than this would be one in ten thousand.
    space, func, _ = sums(2, 0.5)
    space = SpaceUnion(space)
    func = with_branches(space, func)
    held = np.concatenate([_held(space, func, seed) for seed in range(n_sets)])
    assert held.sum() >= binom.ppf(1e-4, held.size, 0.9)


def _held(space, func, seed):
    model = fit(space, func, 60, seed)
    y, scaled = np.sort(model.y), np.sort(model.warp(model.y))
    truth = known_model(space, Exact(lambda X: np.interp(func(X), y, scaled))).shares.share
    low, high = model.shares.intervals[:, 1:].T
    assert (high - low < 0.3).all()  # they say something
    return (low <= truth) & (truth <= high)


@sets(2, 6)
def test_few_points_find_few_relevant_inputs(n_sets):
    # 60 coordinates of a Sobol sequence: as they come, the error on these is .05 and more.
    space, errors = cube(30), []
    for seed in range(n_sets):
        planted = PlantedSum(30, 4, np.random.default_rng(seed))
        draws = Exact(planted)  # steep where an input matters, as the mean of a process is
        draws.mean_gradient = lambda X, planted=planted: X + planted.total_indices
        errors += list(known_model(space, draws).shares.share - planted.total_indices)
    assert np.abs(errors).max() < 0.02


@pytest.mark.statistical
@sets(1, 4)
def test_intervals_hold_the_true_shares(n_sets):
    # Planted problems: were the coverage .9, fewer held than this would be one in a million.
    problem = {"d": 6, "k": 2, "n": 40, "noise": 0.1}
    rows = np.concatenate(
        [measure_shares(problem, "uniform", 10 + repeat)["inputs"] for repeat in range(n_sets)]
    )
    held = (rows[:, 2] <= rows[:, 0]) & (rows[:, 0] <= rows[:, 3])
    assert held.sum() >= binom.ppf(1e-6, len(held), 0.9)
    active = rows[:, 0] > 0
    assert held[active].sum() >= binom.ppf(1e-6, active.sum(), 0.9)


@pytest.mark.statistical
@pytest.mark.usefixtures("few_draws")
def test_searched_points_widen_the_intervals():
    rng = np.random.default_rng(0)
    even = qmc.scale(qmc.Sobol(4, seed=rng).random(32), -1, 1)
    around = 0.3 + 0.1 * rng.standard_normal((32, 4))
    even_model = InputModel.fit(cube(4), even, even[:, 0] + 0.3 * even[:, 1])
    assert even_model.hidden_share == 0.0
    X = np.vstack([even, around])
    model = InputModel.fit(cube(4), X, X[:, 0] + 0.3 * X[:, 1])
    assert model.hidden_share == 4 / 64
    assert (model.shares.intervals[:, 2] >= 4 / 64).all()


# --- directions -----------------------------------------------------------------------------------


def test_slopes_are_eigenvectors_of_the_outer_product():
    gradients = np.random.default_rng(0).standard_normal((40, 5)) * [3, 1, 2, 0.1, 0.5]
    components, importance = principal_slopes(gradients)
    outer = gradients.T @ gradients / 40
    assert_allclose(
        components @ outer @ components.T, np.diag(np.trace(outer) * importance), atol=1e-12
    )
    assert_allclose(components @ components.T, np.eye(5), atol=1e-12)
    assert (np.diff(importance) <= 0).all()
    assert_allclose(importance.sum(), 1)
    assert (components[np.arange(5), np.abs(components).argmax(axis=1)] > 0).all()


# --- uninformative values and irrelevant inputs ---


def test_noise_says_nothing():
    model = fit(cube(6), lambda X: np.random.default_rng(0).standard_normal(len(X)), 40)
    assert not model.is_informative
    shares = model.shares
    assert np.isnan(shares.intervals).all()
    assert shares.n_important is None
    assert shares.ranked == []
    assert not shares.is_settled
    assert shares.verdict.startswith("The values do not show which inputs matter")
    assert f"R² {model.held_out_r2:.2f}" in repr(shares)
    assert model.directions[0].shape == (0, 6)


@pytest.mark.parametrize("y", [np.ones(20), np.full(20, np.nan), np.arange(20.0) % 2])
def test_equal_failed_and_few_values(y):
    X = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    rows = slice(None) if y[0] != 0 else slice(9)
    shares = InputModel.fit(cube(2), X[rows], y[rows]).shares
    assert not shares.is_informative
    assert "too few, or all equal" in shares.verdict


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_one_outlier_and_failures_change_little():
    X = np.random.default_rng(0).uniform(-1, 1, (30, 4))
    y = np.tanh(2 * X[:, 0]) + 0.5 * X[:, 1]
    plain = InputModel.fit(cube(4), X, y).shares
    y[3], y[7] = 1e9, np.nan
    model = InputModel.fit(cube(4), X, y)
    assert model.n_clipped == 1
    assert "1 outlier clipped" in model.scale
    assert model.shares.n_values == 29
    assert model.shares.ranked[:2] == plain.ranked[:2] == ["x0", "x1"]


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_shares_do_not_depend_on_order():
    X = np.random.default_rng(0).uniform(0, 1, (20, 3))
    y = X[:, 0] ** 2 + 0.3 * X[:, 2]
    optimizers = [SILBO([(0, 1)] * 3, random_state=0), RandomSearch([(0, 1)] * 3, random_state=1)]
    for optimizer, order in zip(optimizers, (slice(None), slice(None, None, -1)), strict=True):
        optimizer.tell(X[order], y[order])
    optimizers[0].ask()
    ours, theirs = (optimizer.input_model_.shares for optimizer in optimizers)
    assert_array_equal(ours.intervals, theirs.intervals)
    assert_array_equal(optimizers[0].subspace_.shares.intervals, ours.intervals)


@pytest.mark.usefixtures("few_draws")
def test_known_noise_is_used():
    X = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    noise = np.where(np.arange(40) < 8, 3.0, 1e-6)
    y = X[:, 0] + noise * np.random.default_rng(1).standard_normal(40)
    informed = InputModel.fit(cube(2), X, y, noise).shares
    assert informed.is_informative
    assert informed.share[0] > 0.9


# --- attributes and text ---


@pytest.mark.usefixtures("few_draws")
def test_record_and_frame():
    pytest.importorskip("pandas")
    space = Space({"C": loguniform(1e-3, 1e3), "p": [1, 2, 3], "kind": ["a", "b", "c"]})
    shares = fit(space, lambda X: X[:, 0] + 0.3 * X[:, 1], 30).shares
    frame = shares.to_frame()
    assert list(frame.columns) == ["share", "low", "high"]
    assert list(frame.index) == shares.ranked
    assert shares.ranked[0] in repr(shares)
    _, low, high = 100 * shares.together[shares.n_important - 1]
    assert f" % ({low:.0f} to {high:.0f}) of the variance of " in shares.verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "verdict"),
    [
        (2, r"^All 2 inputs matter: the most important explains \d+ % \(\d+ to \d+\) of the var"),
        (3, r"^All 3 inputs matter: the 2 most important explain \d+ % \(\d+ to \d+\) of the var"),
    ],
)
def test_verdict_leaves_out_last_input(d, verdict):
    shares = fit(cube(d), lambda X: X.sum(axis=1), 20).shares
    assert shares.n_important == d
    assert re.search(verdict, shares.verdict)
    [share] = re.findall(r"(\d+) %", shares.verdict)
    assert abs(int(share) / 100 - (d - 1) / d) < 0.1  # inputs alike, none interacts


def test_verdict_names_single_input():
    intervals, together = (
        np.array([[0.0, 0.0, 0.1], [0.95, 0.9, 1.0]]),
        np.array([[0.95, 0.9, 1.0]]),
    )
    shares = InputShares(("a", "b"), 12, 0.5, True, "the values", intervals, together)
    assert shares.verdict.startswith("1 of 2 inputs, b, explains 95 % (90 to 100) of the variance")


UNKNOWN = "more values are needed to tell whether"


def test_overlapping_intervals_leave_verdict_open():
    shares = InputShares(
        ("a", "b", "c"),
        12,
        0.5,
        True,
        "the values",
        np.array([[0.6, 0.3, 0.9], [0.35, 0.1, 0.7], [0.05, 0.0, 0.4]]),
        np.array([[0.6, 0.3, 0.9], [0.95, 0.4, 1.0], [1.0, 1.0, 1.0]]),
    )
    assert shares.verdict == f"a and b matter; {UNKNOWN} the other one does."
    assert not shares.is_settled


def wide_shares(d, low):
    """Return shares of d inputs of which no ten explain 90 %, with these lower bounds."""
    each = np.tile([0.09, 0.0, 0.3], (d, 1))
    each[: len(low), 1] = low
    together = np.column_stack([np.linspace(0.1, 0.86, 10), np.zeros(10), np.full(10, 0.88)])
    names = tuple(f"x{j}" for j in range(d))
    return InputShares(names, 48, 0.6, True, "the values", each, together)


@pytest.mark.parametrize(
    ("d", "low", "verdict"),
    [
        (60, [], "More values are needed to tell which of 60 inputs matter."),
        (60, [0.004], "More values are needed to tell which of 60 inputs matter."),
        (60, [0.02], f"x0 matters; {UNKNOWN} any of the other 59 do."),
        (60, [0.02, 0.03], f"x1 and x0 matter; {UNKNOWN} any of the other 58 do."),
        (60, [0.02] * 12, f"x0, x1, x2, x3, x4 and 7 more matter; {UNKNOWN} any of the other 48 "),
        (20, [0.02] * 20, "All 20 inputs matter: the 10 most important explain 86 %"),
    ],
)
def test_verdict_reports_only_certain_inputs(d, low, verdict):
    shares = wide_shares(d, low)
    assert shares.n_important is None
    assert shares.verdict.startswith(verdict)
    assert shares.is_settled == (len(low) == d)


@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(3))
def test_few_noisy_values_give_no_verdict(seed):
    rng = np.random.default_rng(seed)
    active = rng.permutation(60)[:6]

    def noisy(X):
        return X[:, active] @ [3, 2, 2, 1, 1, 1] + 2.0 * rng.standard_normal(len(X))

    model = fit(cube(60), noisy, 40, seed)
    shares = model.shares
    assert np.sum(shares.intervals[:, 1] > 0.0) <= 6


@pytest.mark.usefixtures("few_draws")
def test_dependence_averages_over_other_inputs():
    model = fit(cube(3), lambda X: norm.cdf(2 * X[:, 0]) + 0.2 * X[:, 1] * X[:, 2], 90)
    base = model.points(64)
    blocks = []
    for x in (-0.8, 0.0, 0.8):
        X = base.copy()
        X[:, 0] = x
        blocks.append(X)
    mean, low, high = model.dependence(blocks)
    assert_allclose(mean, norm.cdf([-1.6, 0.0, 1.6]), atol=0.05)
    assert (low <= mean).all()
    assert (mean <= high).all()


@pytest.mark.usefixtures("few_draws")
def test_category_with_one_dominant_level_is_reported():
    space = Space({"x": uniform(), "y": uniform(), "material": ["steel", "wood", "glass"]})
    rng = np.random.default_rng(0)
    points = [{"x": a, "y": b, "material": "steel"} for a, b in rng.uniform(size=(40, 2))]
    for point in points[:3]:
        point["material"] = "wood"
    X = space.encode(points)
    shares = InputModel.fit(space, X, X[:, 0] ** 2).shares
    [caution] = shares.cautions
    assert caution == "Only 3 of 40 evaluations in the model used another material than 'steel'."
    assert repr(shares).endswith(shares.cautions[0])
    X = space.encode([*points, *({**p, "material": "glass"} for p in points[:5])])
    assert InputModel.fit(space, X, X[:, 0] ** 2).shares.cautions == ()
