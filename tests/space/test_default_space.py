"""`default_space`: what it finds, what it leaves, and that every point of it can be fitted."""

import copy
import tomllib
import warnings
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    StackingRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, SelectPercentile
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, LinearSVR, NuSVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import skbo_silbo
from skbo_silbo import (
    EarlyStopped,
    SlicedInverseRegression,
    Space,
    default_space,
)
from skbo_silbo.space.filled_space import fill_space

ROWS, SEEN = 40, 20  # a fold of a search sees half of the rows at least
WORDS = ["few", "labels", "many", "inputs", "learn", "search", "plane", "curve", "tree", "score"]
rng = np.random.default_rng(0)
X = np.c_[rng.normal(size=(ROWS, 3)), rng.integers(0, 4, ROWS)]
Y = {
    "classes": np.arange(ROWS) % 2,
    "numbers": np.abs(X[:, 0]) + X[:, 3] + 0.1,
    "several": np.c_[X[:, 0], X[:, 1]],
}
INPUTS = {
    "few columns": X,
    "one column": X[:, :1],
    "wide": np.c_[X, rng.normal(size=(ROWS, 50))],
    "sparse": sparse.csr_matrix(np.abs(X)),
    "counts": rng.integers(0, 4, (ROWS, 5)),
    "texts": [" ".join(rng.choice(WORDS, 8)) for _ in range(ROWS)],
}
INNER = ("SelectFromModel", "RFE")
CHEAP = {"random_state": 0, "n_estimators": 5}


def known_names():
    """Return the classes of scikit-learn, and ours, that the table has."""
    table = tomllib.loads((files("skbo_silbo.space") / "defaults.toml").read_text())
    names = {name for section in table for name in section.split()}
    ours = [name.removeprefix("skbo_silbo.") for name in names if name.startswith("skbo_silbo.")]
    return sorted(ours + [name for name in names if "." not in name and name[0].isupper()])


@cache
def known_classes():
    ours = {name: getattr(skbo_silbo, name) for name in skbo_silbo.__all__}
    return dict(all_estimators()) | ours


def known_estimator(name):
    cls = known_classes()[name]
    estimator = cls(LogisticRegression()) if name in INNER else cls()
    own = estimator.get_params()
    return estimator.set_params(**{k: v for k, v in CHEAP.items() if k in own})


