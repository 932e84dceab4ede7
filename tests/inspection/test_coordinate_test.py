"""Coordinate tests: level, power, closed forms, sample weights."""

import numpy as np
import pandas as pd
import pytest
from drawn import two_directions as make_data
from levels import sets
from scipy import linalg, stats

from skbo_silbo.inspection import coordinate_test


def noise(rng):
    """Return as few rows as three per feature, and a response that they do not explain."""
    return rng.normal(size=(60, 20)), rng.normal(size=60)


def autoregressive(rng):
    root = np.linalg.cholesky(0.9 ** np.abs(np.subtract.outer(range(6), range(6))))
    X = rng.normal(size=(60, 6)) @ root.T
    return X, X[:, 0] + rng.normal(size=60)


def rare_binary(rng):
    X = (rng.random((150, 6)) < 0.15).astype(float)
    return X, X[:, 0] + 2 * rng.normal(size=150)


def uneven(rng):
    """Return a last feature whose spread depends on the first."""
    X = rng.normal(size=(150, 6))
    X[:, 5] *= np.exp(0.7 * X[:, 0])
    return X, X[:, 0] + 0.5 * rng.normal(size=150)


def skewed_classes(rng):
    X = rng.normal(size=(60, 5))
    X[:, 1::3] = np.exp(X[:, 1::3])
    ranks = np.argsort(np.argsort(X[:, 0] + rng.normal(size=60)))
    return X, (ranks * 4 // 60).astype(str)


@pytest.mark.statistical
@sets(60, 400)
@pytest.mark.parametrize(
    ("draw", "k"),
    [
        *((draw, None) for draw in (noise, autoregressive, rare_binary, uneven, skewed_classes)),
        (noise, 1),
        *(
            pytest.param(draw, 1, marks=pytest.mark.statistical)
            for draw in (autoregressive, rare_binary, uneven, skewed_classes)
        ),
    ],
)
def test_level_holds_off_the_normal_and_with_few_rows(draw, k, n_sets):
    """With R's p-values, up to 29 % of these sets are rejected."""
    p_values = []
    for seed in range(n_sets):
        X, y = draw(np.random.default_rng(seed))
        p_values.append(coordinate_test(X, y, [X.shape[1] - 1], n_components=k).p_value)
    rejected = int(np.sum(np.array(p_values) <= 0.05))
    assert stats.binomtest(rejected, n_sets, 0.05, "greater").pvalue > 1e-3


@pytest.mark.statistical
def test_conditional_test_is_more_powerful():
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(6, size=(300, 5))
        y = X[:, 0] + 0.15 * X[:, 1] + rng.normal(size=300)
        found.append([coordinate_test(X, y, [1], n_components=k).p_value < 0.05 for k in (1, None)])
    given, marginal = np.mean(found, axis=0)
    assert given > marginal + 0.1


@pytest.mark.quick
@pytest.mark.parametrize("k", [None, 2])
def test_statistic_matches_definition(k):
    X, y = make_data()
    test = coordinate_test(X, y, [1, 3], n_components=k)
    centred = X - X.mean(axis=0)
    root = linalg.sqrtm(centred.T @ centred / len(X)).real
    Z = centred @ np.linalg.inv(root)
    means = np.array([Z[rows].mean(axis=0) for rows in np.split(np.argsort(y), 10)])
    M = means.T @ means / 10
    H = np.linalg.qr(np.linalg.inv(root)[:, [1, 3]])[0]
    G = linalg.null_space(H.T)
    leading = [np.sort(np.linalg.eigvalsh(A))[::-1][:k].sum() for A in (M, G.T @ M @ G)]
    assert test.statistic == pytest.approx(200 * np.subtract(*leading))


@pytest.mark.parametrize("k", [None, 1])
def test_row_that_a_feature_marks_does_not_count(k):
    """A feature that is 1 in a single row fits this row exactly."""
    X, y = make_data()
    marked = np.column_stack([X, np.arange(200) == 7])
    rest = np.arange(200) != 7
    y = np.digitize(y, np.quantile(y, np.arange(1, 10) / 10))
    with_row = coordinate_test(marked, y, [1], n_components=k).p_value
    without = coordinate_test(X[rest], y[rest], [1], n_components=k).p_value
    assert with_row == pytest.approx(without, abs=0.05)
    with pytest.raises(ValueError, match=r"identified by a single labelled row .* got x1, x5"):
        coordinate_test(marked, y, [1, 5], n_components=k)


def test_conditional_p_value_is_reproducible():
    X, y = make_data()
    one, again, other = (
        coordinate_test(X, y, [1], n_components=1, random_state=seed).p_value for seed in (0, 0, 1)
    )
    assert one == again
    assert one == pytest.approx(other, abs=0.07)  # four standard errors of 999 draws


def test_names_categories_and_unlabelled_rows():
    X, y = make_data()
    frame = pd.DataFrame(X, columns=list("abcde"))
    classes = np.where(y > np.median(y), "high", "low").astype(object)
    by_name = coordinate_test(frame, classes, ["b", "d"])
    expected = coordinate_test(X, classes, [1, 3]).p_value
    assert by_name.p_value == pytest.approx(expected)
    y[:50] = np.nan
    expected = coordinate_test(X[50:], y[50:], 1).p_value
    assert coordinate_test(X, y, 1).p_value == pytest.approx(expected)


BAD = [
    *([], [5], [-1], range(5), "a", ["a"], [0.7], 1.0, True, [True, False], [True] * 5, [0, True]),
    *([[0, 1]], [None], None, np.zeros(5, dtype=bool), np.array([0.0, 1.0]), [0, "a"]),
]


@pytest.mark.parametrize("features", BAD)
def test_invalid_features_raise(features):
    with pytest.raises(ValueError, match=r"features.*5"):
        coordinate_test(*make_data(), features)


def test_invalid_arguments_raise():
    X, y = make_data()
    for k, rule in ((0, "None or an integer >= 1"), (5, "at most 4")):
        with pytest.raises(ValueError, match=f"n_components must be {rule}"):
            coordinate_test(X, y, [1], n_slices=5, n_components=k)
    with pytest.raises(ValueError, match=r"labelled rows.*SparseSlicedInverseRegression"):
        coordinate_test(X[:6], y[:6], 1)
    with pytest.raises(ValueError, match=r"\bx5\b.*combination"):
        coordinate_test(np.column_stack([X, X[:, 0]]), y, 1)


def test_weight_scale_is_irrelevant():
    X, y = make_data(2)
    weights = np.random.default_rng(0).lognormal(size=len(y))
    one = coordinate_test(X, y, 3, sample_weight=weights)
    other = coordinate_test(X, y, 3, sample_weight=1e-9 * weights)
    assert one.p_value == pytest.approx(other.p_value)
    plain = coordinate_test(X, y, 3)
    same = coordinate_test(X, y, 3, sample_weight=np.full(len(y), 0.7))
    assert same.p_value == pytest.approx(plain.p_value)
    assert one.p_value != pytest.approx(plain.p_value, rel=1e-3)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "weigh",
    [
        lambda X, y, rng: rng.lognormal(size=len(y)),
        lambda X, y, rng: np.exp(0.7 * X[:, 2]),  # the feature under test
        lambda X, y, rng: np.exp(0.7 * np.abs(y)),
    ],
    ids=["neither", "X", "y"],
)
def test_level_whatever_relative_weights_depend_on(weigh):
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 5))  # few enough for leverage to matter
        y = X[:, 0] + 0.5 * rng.normal(size=150)
        weights = weigh(X, y, rng)
        test = coordinate_test(X, y, [2, 4], n_slices=4, sample_weight=weights)
        rejected += test.p_value < 0.05
    assert stats.binomtest(rejected, 200, 0.05).pvalue > 1e-3


