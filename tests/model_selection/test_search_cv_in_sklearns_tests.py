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
from sklearn.model_selection import KFold

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


class Split(KFold):
    """Says that it has so many splits, and has others."""

    def __init__(self, n_said=3, n_given=0):
        super().__init__(3)
        self.n_said, self.n_given = n_said, n_given

    def get_n_splits(self, X=None, y=None, groups=None):
        return self.n_said

    def split(self, X, y=None, groups=None):
        return list(super().split(X, y, groups))[: self.n_given]


@pytest.mark.parametrize("n_jobs", [1, 4])
@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (iter([]), "`cv` must provide at least one split.*No fits were performed"),
        (Split(0, 0), "`cv` must provide at least one split.*No fits were performed"),
        (Split(3, 0), "cv.split and cv.get_n_splits return inconsistent results"),
        (Split(1, 3), "cv.split and cv.get_n_splits return inconsistent results"),
    ],
)
def test_splitter_without_splits_raises(cv, message, n_jobs):
    search = SILBOSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=cv, n_jobs=n_jobs)
    with pytest.raises(ValueError, match=message):
        search.fit(np.arange(12.0)[:, None], np.arange(12.0))