def fits(estimator, X, y):
    """Return the error with which an estimator fails to fit, None if there is none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fitted = clone(estimator).fit(X[:SEEN], y[:SEEN])
            after = fitted.predict if hasattr(fitted, "predict") else fitted.transform
            after(X[SEEN:])
        except Exception as error:
            return error


def points_of(space, n):
    """Return n corners and n random points of every branch."""
    rng = np.random.default_rng(0)
    for branch in space if isinstance(space, list) else [space]:
        cube = Space(branch)
        corners = rng.choice([-1.0, 1.0], (n, cube.n_features_))
        yield from cube.decode(np.r_[corners, rng.uniform(-1, 1, corners.shape)])


def check_points(estimator, X, y, n):
    if fits(estimator, X, y) is not None:
        return 0
    try:
        space, tried = default_space(estimator, X, y), 0
    except ValueError as error:
        if "No default search space" not in str(error):
            raise
        return 0  # with one column, for example, there is nothing to select
    for params in points_of(space, n):
        error = fits(clone(estimator).set_params(**params), X, y)
        assert error is None, (params, error)
        tried += 1
    return tried


NAMES = known_names()
HEAVY = {"MAVE", "GaussianProcessClassifier", *(name for name in NAMES if "Boost" in name)}


@pytest.mark.parametrize("name", sorted(set(NAMES) - HEAVY))
def test_every_point_can_be_fitted(name):
    estimator = known_estimator(name)
    for kind in (
        ("counts",) if name == "TfidfTransformer" else ("few columns", "counts", "wide", "texts")
    ):
        for y in Y.values():
            if check_points(estimator, INPUTS[kind], y, 1):
                return
    raise AssertionError("none of the data can be fitted")


@pytest.mark.slow
@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("name", NAMES)
def test_default_space_points_can_be_fitted(name, kind):
    if name == "TfidfTransformer" and kind not in ("sparse", "counts"):
        pytest.skip("it takes logarithms of counts: of others scikit-learn makes NaN")
    for y in Y.values():
        check_points(known_estimator(name), INPUTS[kind], y, 50)


PIPELINES = {
    "scaled": make_pipeline(StandardScaler(), PCA(), SVC()),
    "selected": make_pipeline(StandardScaler(), SelectKBest(), KNeighborsClassifier()),
    "union": make_pipeline(
        FeatureUnion([("pca", PCA()), ("best", SelectKBest(k=1))]), LogisticRegression()
    ),
    "around": OneVsRestClassifier(BaggingClassifier(KNeighborsClassifier())),
    "calibrated": CalibratedClassifierCV(DecisionTreeClassifier()),
    "left out": Pipeline([("a", None), ("b", "passthrough"), ("c", DecisionTreeClassifier())]),
    "stopped": EarlyStopped(HistGradientBoostingClassifier(early_stopping=True), random_state=0),
    "target": TransformedTargetRegressor(Lasso()),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_every_point_of_a_pipeline_can_be_fitted(name):
    model = PIPELINES[name]
    y = Y["classes"] if is_classifier(model) or name != "target" else Y["numbers"]
    assert check_points(model, X, y, 2)


def test_what_is_inside_is_found_by_its_name():
    model = make_pipeline(
        ColumnTransformer(
            [("words", TfidfVectorizer(), "text"), ("kind", OneHotEncoder(), ["kind"])]
        ),
        TruncatedSVD(),
        OneVsRestClassifier(LogisticRegression()),
    )
    assert set(default_space(model)) >= {
        "columntransformer__words__ngram_range",
        "columntransformer__kind__min_frequency",
        "truncatedsvd__n_components",
        "onevsrestclassifier__estimator__C",
    }


def test_conditional_default_space_suits_random_search():
    model = make_pipeline(StandardScaler(), SVC())
    space = default_space(model, X, Y["classes"])
    assert [branch["svc__kernel"] for branch in space] == [["rbf"], ["poly"]]
    assert ["svc__degree" in branch for branch in space] == [False, True]
    search = RandomizedSearchCV(model, space, n_iter=3, random_state=0).fit(X, Y["classes"])
    assert len(clone(search).param_distributions) == 2


def test_the_data_set_bounds():
    wide = default_space(SVC(), 10 * X, Y["classes"])[0]["gamma"].support()
    near = default_space(SVC(), X, Y["classes"])[0]["gamma"].support()
    np.testing.assert_allclose(np.array(near) / wide, 100, rtol=0.02)
    assert max(default_space(KNeighborsClassifier(), X, Y["classes"])["n_neighbors"]) == ROWS // 3
    assert max(default_space(KNeighborsClassifier())["n_neighbors"]) == 100


def test_what_an_estimator_has_is_in_its_space():
    model = HistGradientBoostingClassifier()
    has, [space] = model.get_params(), [default_space(model)]
    assert Space(space).holds({name: has[name] for name in space})


def test_the_data_of_a_column_are_its_own():
    table = pd.DataFrame({"a": X[:, 0], "kind": list("uvwx") * 10, "text": INPUTS["texts"]})
    numbers = make_column_selector(dtype_include="number")
    model = make_pipeline(
        ColumnTransformer(
            [("numbers", StandardScaler(), numbers), ("words", TfidfVectorizer(), "text")]
        ),
        SVC(),
    )
    [gamma, _] = (branch["svc__gamma"] for branch in default_space(model, table, Y["classes"]))
    assert gamma.support() != default_space(model)[0]["svc__gamma"].support()


def test_remainder_columns_are_searched():
    def widths(table, columns):
        model = ColumnTransformer([("gone", "drop", columns)], remainder=Nystroem())
        return default_space(model, table, Y["classes"])["remainder__gamma"].support()

    wide = np.column_stack([X, 1000 * X[:, 0]])
    assert widths(wide, [X.shape[1]]) == widths(X, [])
    assert widths(wide, [X.shape[1]]) != widths(wide, [0])


def test_explicit_parameters_are_kept():
    with pytest.raises(ValueError, match=r"default search space.*parameters you have set"):
        default_space(Lasso(alpha=0.3))
    space = default_space(SVC(kernel="poly"))
    assert isinstance(space, dict)
    assert set(space) == {"C", "gamma", "degree", "coef0"}
    assert set(default_space(SVC(kernel="linear"))) == {"C"}
    assert set(default_space(SVC(kernel="sigmoid"))) == {"C", "gamma", "coef0"}


def test_parameters_set_by_hand_are_listed_as_fixed():
    model = make_pipeline(StandardScaler(), SVC(C=2.0, kernel="poly"))
    space = default_space(model)
    assert space.fixed == {"svc__kernel": "poly", "svc__C": 2.0}
    rows = [line.split() for line in repr(space).splitlines()]
    assert rows[-2:] == [["svc__kernel", "'poly'", "fixed"], ["svc__C", "2.0", "fixed"]]
    mixed = fill_space({"svc__C": [1.0, 2.0], "...": "auto"}, model, None, None)
    assert "svc__C       2.0" not in repr(mixed)
    assert "fixed" in repr(mixed)


def test_parameters_without_effect_are_not_searched():
    assert set(default_space(PolynomialFeatures(), X)) == {"degree", "interaction_only"}
    assert set(default_space(make_pipeline(PolynomialFeatures(1), Ridge()))) == {"ridge__alpha"}


class Unknown(TransformerMixin, BaseEstimator):
    def __init__(self, width=3):
        self.width = width

    def fit(self, X, y=None):
        raise AssertionError("what is not scikit-learn's is not fitted")


def test_unknown_step_warns_once():
    model = make_pipeline(Unknown(), FunctionTransformer(), PCA(), Ridge())
    with pytest.warns(UserWarning, match=r"\['unknown'\].*unknown__width") as warned:
        space = default_space(model, X, Y["numbers"])
    assert len(warned) == 1
    assert "ridge__alpha" in space


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SVC, "class"),
        (Unknown(), "No default search space"),
        (StandardScaler(with_mean=False), r"`param_distributions`\.$"),
        (3, "`estimator` must be"),
        ([], "`estimator` must be"),
    ],
)
def test_what_has_no_space_is_refused(estimator, message):
    with pytest.raises(ValueError, match=message):
        default_space(estimator)


def test_a_space_prints_as_a_table_with_sources():
    lines = repr(default_space(make_pipeline(StandardScaler(), SVC()))).splitlines()
    assert "--- or ---" in lines
    assert [line.split()[0] for line in lines[:3]] == ["svc__kernel", "svc__gamma", "svc__C"]
    assert "auto-sklearn" in lines[1]
    assert "0 to 1 (uniform)" in next(line for line in lines if "coef0" in line)


def test_custom_range_has_no_source():
    spaces = [default_space(SVC()), default_space(Ridge())]
    spaces[0][0]["C"], spaces[1]["alpha"] = [1, 2], [1, 2]
    lines = [clone_of.splitlines() for clone_of in map(repr, copy.deepcopy(spaces))]
    assert lines[0][2] == "C       1, 2"
    assert "auto-sklearn" in lines[0][-1]
    assert lines[1] == ["alpha  1, 2"]


def test_each_branch_prints_its_own_source():
    model = Pipeline([("clf", LogisticRegression())])
    space = fill_space(
        {"clf": [LogisticRegression(), SVC()], "...": "auto"}, model, X, Y["classes"]
    )
    sources = [line.split("  ")[-1].strip() for line in repr(space).splitlines() if "__C" in line]
    assert sources == ["mlr3tuningspaces, default", *["auto-sklearn 0.15, changed"] * 2]


@pytest.mark.parametrize("rest", ["...", ...])
def test_the_rest_of_a_space_is_auto(rest):
    space = fill_space({"C": [1, 10], rest: "auto"}, NuSVR(), X, Y["numbers"])
    assert list(space) == ["C", "nu", "gamma"]
    with pytest.raises(ValueError, match="got 'Auto'"):
        fill_space({"C": [1, 10], rest: "Auto"}, NuSVR(), X, Y["numbers"])

    with pytest.raises(ValueError, match=r"single dict"):
        fill_space([{"C": [1, 10], rest: "auto"}], NuSVR(), X, Y["numbers"])
    with pytest.raises(ValueError, match=r"'kernel'.*\['rbf'\]"):
        fill_space({"kernel": "rbf", rest: "auto"}, SVC(), X, Y["classes"])


@pytest.mark.parametrize(
    "how", [{"func": np.exp, "inverse_func": np.log}, {"transformer": FunctionTransformer(np.exp)}]
)
def test_ranges_use_transformed_target(how):
    model = TransformedTargetRegressor(LinearSVR(), **how)
    inside = default_space(model, X, Y["numbers"])["regressor__epsilon"].support()
    alone = default_space(LinearSVR(), X, np.exp(Y["numbers"]))["epsilon"].support()
    assert inside == pytest.approx(alone)


def test_estimator_of_inner_search_is_not_searched():
    inner = GridSearchCV(make_pipeline(PCA(), SVC()), {"svc__C": [1, 2]})
    with pytest.raises(ValueError, match="No default search space"):
        default_space(inner)
    assert set(default_space(make_pipeline(PCA(), inner))) == {"pca__n_components", "pca__whiten"}


@pytest.mark.parametrize("model", [SVC(), KernelRidge(), KernelPCA()])
def test_sigmoid_kernel_has_gamma_and_coef0(model):
    own = {"kernel": ["sigmoid", "rbf"], "...": "auto"}
    sigmoid, rbf = fill_space(own, model, X, Y["numbers"])
    assert (sigmoid["kernel"], rbf["kernel"]) == (["sigmoid"], ["rbf"])
    assert sigmoid.keys() - rbf.keys() == {"coef0"}
    assert "gamma" in rbf


def test_narrow_kernel_keeps_components_of_wide_data():
    rng = np.random.default_rng(0)
    for n in range(15, 60):
        wide = rng.normal(size=(n, 50))
        _, rbf = default_space(KernelPCA(), wide)
        model = KernelPCA(2, kernel="rbf", gamma=rbf["gamma"].support()[1]).fit(wide)
        assert len(model.eigenvalues_) == 2


def test_each_estimator_of_a_step_has_own_parameters():
    model = Pipeline([("scale", StandardScaler()), ("svc", SVC())])
    scalers, kernel = [StandardScaler(), MinMaxScaler(), "passthrough"], SVC()
    own = {"scale": scalers, "svc": [kernel, LinearSVC()], "svc__gamma": [0.1, 1.0], "...": "auto"}
    space = fill_space(own, model, X, Y["classes"])
    assert [branch["scale"] for branch in space] == [scalers] * 3
    assert [branch["svc"] for branch in space] == [[kernel], [kernel], own["svc"][1:]]
    assert [branch.get("svc__gamma") for branch in space] == [[0.1, 1.0], [0.1, 1.0], None]
    assert {*space[2]} == {"scale", "svc", "svc__C"}
    for params in points_of(space, 1):
        assert fits(clone(model).set_params(**params), X, Y["classes"]) is None


def test_final_estimator_ranges_are_those_of_predictions():
    y = 100 * Y["numbers"]

    def alphas(**options):
        stack = StackingRegressor([("ridge", Ridge())], final_estimator=Lasso(), **options)
        return default_space(stack, X, y)["final_estimator__alpha"].support()

    assert alphas() == pytest.approx(default_space(Lasso(), y[:, None], y)["alpha"].support())
    both = default_space(Lasso(), np.c_[y, X], y)["alpha"].support()
    assert alphas(passthrough=True) == pytest.approx(both)


def test_n_components_range_is_below_slices():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 40)), rng.standard_normal(20)
    low, high = default_space(SlicedInverseRegression(), X, y)["n_components"].support()
    assert low == 1
    assert SlicedInverseRegression(high).fit(X[:10], y[:10]).n_components_ == high


@pytest.mark.parametrize("d", [2, 3, 4, 6, 9, 11, 30])
def test_percentiles_of_few_features_are_distinct_selections(d):
    X, y = np.random.default_rng(0).normal(size=(60, d)), np.arange(60) % 2
    space = default_space(make_pipeline(SelectPercentile(), LinearSVC()), X, y)
    sizes = [
        SelectPercentile(percentile=p).fit(X, y).get_support().sum()
        for p in space["selectpercentile__percentile"]
    ]
    assert len(set(sizes)) == len(sizes)
    assert max(sizes) == d