def in_groups(seed, slope=0.0):
    """Return data from three groups with different means of X and y."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, size=200, p=[0.2, 0.3, 0.5])
    X = rng.normal(size=(200, 5)) + np.array([0.0, 2.0, -3.0])[group][:, None]
    y = X[:, 0] + slope * X[:, 2] + 5 * group * (group - 1) + 0.5 * rng.normal(size=200)
    return X, y, group


@pytest.mark.statistical
def test_the_level_within_groups():
    """Ignoring the groups rejects 77 % at 150 rows."""
    p_values = []
    for seed in range(200):
        X, y, group = in_groups(seed)
        given = {"n_slices": 4, "group": group}
        p_values.append(
            [coordinate_test(X, y, [2, 3], n_components=k, **given).p_value for k in (None, 1)]
        )
    assert (np.mean(np.array(p_values) < 0.05, axis=0) < 0.14).all()
    X, y, group = in_groups(0, slope=0.5)
    assert coordinate_test(X, y, [2], n_slices=4, group=group).p_value < 1e-3


def test_single_group_equals_no_group():
    X, y, _ = in_groups(0)
    one = coordinate_test(X, y, [1, 2], group=np.ones(200))
    np.testing.assert_allclose(one.p_value, coordinate_test(X, y, [1, 2]).p_value, rtol=1e-9)
