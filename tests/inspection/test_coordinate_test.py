"""Coordinate tests: level, power, closed forms, sample weights."""

import numpy as np
import pandas as pd
import pytest
from drawn import two_directions as make_data
from scipy import linalg, stats

from skbo_silbo.decomposition import SemiSlicedInverseRegression
from skbo_silbo.inspection import coordinate_test


def skewed(seed, n, d, n_slices):
    """Return skewed and normal features, and balanced classes that depend on the first one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1::3] = np.exp(X[:, 1::3])
    ranks = np.argsort(np.argsort(X[:, 0] + rng.normal(size=n)))
    return X, (ranks * n_slices // n).astype(str)


@pytest.mark.parametrize(("n_slices", "k"), [(2, None), (10, 1)])
def test_level_with_few_rows_of_skewed_features(n_slices, k):
    """Without degrees of freedom for the variance, 19 and 33 of these sets are rejected."""
    p_values = [
        coordinate_test(*skewed(seed, 60, 5, n_slices), [4], n_components=k).p_value
        for seed in range(200)
    ]
    assert np.mean(np.array(p_values) < 0.05) <= 0.08


@pytest.mark.statistical
@pytest.mark.parametrize("variance", ["general", "constant"])
def test_level_and_power_given_the_directions(variance):
    """With the true number of directions, the level holds and power exceeds the marginal test."""
    rejected, found = np.zeros(200), np.zeros((200, 2))
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(6, size=(300, 5))
        y = X[:, 0] + 0.15 * X[:, 1] + rng.normal(size=300)
        given = {"variance": variance, "n_components": 1}
        rejected[seed] = coordinate_test(X, y, [3], **given).p_value < 0.05
        found[seed, 0] = coordinate_test(X, y, [1], **given).p_value < 0.05
        found[seed, 1] = coordinate_test(X, y, [1], variance=variance).p_value < 0.05
    assert stats.binomtest(int(rejected.sum()), 200, 0.05).pvalue > 1e-3
    assert found[:, 0].mean() > found[:, 1].mean() + 0.1


@pytest.mark.quick
def test_statistic_matches_definition():
    X, y = make_data()
    test = coordinate_test(X, y, [1, 3], variance="constant")
    centred = X - X.mean(axis=0)
    covariance = centred.T @ centred / len(X)
    root = linalg.sqrtm(covariance).real
    Z = centred @ np.linalg.inv(root)
    order = np.argsort(y)
    M = sum(
        len(rows) / 200 * np.outer(Z[rows].mean(axis=0), Z[rows].mean(axis=0))
        for rows in np.split(order, 10)
    )
    H = np.linalg.qr(np.linalg.inv(root)[:, [1, 3]])[0]
    assert test.statistic == pytest.approx(200 * np.trace(H.T @ M @ H))
    eigenvalues = SemiSlicedInverseRegression().fit(X, y).eigenvalues_
    expected = np.repeat(1 - np.pad(eigenvalues, (0, 9 - len(eigenvalues))), 2)
    np.testing.assert_allclose(np.sort(test.weights), np.sort(expected), atol=1e-8)


@pytest.mark.parametrize("k", [None, 1])
@pytest.mark.parametrize("variance", ["general", "constant"])
def test_table_and_attributes_recompute_p_value(k, variance):
    test = coordinate_test(*make_data(), [1, 3], variance=variance, n_components=k)
    scaled = test.statistic / test.weights.sum()
    if variance == "general":
        assert stats.f.sf(scaled, test.df, test.df_of_weights) == pytest.approx(test.p_value)
    else:
        assert stats.chi2.sf(scaled * test.df, test.df) == pytest.approx(test.p_value)
    assert test.df == pytest.approx(test.weights.sum() ** 2 / test.sum_of_squares)
    heads, row = (line.split() for line in str(test).replace("x1, x3", "").splitlines())
    assert heads == ["Stat", "F", "df", "df.weights", "p.value"]
    expected = [test.statistic, scaled, test.df, test.df_of_weights, test.p_value]
    np.testing.assert_allclose([float(cell) for cell in row], expected, rtol=1e-4)


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
    with pytest.raises(ValueError, match="variance must be one of"):
        coordinate_test(X, y, 1, variance="robust")
    with pytest.raises(ValueError, match="labelled rows"):
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


def test_constant_variance_rejects_relative_weights():
    X, y = make_data()
    weights = np.linspace(0.5, 2, len(y))
    with pytest.raises(ValueError, match=r"with variance='constant'.* Use variance='general'"):
        coordinate_test(X, y, 1, variance="constant", sample_weight=weights)
    coordinate_test(X, y, 1, variance="constant", sample_weight=np.full(len(y), 2.5))
    with pytest.raises(ValueError, match=r"sample_weight.*non-negative"):
        coordinate_test(X, y, 1, sample_weight=-weights)


def in_groups(seed, slope=0.0):
    """Return data from three groups with different means of X and y."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, size=200, p=[0.2, 0.3, 0.5])
    X = rng.normal(size=(200, 5)) + np.array([0.0, 2.0, -3.0])[group][:, None]
    y = X[:, 0] + slope * X[:, 2] + 5 * group * (group - 1) + 0.5 * rng.normal(size=200)
    return X, y, group


@pytest.mark.statistical
@pytest.mark.parametrize("variance", ["general", "constant"])
def test_the_level_within_groups(variance):
    """Ignoring the groups rejects 77 % at 150 rows."""
    p_values = []
    for seed in range(200):
        X, y, group = in_groups(seed)
        given = {"n_slices": 4, "group": group, "variance": variance}
        p_values.append(
            [coordinate_test(X, y, [2, 3], n_components=k, **given).p_value for k in (None, 1)]
        )
    assert (np.mean(np.array(p_values) < 0.05, axis=0) < 0.14).all()
    X, y, group = in_groups(0, slope=0.5)
    assert coordinate_test(X, y, [2], n_slices=4, group=group, variance=variance).p_value < 1e-3


def test_single_group_equals_no_group():
    X, y, _ = in_groups(0)
    one = coordinate_test(X, y, [1, 2], group=np.ones(200))
    np.testing.assert_allclose(one.p_value, coordinate_test(X, y, [1, 2]).p_value, rtol=1e-9)
