"""Number of calls that are queued while a proposal is made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skbo_silbo.workers._pace import Pace

pytestmark = pytest.mark.quick

SECONDS = st.floats(0.0, 1e4)


@given(SECONDS, SECONDS, st.integers(1, 64))
def test_prefetch_is_at_most_one_per_worker(proposing, calling, n_workers):
    pace = Pace()
    assert pace.n_ahead(n_workers) == 1  # nothing was timed yet
    pace.note_proposal(proposing)
    pace.note_call(calling)
    n = pace.n_ahead(n_workers)
    assert 0 <= n <= n_workers
    if calling > 1e-3:
        n_ending = n_workers * proposing / calling
        assert n >= min(n_ending, n_workers) - 0.05
        assert n - 1 < max(n_ending, 1.0)


def test_proposal_time_decays_but_rises_at_once():
    pace = Pace()
    pace.note_call(1.0)
    ahead = []
    for seconds in (0.1, 7.9, *[0.1] * 30):
        pace.note_proposal(seconds)
        ahead.append(pace.n_ahead(8))
    assert ahead[:2] == [1, 8]
    assert ahead[1:] == sorted(ahead[1:], reverse=True)
    assert ahead[-1] == 1
