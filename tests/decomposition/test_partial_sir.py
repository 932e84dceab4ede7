"""Directions given a category: partial SIR and SAVE."""

import numpy as np
import pytest
from drawn import unit
from levels import assert_level, sets
from sklearn.datasets import load_diabetes

from skbo_silbo import SlicedAverageVarianceEstimation, SlicedInverseRegression

NONE_FOUND = pytest.mark.filterwarnings("ignore:No direction was found")


def drawn(seed, n=200, slope=0.0):
    """Rows whose means differ between three groups, and a response that the group shifts."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], size=n, p=[0.2, 0.3, 0.5])
    shift = np.array([0.0, 2.0, -3.0])[np.searchsorted(["a", "b", "c"], group)]
    X = rng.normal(size=(n, 4))
    y = shift + slope * X[:, 3] + rng.normal(size=n)
    X[:, 0] += shift
    return X, y, group


def of_r(X, y, balanced):
    """Columns and groups of the diabetes data as R was given them, 200 rows of each sex first."""
    group = (X["sex"] > 0).astype(int)
    rows = np.sort(np.r_[np.flatnonzero(group == 0)[:200], np.flatnonzero(group == 1)[:200]])
    rows = rows if balanced else np.arange(len(y))
    return X[["age", "bmi", "bp", "s3", "s5", "s6"]].iloc[rows], y.iloc[rows], group.iloc[rows]


def test_partial_sir_matches_dr_in_equal_groups():
    """dr(y~age+bmi+bp+s3+s5+s6, group=~sex, data=d, method="sir", nslices=5, pool=TRUE).

    Its kernel leaves out that each group is half of the rows: eigenvalues are twice ours, and its
    chi-squares too, which reject .89 of 300 sets of noise (200 x 4) at level .05.
    """
    X, y, group = of_r(*load_diabetes(return_X_y=True, as_frame=True), balanced=True)
    sir = SlicedInverseRegression(2, n_slices=5, ridge=0).fit(X, y, group=group)
    np.testing.assert_allclose(2 * sir.eigenvalues_[:3], [1.0388901, 0.1396517, 0.0833832], 1e-6)
    first = [0.0880656538, 0.5901475815, 0.3394268210, 0.3951328037, 0.5962108919, 0.1310051361]
    second = [0.461171548768, 0.418477854, 0.43523993, 0.571854145, 0.270907546, 0.149516649]
    np.testing.assert_allclose(unit(sir.components_), [first, second], rtol=1e-7)
    np.testing.assert_allclose(2 * sir.dimension_tests_["statistic"][0], 531.3038628767)
    assert sir.dimension_tests_["df"][:3].tolist() == [48, 35, 24]


@pytest.mark.filterwarnings("ignore:The condition of constant variance")
def test_partial_variances_are_those_of_dr():
    """dr(y~age+bmi+bp+s3+s5+s6, group=~sex, data=d, method="save", nslices=4, pool=TRUE)."""
    X, y, group = of_r(*load_diabetes(return_X_y=True, as_frame=True), balanced=False)
    save = SlicedAverageVarianceEstimation(n_slices=4).fit(X, y, group=group)
    expected = [0.3167336075747, 0.1887659523908, 0.1439601863835, 0.1218965011100]
    np.testing.assert_allclose(save.eigenvalues_[:4], expected, rtol=1e-9)
    first = [0.0777860345, 0.5762980964, 0.4248896581, 0.3384370614, 0.6043142916, 0.0395374230]
    np.testing.assert_allclose(unit(save.components_)[0], first, rtol=1e-7)
    statistics = save.dimension_tests_["statistic"][:2]
    np.testing.assert_allclose(statistics, [205.3591204950, 120.0801130355], rtol=1e-9)


@NONE_FOUND
@pytest.mark.parametrize("words", ["auto", "permutation"])
@sets(20, 200)
def test_noise_within_groups_is_noise(words, n_sets):
    rejected = 0
    for seed in range(n_sets):
        X, y, group = drawn(seed)
        given = {"n_slices": 5, "ridge": 0}
        rejected += SlicedInverseRegression(words, **given).fit(X, y, group=group).n_components_ > 0
        assert seed >= 5 or SlicedInverseRegression(words, **given).fit(X, y).n_components_ > 0
    assert_level(rejected, n_sets)


@NONE_FOUND
@sets(20, 60)
def test_noise_of_variances_within_groups_is_noise(n_sets):
    rejected, normal = 0, 0
    for seed in range(n_sets):
        save = SlicedAverageVarianceEstimation(n_slices=3).fit(
            *drawn(seed)[:2], group=drawn(seed)[2]
        )
        rejected += save.n_components_ > 0
        normal += save.dimension_tests_["p_value_normal"][0] <= 0.05
    assert_level(rejected, n_sets)
    assert_level(normal, n_sets)


def test_a_direction_that_a_group_hides_is_found():
    found = []
    for seed in range(8):
        X, y, group = drawn(seed, slope=1.0)
        sir = SlicedInverseRegression(1).fit(X, y, group=group)
        found.append(int(np.argmax(np.abs(sir.components_[0]))))
        np.testing.assert_allclose(sir.mean_, X.mean(axis=0))
    assert found.count(3) == 8
    misled = [SlicedInverseRegression(1).fit(*drawn(seed, slope=1.0)[:2]) for seed in range(8)]
    assert np.mean([unit(sir.components_)[0, 0] for sir in misled]) > 0.5


@pytest.mark.filterwarnings("ignore:50 unlabelled samples were ignored")
def test_unlabelled_rows_are_left_out_of_groups():
    X, y, group = drawn(0, slope=1.0)
    y[::4] = np.nan
    part = np.isfinite(y)
    one = SlicedInverseRegression(2).fit(X, y, group=group)
    other = SlicedInverseRegression(2).fit(X[part], y[part], group=group[part])
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-10)


@pytest.mark.parametrize(
    ("method", "changed", "words"),
    [
        (SlicedInverseRegression(reweight="elliptical"), {}, r"group.*None"),
        (SlicedInverseRegression(solver="paper"), {}, r"solver.*'auto'"),
        (SlicedInverseRegression(), {"group": ["a"]}, r"group.*200"),
        (SlicedInverseRegression(), {"group": [None] + ["a"] * 199}, "row 0 is missing"),
        (SlicedInverseRegression(), {"group": np.r_[np.zeros(199), np.nan]}, "row 199 is missing"),
        (SlicedInverseRegression(), {"group": np.arange(200)}, "constant within every category"),
        (
            SlicedAverageVarianceEstimation(),
            {"sample_weight": np.linspace(1, 2, 200)},
            r"sample_weight must be None.* with group.*np.repeat",
        ),
        (SlicedInverseRegression(16, n_slices=2), {}, r"n_components.*at most 4"),
        (SlicedInverseRegression(4, n_slices=2), {}, r"n_components.*at most 3"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(method, changed, words):
    X, y, group = drawn(0)
    with pytest.raises(ValueError, match=words):
        method.fit(X, y, **{"group": group} | changed)
