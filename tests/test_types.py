"""What mypy says of a user's script: the types that ship with the package are seen, and help."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parent.parent
RIGHT = """
import numpy as np
from scipy.stats import loguniform
from sklearn.svm import SVC

from skbo_silbo import SILBO, SILBOSearchCV, SemiSlicedInverseRegression, Space, minimize
from skbo_silbo.problems import hartmann6, planted


def cost(x: np.ndarray) -> float:
    return float((x**2).sum())


result = minimize(cost, [(-1, 1)] * 5, n_calls=10, random_state=0)
space = Space({"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
optimizer = SILBO(space, n_initial="auto", random_state=np.random.default_rng(0))
best: float = optimizer.tell(optimizer.ask(), 1.0).best_y_
search = SILBOSearchCV(SVC(), space, n_iter=10, max_time=60.0)
sir = SemiSlicedInverseRegression("auto", n_slices=8, ridge=0.0)
n_inputs: int = planted(hartmann6(), 60, random_state=0).n_dims
"""
WRONG = {
    'minimize(cost, [(-1, 1)] * 5, n_calls="10")': "arg-type",
    "SILBO(space, update_every=1.5)": "arg-type",
    "best2: str = SILBO(space).best_y_": "assignment",
    'SILBOSearchCV(SVC(), space, n_iter="many")': "arg-type",
    "SemiSlicedInverseRegression(n_neighbors=None)": "arg-type",
    "planted(hartmann6(), 60.5)": "arg-type",
    "optimizer.best_z_": "attr-defined",
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
