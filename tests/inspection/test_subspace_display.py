"""SubspaceDisplay: the panels show the fitted directions."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from skbo_silbo import SDRRegressor
from skbo_silbo.decomposition import (
    ActiveSubspace,
    KernelSlicedInverseRegression,
    SemiSlicedInverseRegression,
)
from skbo_silbo.inspection import SubspaceDisplay, bootstrap_directions

pytest.importorskip("matplotlib").use("Agg")
collections = pytest.importorskip("matplotlib.collections")


@pytest.fixture
def plt():
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6)) * [1, 10, 0.1, 1, 1, 1]
    return X, X[:, 0] + np.exp(X[:, 1] / 10) + 0.1 * rng.normal(size=120)


@pytest.fixture(scope="module")
def sir(problem):
    return SemiSlicedInverseRegression(2).fit(*problem)


def offsets(axes, k=0):
    return np.asarray(axes.collections[k].get_offsets())


def assert_draws(axes, x, y):
    """Check that rows within the limits are drawn as they are, and outliers at the edge."""
    points = np.column_stack([x, y])
    at_edge = np.clip(points, *np.transpose([axes.get_xlim(), axes.get_ylim()]))
    within = (points == at_edge).all(axis=1)
    assert within.mean() >= 0.8  # at most 5 % are outliers on either side
    np.testing.assert_allclose(offsets(axes), points[within])
    triangles = [c for c in axes.collections[1:] if isinstance(c, collections.PathCollection)]
    beyond = np.vstack([np.empty((0, 2)), *(c.get_offsets() for c in triangles)])
    expected = at_edge[~within]
    np.testing.assert_allclose(beyond[np.lexsort(beyond.T)], expected[np.lexsort(expected.T)])
    said = axes.get_title(loc="right")
    assert said == ("" if within.all() else f"▲ {len(expected)} beyond")


@pytest.mark.parametrize("kind", ["numbers", "categories", "unlabelled"])
def test_outliers_are_marked_at_plane_edge(plt, kind):
    Z = np.vstack([np.random.default_rng(0).uniform(-1, 1, (60, 2)), [[40, 0], [0, -40], [40, 40]]])
    y = np.repeat(["a", "b", "c"], 21) if kind == "categories" else np.arange(63.0)
    far = np.array([[70.0, 0.5]]) if kind == "unlabelled" else None
    display = SubspaceDisplay(
        scores=Z,
        response=y,
        unlabeled_scores=far,
        loadings=np.eye(2),
        eigenvalues=np.ones(2),
        feature_names=["x0", "x1"],
    ).plot(kind="summary")
    first, _, plane = display.axes_
    clouds = [c for c in plane.collections if isinstance(c, collections.PathCollection)]
    drawn = np.vstack([cloud.get_offsets() for cloud in clouds])
    ends = np.transpose([plane.get_xlim(), plane.get_ylim()])
    everything = Z if far is None else np.vstack([Z, far])
    expected = np.clip(everything, *ends)
    np.testing.assert_allclose(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    legend = plane.get_legend()
    texts = [plane.get_title(loc="right"), *(text.get_text() for text in plane.texts)]
    texts = texts if legend is None else [legend.get_title().get_text()]
    said = dict(re.findall(r"([▲▼►]) (\d)", " ".join(texts)))
    assert said == {"▲": "1", "▼": "1", "►": "1" if far is None else "2"}
    if kind == "unlabelled":
        assert "(ticks: unlabelled, 1 beyond)" in first.get_xlabel()
    labels = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    assert labels == {"numbers": [], "categories": [*"abc"], "unlabelled": ["unlabelled"]}[kind]


def test_summary_draws_the_scores(plt, problem, sir):
    X, y = problem
    display = SubspaceDisplay.from_estimator(sir, X, y, kind="summary")
    Z = sir.transform(X)
    first, second, plane = display.axes_
    assert_draws(first, Z[:, 0], y)
    assert_draws(second, Z[:, 1], y)
    np.testing.assert_allclose(offsets(plane), Z)
    np.testing.assert_allclose(plane.collections[0].get_array(), y)
    assert (first.get_xlabel(), first.get_ylabel()) == ("direction 1", "y")
    assert (plane.get_xlabel(), plane.get_ylabel()) == ("direction 1", "direction 2")
    assert display.figure_ is first.figure


def test_unlabelled_rows_are_drawn_separately(plt, problem, sir):
    X, y = problem
    with_nan = np.where(np.arange(120) < 90, y, np.nan)
    marked = SubspaceDisplay.from_estimator(sir, X, with_nan, kind="summary")
    apart = SubspaceDisplay.from_estimator(sir, X[:90], y[:90], X_unlabeled=X[90:], kind="summary")
    Z, U = sir.transform(X[:90]), sir.transform(X[90:])
    for display in (marked, apart):
        first, _, plane = display.axes_
        assert_draws(first, Z[:, 0], y[:90])
        (ticks,) = (
            drawn.get_segments()
            for drawn in first.collections
            if isinstance(drawn, collections.LineCollection)
        )
        np.testing.assert_allclose([tick[0, 0] for tick in ticks], U[:, 0])
        assert "unlabelled" in first.get_xlabel()
        at_edge = np.clip(U, *np.transpose([plane.get_xlim(), plane.get_ylim()]))
        *faint, labelled = plane.collections
        drawn = np.vstack([cloud.get_offsets() for cloud in faint])
        np.testing.assert_allclose(drawn[np.lexsort(drawn.T)], at_edge[np.lexsort(at_edge.T)])
        np.testing.assert_allclose(labelled.get_offsets(), Z)
        assert faint[0].get_zorder() < labelled.get_zorder()
        assert faint[0].get_alpha() < labelled.get_alpha()
        assert [text.get_text() for text in plane.get_legend().get_texts()] == ["unlabelled"]


def test_spectrum_marks_the_chosen(plt, problem, sir):
    (axes,) = SubspaceDisplay.from_estimator(sir, *problem, kind="spectrum").axes_
    line, left_out, chosen = axes.lines[:3]
    np.testing.assert_allclose(line.get_ydata(), sir.eigenvalues_)
    np.testing.assert_allclose(chosen.get_xdata(), [1, 2])
    np.testing.assert_allclose(chosen.get_ydata(), sir.eigenvalues_[:2])
    np.testing.assert_allclose(left_out.get_ydata(), sir.eigenvalues_[2:])
    assert axes.get_title() == "n_components = 2"
    assert axes.get_yscale() == "linear"


def test_long_spectra_are_truncated_with_note(plt):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    active = ActiveSubspace(1).fit(X, X[:, 0] ** 2)
    (axes,) = SubspaceDisplay.from_estimator(active, X, X[:, 0], kind="spectrum").axes_
    assert axes.get_xlabel() == "direction (first 20 of 30)"
    assert len(axes.lines[0].get_xdata()) == 20


def test_loadings_are_per_standard_deviation_and_ranked(plt, problem, sir):
    X, y = problem
    display = SubspaceDisplay.from_estimator(sir, X, y, kind="loadings")
    expected = sir.components_ * X.std(axis=0)
    top = np.argsort(-np.linalg.norm(expected, axis=0))
    for k, axes in enumerate(display.axes_):
        np.testing.assert_allclose([bar.get_width() for bar in axes.patches], expected[k, top])
        assert axes.get_title() == f"direction {k + 1}"
    names = [text.get_text() for text in display.axes_[0].get_yticklabels()]
    assert names == [f"x{j}" for j in top]
    assert set(names[:2]) == {"x0", "x1"}
    scaled = SemiSlicedInverseRegression(2).fit(X * 7.0, y)
    other = SubspaceDisplay.from_estimator(scaled, X * 7.0, y, kind="loadings")
    np.testing.assert_allclose(np.abs(other.loadings), np.abs(expected), rtol=1e-6, atol=1e-9)


def test_bootstrap_intervals_over_the_loadings(plt, problem, sir):
    X, y = problem
    result = bootstrap_directions(
        SemiSlicedInverseRegression(2), X, y, n_resamples=10, random_state=0
    )
    display = SubspaceDisplay.from_estimator(sir, X, y, kind="loadings", bootstrap=result)
    segments = np.array(display.axes_[1].collections[0].get_segments())
    top = [int(text.get_text()[1:]) for text in display.axes_[0].get_yticklabels()]
    np.testing.assert_allclose(segments[:, 0, 0], (result.low * X.std(axis=0))[1, top])
    np.testing.assert_allclose(segments[:, 1, 0], (result.high * X.std(axis=0))[1, top])
    one = SemiSlicedInverseRegression(1).fit(X, y)
    with pytest.raises(ValueError, match=r"bootstrap.*directions"):
        SubspaceDisplay.from_estimator(one, X, y, bootstrap=result)
    with pytest.raises(ValueError, match=r"bootstrap.*got True"):
        SubspaceDisplay.from_estimator(one, X, y, bootstrap=True)


def test_frame_has_loadings_and_intervals(plt, problem, sir):
    pytest.importorskip("pandas")
    resampled = bootstrap_directions(sir, *problem, n_resamples=5, random_state=0)
    display = SubspaceDisplay.from_estimator(sir, *problem, bootstrap=resampled)
    frame = display.to_frame()
    assert frame.index.names == ["direction", "feature"]
    np.testing.assert_array_equal(frame.loc[1, "loading"], display.loadings[1])
    assert (frame.low <= frame.loading).all()
    plain = SubspaceDisplay.from_estimator(sir, *problem).to_frame()
    assert list(plain.columns) == ["loading"]


def test_estimator_without_directions_raises(problem):
    X, y = problem
    regressor = SDRRegressor(SemiSlicedInverseRegression(1))
    for other in (PCA(2).fit(X), regressor.fit(X, y), KernelSlicedInverseRegression(1).fit(X, y)):
        with pytest.raises(ValueError, match=r"estimator.*components_.*plot"):
            SubspaceDisplay.from_estimator(other, X, y)


def test_categories_and_names_of_a_frame(plt):
    pytest.importorskip("pandas")
    iris = load_iris(as_frame=True)
    species = iris.target.map(dict(enumerate(iris.target_names))).rename("species")
    sir = SemiSlicedInverseRegression(2).fit(iris.data, species)
    display = SubspaceDisplay.from_estimator(sir, iris.data, species)
    first, plane, loadings = display.axes_[0], display.axes_[2], display.axes_[4]
    assert [text.get_text() for text in first.get_yticklabels()] == list(iris.target_names)
    assert first.get_ylabel() == "species"
    Z = sir.transform(iris.data)
    for code in range(3):
        np.testing.assert_allclose(offsets(plane, code), Z[iris.target == code])
        strip = offsets(first, code)
        np.testing.assert_allclose(strip[:, 0], Z[iris.target == code, 0])
        assert np.abs(strip[:, 1] - code).max() <= 0.3
    colours = {tuple(np.ravel(points.get_facecolor())) for points in plane.collections}
    assert len(colours) == 3
    names = {text.get_text() for text in loadings.get_yticklabels()}
    assert names == set(iris.data.columns)
    display.figure_.canvas.draw()


def test_given_axes(plt, problem, sir):
    X, y = problem
    figure, (left, right) = plt.subplots(1, 2)
    display = SubspaceDisplay.from_estimator(sir, X, y, kind="loadings", ax=[left, right])
    assert display.figure_ is figure
    assert list(display.axes_) == [left, right]
    for axes in (left, right):  # separate axes each need the feature names
        assert axes.get_yticklabels()[0].get_text().startswith("x")
    with pytest.raises(ValueError, match=r"\bax\b.*hold.*got 1"):
        display.plot(kind="summary", ax=left)


def test_invalid_arguments_raise(plt, problem, sir):
    with pytest.raises(ValueError, match=r"kind.*'all'"):
        SubspaceDisplay.from_estimator(sir, *problem, kind="scree")
    with pytest.raises(NotFittedError):
        SubspaceDisplay.from_estimator(SemiSlicedInverseRegression(), *problem)


def test_frame_column_names_are_shown():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=["age", "bmi", "sex"])
    sir = SemiSlicedInverseRegression(1).fit(X.to_numpy(), X["age"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X has feature names")
        display = SubspaceDisplay.from_estimator(sir, X, X["age"])
    assert display.feature_names == ["age", "bmi", "sex"]
