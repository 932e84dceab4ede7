"""Seeded proposals change only together with an entry in the registry of the benchmarks."""

import json

import pytest
from proposal_traces import KINDS, STORED, as_data, differ, n_entries

TRACES = json.loads(STORED.read_text())


@pytest.mark.parametrize("kind", KINDS)
def test_seeded_proposals_equal_stored_ones(kind):
    scope, make = KINDS[kind]
    assert not differ(as_data(make()), TRACES[kind]["points"]), (
        f"The proposals of {kind!r} changed for the same seed. If this is intended, add an entry "
        f"with the scope {scope!r} to [[changes]] in doc/benchmarks/registry.toml, and store the "
        "new proposals with `PYTHONPATH=tests/support:doc python -m proposal_traces`."
    )


@pytest.mark.bench
@pytest.mark.parametrize("kind", KINDS)
def test_changes_of_proposals_have_entries(kind):
    scope, _ = KINDS[kind]
    assert n_entries(scope) >= TRACES[kind]["entries"], (
        f"The stored proposals of {kind!r} changed. Add an entry with the scope {scope!r} and the "
        "revision of the change to [[changes]] in doc/benchmarks/registry.toml."
    )


def test_traces_notice_other_seed_and_other_category():
    points = TRACES["mixed"]["points"]
    moved = [{**point, "x": point["x"] + 0.1} for point in points]
    swapped = [{**points[0], "kind": "b"}, *points[1:]]
    assert differ(moved, points)
    assert differ(swapped, points)
    assert not differ([{**point, "x": point["x"] + 1e-5} for point in points], points)
