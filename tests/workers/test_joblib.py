"""Which workers joblib's backend stands for."""

import pytest
from joblib import parallel_config
from worker_parts import dies_with_its_calls, kind_of_workers


@pytest.mark.parametrize(
    ("backend", "kind"),
    [
        ("threading", "threads"),
        ("loky", "processes"),
        ("multiprocessing", "MultiprocessingBackend"),
        ("sequential", "threads"),
    ],
)
def test_kinds_of_workers(backend, kind):
    with parallel_config(backend):
        assert kind_of_workers() == kind


def test_fits_made_here_can_end_this_process():
    assert dies_with_its_calls(1, None)
    assert not dies_with_its_calls(1, 3.0)
    with parallel_config("threading"):
        assert dies_with_its_calls(4, 3.0)
