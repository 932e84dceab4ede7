"""How much is tried of what hypothesis makes up: 20 examples, and 10 000 behind ``slow``.

The ten thousand come in parts of a thousand, each with a seed of its own, so that a part that fails
can be run again: ``pytest -m slow -k "part-3" tests/optimizers/test_ask_tell_sequences.py``.
"""

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

N_ORDINARY, N_PARTS, N_IN_PART = 20, 10, 1000

in_parts = pytest.mark.parametrize(
    "part",
    [
        pytest.param(None, id="ordinary"),
        *(pytest.param(i, id=f"part-{i}", marks=pytest.mark.slow) for i in range(N_PARTS)),
    ],
)


def extent(part, **options):
    """Return hypothesis's settings of a part; None is the part that ordinary tests run."""
    return settings(
        database=None,
        derandomize=part is None,
        max_examples=N_ORDINARY if part is None else N_IN_PART,
        suppress_health_check=list(HealthCheck),
        **options,
    )


def run_machine(machine, part, **options):
    """Run a part of the examples of a state machine."""
    if part is not None:
        machine = seed(part)(type(machine.__name__, (machine,), {}))
    run_state_machine_as_test(machine, settings=extent(part, **options))


def run_property(function, part, **options):
    """Run a part of the examples of a function decorated with ``given``."""
    function = extent(part, **options)(function)
    (function if part is None else seed(part)(function))()
