"""Spaces of functions, classes and plain objects: names that are the same in every process."""

import json
import threading

import numpy as np
import pytest
from scipy.stats import uniform

from skbo_silbo import SILBO, Space


def relu(x):
    return max(x, 0.0)


def scaled(factor):
    return lambda x: factor * x


class Wall:
    def __init__(self, width, more=None):
        self.width, self.more = width, more


class Locked:
    def __init__(self):
        self.lock = threading.Lock()


def space_of(*values):
    return Space({"act": list(values), "b": uniform()})


def space_as_in_another_process():
    """Made anew: objects with the same parts, at other places in memory."""
    return space_of(relu, len, Wall, Wall(3), scaled(2), Locked(), Wall(4, {"a": np.arange(99)}))


def test_columns_have_names_of_their_own_without_addresses():
    names = space_as_in_another_process().feature_names_
    assert names[:3] == [
        f"act={relu.__module__}.relu",
        "act=<built-in function len>",
        f"act=<class '{Wall.__module__}.Wall'>",
    ]
    assert names[3].startswith(f"act={Wall.__module__}.Wall(")
    assert " at 0x" not in "".join(names)
    assert len(set(names)) == 8
    twins = space_of(Wall(1), Wall(1), None).feature_names_
    assert len(set(twins)) == 4


def test_a_journal_is_read_in_another_process(tmp_path):
    for n_told in range(2):
        optimizer = SILBO(space_as_in_another_process(), journal=tmp_path / "a", random_state=0)
        assert len(optimizer.func_vals_) == n_told
        optimizer.tell(optimizer.ask(), 1.0).close_journal()
    data = json.loads(json.dumps(optimizer.to_dict()))
    again = SILBO.from_dict(data, bounds=space_as_in_another_process())
    assert again.to_dict() == data


@pytest.mark.parametrize(
    "other",
    [Wall(9), relu, np.arange(2000) * 2, (1, 2.0)],
)
def test_other_values_are_refused(other):
    like = {Wall: Wall(1), np.ndarray: np.arange(2000), tuple: (1, 2)}.get(type(other), scaled(2))
    data = json.loads(json.dumps(SILBO(space_of(like, "a", 0.5)).to_dict()))
    SILBO.from_dict(data, bounds=space_of(like, "a", 0.5))
    with pytest.raises(ValueError, match=r"parameters\.act\b"):
        SILBO.from_dict(data, bounds=space_of(other, "a", 0.5))
