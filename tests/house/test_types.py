"""What mypy says of users' scripts, and of the package: types that ship with it are seen, and help.

All is checked in one run: mypy reads numpy once.
"""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

import skbo_silbo

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parents[2]
# What ``mypy --strict`` adds for one module.
STRICT = """# mypy: check-untyped-defs, disallow-any-generics, disallow-incomplete-defs
# mypy: disallow-subclassing-any, disallow-untyped-calls, disallow-untyped-decorators
# mypy: disallow-untyped-defs, extra-checks, no-implicit-reexport, strict-equality
# mypy: warn-return-any, warn-unused-ignores
"""
RIGHT = """
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult
from scipy.stats import loguniform, uniform
from sklearn.decomposition import PCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVC

from skbo_silbo import *
from skbo_silbo.acquisition import log_expected_improvement
from skbo_silbo.baselines import *
from skbo_silbo.embedding import *
from skbo_silbo.inspection import *
from skbo_silbo.optimizers import AskTellOptimizer
from skbo_silbo.problems import *
from skbo_silbo.space import *
from skbo_silbo.surrogate import GaussianProcessSurrogate
from skbo_silbo.testing import *

Array = NDArray[np.float64]
rng = np.random.default_rng(0)
X: Array = rng.normal(size=(300, 6))
y: Array = X[:, 0] + X[:, 1] ** 2


def named(point: dict[str, float]) -> float:
    return point["C"]


def bowl(X: Array) -> Array:
    return np.asarray((X**2).sum(axis=1), dtype=np.float64)


def cost(x: Array) -> float:
    return float((x**2).sum())


linear = (
    SemiSlicedInverseRegression(2, categorical=False),
    DirectionalRegression(n_slices=5),
    PrincipalHessianDirections(2),
    MAVE(1, target="mean"),
    SparseSlicedInverseRegression(1, penalty=0.1),
    ActiveSubspace(1),
)
for estimator in linear:
    Z: Array = estimator.fit(X, y).transform(X)
    again: Array = estimator.fit(X, y, sample_weight=np.ones(300)).transform(X)
one = SlicedAverageVarianceEstimation().fit(X.tolist(), y.tolist()).transform([[0.0] * 6])
two: Array = OuterProductGradients(1).fit(X, y).transform(X)
curved: Array = KernelSlicedInverseRegression(1, gamma=None).fit(X, y).transform(X)

stable = bootstrap_directions(linear[0], X, y, n_resamples=20, random_state=0)
low: Array = stable.low
p_value: float = coordinate_test(X, y, [0, 1]).p_value
figure = SubspaceDisplay.from_estimator(linear[0], X, y, kind="all", bootstrap=stable)
figure.plot(kind="loadings")

problem = Problem("bowl", bowl, [(-1, 2), (-1, 1)], optimum=0.0, optimisers=[[0, 0]])
value: float = problem([0.0, 0.0]) + problem.truth(np.zeros(2)) + problem.regret(0.5)
values: Array = noisy(branin(), 0.1).evaluate(branin().sample(5, random_state=0))
gaps: Array = problem.regret(problem.evaluate_truth([[0.0, 0.0]]))
wide = planted(problem, 20, 0).n_dims + rotated(branin(), 9).n_dims

space = Space({"C": loguniform(1e-3, 1e3), "gamma": uniform(0, 1), "kernel": ["rbf", "poly"]})
point: dict[str, Any] = space.decode(space.round(np.zeros((1, space.n_features_))))[0]
inside: bool = space.holds(point) and space.pinned({"kernel": "rbf"}).holds(point)
union = SpaceUnion([space, {"kernel": ["linear"]}])
box = Box([(0, 1)] * 3)
rest: Array = box.pinned({0: 0.5}).decode(np.zeros((1, 2)))
n_columns: int = Box([(0, 1)]).n_features_

parts = SILBO([(0, 1)] * 6, embedding=PCA(2), surrogate=GaussianProcessRegressor())
optimizer = SILBO([(0, 1)] * 6, n_initial=8, random_state=0)
try:
    for _ in range(12):
        x = optimizer.ask(fixed={0: 0.5}) if len(parts.pending_) else optimizer.ask()
        optimizer.tell(x, cost(x), noise_std=0.1)
except SpaceExhausted as error:
    left: int = error.n_left
shares: list[str] = optimizer.input_model_.shares.ranked
words: str = optimizer.subspace_.shares.verdict
result = minimize(cost, [(0, 1)] * 6, method="hesbo", n_calls=20, callback=lambda result: False)
same: MinimizeResult[Array] = result
kept_in: OptimizeResult = minimize(lambda x: cost(x), [(0, 1)], callback=print)
C: float = minimize(named, space).x["C"] + result.optimizer.best_y_
engine_options = {"warp": None}
search = SILBOSearchCV(SVC(), space, n_iter=10, optimizer_options=engine_options).fit(X, y > 0)
for display in (SearchDisplay, SubspaceDisplay):
    display.from_result(search)
SearchDisplay.from_result(optimizer, kind="shares").plot(kind="all")
ConvergenceDisplay.from_result(result, others={"other": optimizer}, ax=None).plot(ax=None)

embedding = LinearEmbedding.from_components([[1.0, 0.0, 0.0]])
lifted: Array = embedding.expand(embedding.project(X[:, :3]))
mean, std = GaussianProcessSurrogate(prior="sparse").fit(X, y).predict(X)
check_learner(PCA(2))
check_optimizer(HeSBO, n_calls=5)


class First:
    name = "first"

    def learn(self, X: Array, y: Array, unlabeled: Array) -> Embedding:
        return LinearEmbedding.from_components(np.eye(X.shape[1])[:1])


class Own(RandomSearch):
    pass

def make(bounds: object, random_state: int) -> AskTellOptimizer:
    return Own(np.eye(2), random_state=random_state)


def in_words(x: Array) -> str:
    return "low"


def with_constraint(x: dict[str, float]) -> tuple[float, list[float]]:
    return x["C"], [x["C"] - 1.0]


own = SILBO([(0, 1)] * 5, embedding=First(), n_components=1, update_every=[20])
liked = SILBO([(0, 1)] * 5, acquisition=log_expected_improvement)
minimize(with_constraint, space, method=Own, n_constraints=1)
minimize(cost, union, method=make, executor=lambda: ProcessPoolExecutor(2))
minimize(cost, np.eye(2), method=Own, executor=ThreadPoolExecutor(2), n_pending=3)
"""
WRONG = {
    'SlicedAverageVarianceEstimation(2).fit("X", y=None, sample_weight=int)': "arg-type",
    "MAVE(target=1.5)": "arg-type",
    "SemiSlicedInverseRegression(1, n_slice=10)": "call-arg",
    'KernelSlicedInverseRegression(gamma="auto")': "arg-type",
    "number: int = ActiveSubspace(1).fit(X, y).transform(X)": "assignment",
    "one.transform(X)": "attr-defined",
    "bootstrap_directions(linear[0], X, y, random_state=rng)": "arg-type",
    "flag: bool = coordinate_test(X, y, 0).p_value": "assignment",
    "SubspaceDisplay.from_estimator(linear[0], X, y, response_name=1)": "arg-type",
    'noisy(branin(), sd="high")': "arg-type",
    "problem.optimizers": "attr-defined",
    'box.pinned({"x0": 1.0})': "dict-item",
    'minimize(cost, [(0, 1)], random_state="seed")': "arg-type",
    "minimize(named, space).x.C": "union-attr",
    'minimize(cost, [(-1, 1)] * 5, n_calls="10")': "arg-type",
    "SILBO(space, update_every=1.5)": "arg-type",
    "best2: str = SILBO(space).best_y_": "assignment",
    "minimize(cost, [(0, 1)], callback=lambda progress: progress.source + 1)": "operator",
    "planted(hartmann6(), 60.5)": "arg-type",
    "minimize(in_words, [(0, 1)])": "arg-type",
    "SILBO(space, embedding=Own)": "arg-type",
    'SILBO(space, n_components="two")': "arg-type",
    "names: list = search.best_params_": "assignment",
    "space.decode(np.zeros((1, 2)))[0].kernel": "attr-defined",
    'union.encode({"a": 1})': "arg-type",
}


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """Return mypy's errors by file: one run for the package and for the script."""
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "strict.py").write_text(STRICT + RIGHT + "\n".join(WRONG) + "\n")
    command = ("-m", "mypy", "--no-error-summary", f"--cache-dir={os.devnull}")
    result = subprocess.run(
        [sys.executable, *command, "skbo_silbo", str(folder / "strict.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not result.stderr, result.stderr
    found = {}
    for line in result.stdout.splitlines():
        if ": error:" in line:
            found.setdefault(Path(line.split(":")[0]).name, []).append(line)
    return found


def test_the_package_keeps_its_own_types(messages):
    """The level is set in pyproject.toml."""
    assert {name: lines for name, lines in messages.items() if name != "strict.py"} == {}


def test_valid_script_passes_and_errors_are_found(messages):
    lines = {}
    for line in messages["strict.py"]:
        lines.setdefault(int(line.split(":")[1]), []).append(line)
    n_right = (STRICT + RIGHT).count("\n")
    for i, (statement, kind) in enumerate(WRONG.items(), start=n_right + 1):
        found = lines.pop(i, [])
        assert any(f"[{kind}]" in line for line in found), f"{statement} was not found: {found}"
    assert not lines, f"a right line was refused: {lines}"


def test_help_shows_signatures_that_can_be_read():
    """numpy's union of all that is like an array has four lines where it is spelt out."""
    for name in ("SemiSlicedInverseRegression", "MAVE", "ActiveSubspace", "SDRRegressor"):
        shown = str(inspect.signature(getattr(skbo_silbo, name).fit))
        assert "y: numpy.typing.ArrayLike" in shown
        assert len(shown) < 400
