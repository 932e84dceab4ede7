"""A journal of a search over data that are no plain numbers is resumed, and told from others."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo import SILBOSearchCV

pd = pytest.importorskip("pandas")

DAYS = np.arange("2020-01-01", "2020-01-31", dtype="M8[D]")
WORDS = [f"word {i}" for i in range(30)]
ODD_DATA = {
    "dates": DAYS,
    "spans": DAYS - DAYS[0],
    "not a date": np.where(np.arange(30) < 29, DAYS, np.datetime64("NaT", "D")),
    "dates backwards": DAYS[::-1],
    "a frame of dates": pd.DataFrame({"day": DAYS, "other": DAYS}),
    "a frame of dates with a zone": pd.DataFrame({"day": pd.to_datetime(DAYS, utc=True)}),
    "a mixed frame": pd.DataFrame({"day": DAYS, "x": np.arange(30.0)}),
    "periods": pd.DataFrame({"day": pd.period_range("2020-01-01", periods=30)}),
    "words": np.array(WORDS),
    "words of any length": np.array(WORDS, dtype=getattr(np.dtypes, "StringDType", lambda: "U")()),
    "bytes": np.array(WORDS).astype("S"),
    "complex": np.arange(30) * 1j,
    "records": np.array([(i, "a") for i in range(30)], dtype=[("n", int), ("s", "U1")]),
}


class OfAnyData(BaseEstimator):
    def __init__(self, a=0.0):
        self.a = a

    def fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        return -((self.a - 0.7) ** 2)


@pytest.mark.parametrize("data", ODD_DATA.values(), ids=ODD_DATA)
def test_a_search_over_data_that_are_no_numbers_is_resumed(tmp_path, data):
    options = {"n_iter": 3, "cv": KFold(3), "random_state": 0, "journal": tmp_path / "journal"}
    first = SILBOSearchCV(OfAnyData(), {"a": uniform()}, **options).fit(data)
    again = SILBOSearchCV(OfAnyData(), {"a": uniform()}, **options).fit(data)
    assert first.cv_results_["params"] == again.cv_results_["params"]
    assert list(first.cv_results_["iter"]) == list(again.cv_results_["iter"])
    other = data[::-1]
    with pytest.raises(ValueError, match="X"):
        SILBOSearchCV(OfAnyData(), {"a": uniform()}, **options).fit(other)
