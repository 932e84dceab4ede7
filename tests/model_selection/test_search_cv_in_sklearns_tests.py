"""scikit-learn's own tests of RandomizedSearchCV, with SILBOSearchCV in its place."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from skbo_silbo import SILBOSearchCV

ROOT = Path(__file__).parents[2]
THEIRS = "sklearn.model_selection.tests.test_search"
PLUGIN = "in_place_of_randomized_search"
INHERENT = {  # test: how often it may fail
    "test_random_search_cv_results": 1,
    "test_search_cv_results_rank_tie_breaking": 1,
    "test_search_cv_timing": 1,
    "test_search_with_2d_array": 1,
    "test_search_callbacks_no_propagation": 2,
    "test_search_callbacks_propagation": 2,
}


@pytest.mark.slow
def test_no_other_test_of_scikit_learn_fails(tmp_path):
    support = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support")])
    options = ["-q", "-rf", "-p", PLUGIN, "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    # Where SciPy is told to take arrays of other libraries, tests of a GPU are run, and fail.
    environment = {k: v for k, v in os.environ.items() if k != "SCIPY_ARRAY_API"}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--pyargs", THEIRS],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": support},
        capture_output=True,
        text=True,
        check=False,
    )
    last = run.stdout.splitlines()[-1]
    print(last)
    assert int(re.search(r"(\d+) passed", last)[1]) > 100, run.stdout[-3000:]
    failed = Counter(re.findall(r"^(?:FAILED|ERROR) \S*?::(\w+)", run.stdout, re.MULTILINE))
    assert not failed - Counter(INHERENT), run.stdout[-3000:]


def test_splitter_without_splits_raises():
    search = SILBOSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=iter([]))
    with pytest.raises(ValueError, match=r"`cv` must provide.*No fits were performed"):
        search.fit(np.arange(12.0)[:, None], np.arange(12.0))
