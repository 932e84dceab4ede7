"""What is made over a space with choices works in another process, and after `clone`."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import clone
from travelling import MADE, failure

SUPPORT = Path(__file__).parents[1] / "support"


@pytest.fixture(scope="module")
def made():
    return {name: make() for name, make in MADE.items()}


@pytest.fixture(scope="module")
def elsewhere(made, tmp_path_factory):
    """How each failed in a process in which strings have other hashes; None where it did not."""
    path = tmp_path_factory.mktemp("pickles") / "made"
    path.write_bytes(pickle.dumps([(name, pickle.dumps(thing)) for name, thing in made.items()]))
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(SUPPORT / "travelling.py"), str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return dict(zip(made, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", MADE)
def test_it_works_in_a_process_with_other_hashes(elsewhere, name):
    assert elsewhere[name] is None, elsewhere[name]


@pytest.mark.parametrize("name", [name for name in MADE if name != "fitted search"])
def test_it_works_after_clone(made, name):
    trouble = failure(name, clone(made[name], safe=False))
    assert trouble is None, trouble
