"""The code for trackers in the how-to page runs where they are installed, without a server."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)")


@pytest.mark.parametrize(("tracker", "written"), [("mlflow", "mlflow.db"), ("wandb", "wandb")])
def test_the_code_of_the_page_runs(tracker, written, tmp_path):
    pytest.importorskip(tracker)
    blocks = BLOCK.findall((ROOT / "doc" / "how_to.rst").read_text())
    [code] = [textwrap.dedent(block) for block in blocks if f"import {tracker}" in block]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / written).exists()
