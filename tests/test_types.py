"""What mypy says of a user's script: the types that ship with the package are seen, and help."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parent.parent
RIGHT = """
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
from scipy.stats import loguniform
from sklearn.svm import SVC

from skbo_silbo import SILBO, SILBOSearchCV, SemiSlicedInverseRegression, Space, minimize
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.mapping import TopDown
from skbo_silbo.optimizers import AskTellOptimizer, RandomSearch
from skbo_silbo.problems import hartmann6, planted
from skbo_silbo.space import SpaceUnion


def cost(x: np.ndarray) -> float:
    return float((x**2).sum())


result = minimize(cost, [(-1, 1)] * 5, n_calls=10, random_state=0)
space = Space({"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
optimizer = SILBO(space, n_initial="auto", random_state=np.random.default_rng(0))
best: float = optimizer.tell(optimizer.ask(), 1.0).best_y_
search = SILBOSearchCV(SVC(), space, n_iter=10, max_time=60.0)
sir = SemiSlicedInverseRegression("auto", n_slices=8, ridge=0.0)
n_inputs: int = planted(hartmann6(), 60, random_state=0).n_dims
kernel = space.decode(np.zeros((1, 2)))[0]["kernel"]
union = SpaceUnion([{"a": [1]}, {"b": [2]}])
search_of_all = SILBOSearchCV(SVC(), [{"C": loguniform(1, 9)}], mapping=TopDown(), embedding=SVC())
score = search.best_score_ + search.cv_results_["mean_test_score"].max()
some = optimizer.feasible_.all() or optimizer.was_told({"C": 1.0, "kernel": "rbf"})


class First:
    name = "first"

    def learn(self, X: np.ndarray, y: np.ndarray, unlabeled: np.ndarray) -> Embedding:
        return LinearEmbedding.from_components(np.eye(X.shape[1])[:1])


class Sideways:
    def lift(self, Z, embedding, incumbent):
        return embedding.expand(Z)

    def carry(self, X, embedding):
        return embedding.project(X)


class HalfAMapping:
    def lift(self, Z, embedding, incumbent):
        return embedding.expand(Z)


class Own(RandomSearch):
    pass

def make(bounds: object, random_state: int) -> AskTellOptimizer:
    return Own(np.eye(2), random_state=random_state)


def in_words(x: np.ndarray) -> str:
    return "low"


def with_constraint(x: dict[str, float]) -> tuple[float, list[float]]:
    return x["C"], [x["C"] - 1.0]


own = SILBO([(0, 1)] * 5, embedding=First(), mapping=Sideways(), n_components=1, update_every=[20])
minimize(with_constraint, space, method=Own, n_constraints=1)
minimize(cost, union, method=make, executor=lambda: ProcessPoolExecutor(2))
minimize(cost, np.eye(2), method=Own([(0, 1)] * 2), executor=ThreadPoolExecutor(2), n_pending=3)
"""
WRONG = {
    'minimize(cost, [(-1, 1)] * 5, n_calls="10")': "arg-type",
    "SILBO(space, update_every=1.5)": "arg-type",
    "best2: str = SILBO(space).best_y_": "assignment",
    'SILBOSearchCV(SVC(), space, n_iter="many")': "arg-type",
    "SemiSlicedInverseRegression(n_neighbors=None)": "arg-type",
    "planted(hartmann6(), 60.5)": "arg-type",
    "optimizer.best_z_": "attr-defined",
    "minimize(in_words, [(0, 1)])": "arg-type",
    "minimize(cost, [(0, 1)], executor=4)": "arg-type",
    "minimize(cost, [(0, 1)], method=HalfAMapping)": "arg-type",
    "SILBO(space, mapping=HalfAMapping())": "arg-type",
    'SILBO(space, n_components="two")': "arg-type",
    'SILBOSearchCV(SVC(), space, n_initial="ten")': "arg-type",
    "names: list = search.best_params_": "assignment",
    "text: str = optimizer.feasible_": "assignment",
    "space.decode(np.zeros((1, 2)))[0].kernel": "attr-defined",
    'union.encode({"a": 1})': "arg-type",
}


def messages(tmp_path, script):
    path = tmp_path / "script.py"
    path.write_text(script)
    options = ("--follow-imports=silent", "--ignore-missing-imports", "--no-error-summary")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, f"--cache-dir={tmp_path}", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not result.stderr, result.stderr
    return [line for line in result.stdout.splitlines() if "error" in line]


def test_a_right_script_passes_and_planted_errors_are_found(tmp_path):
    n_right = RIGHT.count("\n")
    found = messages(tmp_path, RIGHT + "\n".join(WRONG) + "\n")
    lines = {int(line.split(":")[1]): line for line in found}
    for i, (statement, kind) in enumerate(WRONG.items(), start=n_right + 1):
        assert f"[{kind}]" in lines.pop(i, ""), f"{statement} was not found: {found}"
    assert not lines, f"a right line was refused: {lines}"
