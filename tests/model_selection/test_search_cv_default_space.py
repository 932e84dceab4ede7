"""A search without a space: "auto", its first candidates, and what is searched."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skbo_silbo import SILBOSearchCV, Space, default_space
from skbo_silbo.model_selection._initial_candidates import InitialCandidates
from skbo_silbo.model_selection._proposals import CandidateProposals

X, y = load_iris(return_X_y=True)
X, y = X[::5], y[::5]
MODEL = make_pipeline(StandardScaler(), SVC())
KERNELS = ["rbf", "linear", "poly", "sigmoid"]


class Own(Ridge):
    pass


def test_a_model_is_tuned_in_one_line():
    search = SILBOSearchCV(MODEL, n_iter=12, random_state=0, cv=3).fit(X, y)
    sources = list(search.cv_results_["source"])
    assert sources == ["given"] + 2 * ["known"] + 4 * ["init"] + 5 * ["model"]
    assert search.cv_results_["params"][0] == {
        name: MODEL.get_params()[name] for name in search.cv_results_["params"][0]
    }
    assert repr(search.space_) == repr(default_space(MODEL, X, y))
    assert clone(search).param_distributions == "auto"
    found = search.predict_score(search.cv_results_["params"])
    measured = search.cv_results_["mean_test_score"]
    assert (found.mean[0], found.std[0]) == (measured[0], 0)  # gamma="scale" is not of the space
    assert found.std[1:].min() > 0
    one = search.predict_score(search.cv_results_["params"][0])
    assert one == (measured[0], 0, 1)
    with pytest.raises(ValueError, match="gamma"):
        search.predict_score({**search.cv_results_["params"][1], "svc__gamma": "auto"})


def at_model(progress):
    """Stop a search when the model has proposed the first candidate."""
    return progress.source == "model"


def rows(search):
    return list(zip(search.cv_results_["params"], search.cv_results_["source"], strict=True))


@pytest.mark.parametrize(
    ("own", "is_moved"),
    [
        ({}, True),
        ({"svc__gamma": loguniform(100, 1000)}, True),
        ({"standardscaler": [StandardScaler(), "passthrough"]}, True),
        ({"svc__gamma": ["scale", "auto"]}, False),
    ],
)
def test_current_parameters_outside_space_are_moved_into_it(own, is_moved):
    space = {"svc__C": loguniform(1e-3, 1e3), "svc__gamma": loguniform(1e-5, 100), **own}
    search = SILBOSearchCV(MODEL, space, n_iter=8, random_state=0, cv=3).fit(X, y)
    [first] = [p for p, s in rows(search) if s == "given"]
    moved = [p for p, s in rows(search) if s == "known"]
    assert (first["svc__C"], first["svc__gamma"]) == (1.0, "scale")
    assert len(moved) == is_moved
    assert all(p["svc__C"] == 1.0 and Space(space).holds(p) for p in moved)
    if is_moved:
        assert moved[0]["svc__gamma"] == pytest.approx(space["svc__gamma"].median())
    assert search.space_ is space


def test_every_branch_is_tried_with_current_parameters():
    linear = {"svc__kernel": ["linear"], "svc__C": loguniform(1e-3, 1e3)}
    rbf = {**linear, "svc__kernel": ["rbf"], "svc__gamma": loguniform(1e-5, 100)}
    search = SILBOSearchCV(MODEL, [rbf, linear], n_iter=4, random_state=0, cv=3).fit(X, y)
    found = [(p["svc__kernel"], p["svc__C"], source) for p, source in rows(search)]
    assert found[:3] == [("rbf", 1.0, "given"), ("rbf", 1.0, "known"), ("linear", 1.0, "known")]


@pytest.mark.parametrize("n_iter", [1, 3, 12])
def test_known_candidates_of_trees_follow_the_current_one(n_iter):
    model = ExtraTreesClassifier(n_estimators=3, random_state=0)
    search = SILBOSearchCV(model, n_iter=n_iter, random_state=0, cv=3)
    search.fit(*load_iris(return_X_y=True))
    sources = [source for _, source in rows(search)]
    n_given = n_iter > 1
    n_known = min(n_iter - n_given, 9) if n_given else 0
    assert sources[: n_given + n_known] == ["given"] * n_given + ["known"] * n_known
    assert "known" not in sources[n_given + n_known :]


def test_arrays_of_strings_hold_the_current_value():
    space = {"svc__kernel": np.array(["rbf", "linear"])}
    search = SILBOSearchCV(MODEL, space, n_iter=4, random_state=0, cv=3).fit(X, y)
    assert sorted(p["svc__kernel"] for p, _ in rows(search)) == ["linear", "rbf"]
    assert len(search.optimizer_.func_vals_) == 2


def test_step_may_be_replaced_by_estimator_with_other_parameters():
    space = {"svc": [DecisionTreeClassifier(random_state=0)], "svc__max_depth": [None, 3, 5]}
    search = SILBOSearchCV(MODEL, space, n_iter=3, random_state=0, cv=3).fit(X, y)
    assert len(rows(search)) == 3


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        (["rbf"], [{"svc__kernel", "svc__gamma", "svc__C"}]),
        (["rbf", "linear"], [{"svc__kernel", "svc__gamma", "svc__C"}, {"svc__kernel", "svc__C"}]),
    ],
)
def test_a_condition_of_your_own_keeps_its_branches(kernels, expected):
    own = {"svc__kernel": kernels, "...": "auto"}
    search = SILBOSearchCV(MODEL, own, n_iter=2, random_state=0, cv=3).fit(X, y)
    branches = search.space_ if isinstance(search.space_, list) else [search.space_]
    assert [set(branch) for branch in branches] == expected


def test_all_but_first_candidate_satisfy_constraints():
    search = SILBOSearchCV(
        DecisionTreeClassifier(random_state=0),
        n_iter=6,
        random_state=0,
        constraints=lambda p: p["min_samples_leaf"] < 3,
        cv=3,
    ).fit(X, y)
    assert all(p["min_samples_leaf"] < 3 for p, _ in rows(search))


def test_design_changes_few_parameters_of_moved_candidate():
    space = {"svc__C": loguniform(1e-3, 1e3), "svc__gamma": loguniform(1e-5, 100)}
    space |= {"svc__tol": loguniform(1e-4, 1e-2), "svc__class_weight": [None, "balanced"]}
    options = {"n_iter": 16, "random_state": 0, "cv": 3, "callback": at_model}
    search = SILBOSearchCV(MODEL, space, **options).fit(X, y)
    params, sources = search.cv_results_["params"], list(search.cv_results_["source"])
    scores = search.cv_results_["mean_test_score"]
    assert sources[:3] == ["given", "known", "init"]
    for i in range(2, sources.index("model")):
        best = scores[1:i].max()  # the first is outside of the space
        near = [p for p, score in zip(params[1:i], scores[1:i], strict=True) if score == best]
        assert min(sum(p[n] != params[i][n] for n in p) for p in near) in (1, 2, 3)


@pytest.mark.parametrize("batch_size", ["auto", 3])
def test_interrupted_search_resumes_identically(tmp_path, batch_size):
    options = {"random_state": 0, "cv": 3, "n_iter": 9, "batch_size": batch_size}
    whole = SILBOSearchCV(MODEL, **options).fit(X, y)
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) == 8

    journal = tmp_path / "j"
    SILBOSearchCV(MODEL, journal=journal, callback=stop, **options).fit(X, y)
    resumed = SILBOSearchCV(MODEL, journal=journal, **options).fit(X, y)
    assert resumed.cv_results_["params"] == whole.cv_results_["params"]


def test_every_level_is_tried_twice_before_the_model_proposes():
    space = {
        "svc__kernel": ["rbf", "poly", "sigmoid"],
        "svc__C": loguniform(1e-2, 1e3),
        "svc__gamma": loguniform(1e-4, 100),
    }
    options = {"n_iter": 20, "random_state": 0, "cv": 3, "callback": at_model}
    search = SILBOSearchCV(MODEL, space, **options).fit(X, y)
    assert {p["svc__kernel"] for p, s in rows(search) if s == "known"} == {"rbf"}
    tried = [p["svc__kernel"] for p, s in rows(search) if s != "model"]
    assert min(map(tried.count, space["svc__kernel"])) >= 2


def test_design_tries_every_branch_once():
    space = [{"svc__kernel": [kernel], "svc__C": loguniform(1e-3, 1e3)} for kernel in KERNELS]
    options = {"n_iter": 14, "random_state": 0, "cv": 3, "initial_params": "current"}
    options["callback"] = at_model
    search = SILBOSearchCV(MODEL, space, **options).fit(X, y)
    design = [p["svc__kernel"] for p, source in rows(search) if source != "model"]
    assert set(design) == set(KERNELS)


@pytest.mark.slow
def test_design_never_keeps_all_parameters():
    space = {"svc__kernel": KERNELS, "svc__C": loguniform(1e-3, 1e3)}
    for seed in range(5):
        options = {"n_iter": 12, "n_initial": 12, "random_state": seed, "cv": 3}
        search = SILBOSearchCV(MODEL, space, **options).fit(X, y)
        proposals = CandidateProposals(
            search.optimizer_, None, InitialCandidates([], Space(space)), moves_best=True
        )
        kept = [proposals._kept_of_best(n) for n in range(12)]
        best = search.optimizer_.best_x_
        assert all(len(k) < 2 or k["svc__kernel"] != best["svc__kernel"] for k in kept)


def test_proposals_of_the_model_change_all_parameters():
    space = {"svc__C": loguniform(1e-3, 1e3), "svc__gamma": loguniform(1e-4, 100)}
    before = SILBOSearchCV(MODEL, space, n_iter=16, random_state=0, cv=3).fit(X, y).cv_results_
    search = SILBOSearchCV(MODEL, space, n_iter=6, random_state=1, cv=3, initial_results=before)
    sources = [source for _, source in rows(search.fit(X, y))]
    proposals = CandidateProposals(
        search.optimizer_, None, InitialCandidates([], Space(space)), moves_best=True
    )
    assert "init" not in sources
    assert proposals.fixed_parameters(2, 16) is None


class Ordered(Ridge):
    """Rejects values that constraints exclude, as some libraries do."""

    def set_params(self, **params):
        if params.get("tol", 0.0) > params.get("alpha", 1.0):
            raise ValueError("tol must not exceed alpha")
        return super().set_params(**params)


def test_set_params_may_reject_what_constraints_exclude():
    space = {"alpha": loguniform(1e-3, 1.0), "tol": loguniform(1e-2, 10.0)}
    search = SILBOSearchCV(Ordered(), space, n_iter=4, cv=3, random_state=0)
    search.set_params(constraints=lambda params: params["tol"] <= params["alpha"])
    assert len(search.fit(X, y).cv_results_["params"]) == 4
