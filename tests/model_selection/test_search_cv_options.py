"""Every option of SILBO runs in SILBOSearchCV, and is kept in the journal."""

import inspect

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold

from skbo_silbo.acquisition import Climb
from skbo_silbo.model_selection import SILBOSearchCV
from skbo_silbo.optimizers import SILBO

X, Y = np.zeros((12, 1)), np.arange(12.0)
NAMES = [f"x{i}" for i in range(8)]
SPACE = {name: uniform() for name in NAMES}
ENGINE = "optimizer_options"
OWN = {"embedding", "n_components", "n_initial", "surrogate"}  # parameters of the search itself
ELSEWHERE = {"bounds", "journal", "maximize", "random_state", "scale"}  # that the search says


class Ridge(BaseEstimator):
    """Scores a parabola of one direction of eight inputs."""

    n_fits = 0

    def __init__(self, x0=0, x1=0, x2=0, x3=0, x4=0, x5=0, x6=0, x7=0):
        for name, value in dict(locals()).items():
            if name in NAMES:
                setattr(self, name, value)

    def fit(self, X, y=None):
        Ridge.n_fits += 1
        return self

    def score(self, X, y=None):
        return -((self.x1 + self.x6 - 0.9) ** 2)


def search(**options):
    options = {"n_iter": 6, "n_initial": 4, "cv": KFold(2), "random_state": 0, **options}
    return SILBOSearchCV(Ridge(), SPACE, **options)


def defaults(cls):
    return {name: p.default for name, p in inspect.signature(cls).parameters.items()}


@pytest.mark.quick
def test_search_and_silbo_share_option_defaults():
    ours, theirs = defaults(SILBOSearchCV), defaults(SILBO)
    assert {name: ours[name] for name in OWN} == {name: theirs[name] for name in OWN}
    assert set(theirs) & set(ours) - ELSEWHERE == OWN


# For every option a value other than its default.
OTHER = {
    "n_components": 1,
    "embedding": "semi-sir",
    "acquisition": "ucb",
    "n_initial": 5,
    "n_unlabeled": 3,
    "update_every": 4,
    "design": "random",
    "search": "random",
    "surrogate": "gaussian-process",
    "warp": None,
}


@pytest.mark.quick
def test_there_is_another_value_for_every_option():
    assert set(OTHER) == set(defaults(SILBO)) - ELSEWHERE


@pytest.mark.quick
@pytest.mark.parametrize("name", OTHER)
def test_every_option_arrives_and_is_in_the_journal(name, tmp_path):
    path = tmp_path / "search.jsonl"
    more = {"embedding": "semi-sir"} if name == "n_components" else {}
    asked = {name: OTHER[name]}
    given, without = (asked, {}) if name in OWN else ({ENGINE: asked}, {ENGINE: {}})
    fitted = search(**given, **more, journal=path, n_iter=2).fit(X, Y)
    assert getattr(fitted.optimizer_, name) == OTHER[name]
    with pytest.raises(ValueError, match=rf"{name if name in OWN else ENGINE}.* was .* and is "):
        search(**without, **more, journal=path, n_iter=2).fit(X, Y)


@pytest.mark.filterwarnings("ignore:No direction was found")
def test_integer_n_components_sets_embedding_size():
    """ "auto" chooses among the learnt embeddings of that size."""
    fitted = search(n_components=2, n_initial=12, n_iter=13).fit(X, Y)
    assert fitted.optimizer_.embedding_.r == 2


@pytest.mark.quick
def test_objects_as_options(tmp_path):
    path = tmp_path / "search.jsonl"
    options = {"embedding": PCA(2), ENGINE: {"search": Climb()}}
    fitted = search(**options, journal=path).fit(X, Y)
    assert fitted.optimizer_.embedding_.r == 2
    before = Ridge.n_fits
    search(**options, journal=path, refit=False).fit(X, Y)
    assert Ridge.n_fits == before
    with pytest.raises(ValueError, match=r"embedding\.n_components was 2 and is 3"):
        search(**{**options, "embedding": PCA(3)}, journal=path).fit(X, Y)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 2, "embedding": "identity"}, r"n_components.* must be"),
        ({"n_components": 2, "embedding": "sparse"}, r"n_components.* must be"),
        ({"surrogate": "forest"}, "surrogate must be"),
        ({"surrogate": PLSRegression()}, "surrogate"),
        ({ENGINE: {"warp": "wormhole"}}, "warp must be"),
        ({ENGINE: ["warp"]}, "`optimizer_options` must be None or a dict"),
        ({ENGINE: {"warp_speed": 9}}, "`optimizer_options` must .* among .*got {'warp_speed'"),
        ({ENGINE: {"n_initial": 3}}, "got .*n_initial.*are parameters of the search itself"),
        ({ENGINE: {"random_state": 3}}, "`optimizer_options` must be .* among"),
    ],
)
def test_unsupported_options_raise_before_first_fit(options, message, tmp_path):
    before, path = Ridge.n_fits, tmp_path / "search.jsonl"
    with pytest.raises((TypeError, ValueError), match=message):
        search(**options, journal=path).fit(X, Y)
    assert Ridge.n_fits == before
    assert not path.exists()
