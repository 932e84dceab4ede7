"""Saved states and journals that somebody changed, checksums and all, raise ValueError."""

import json
import os
import random
import re
import warnings
from functools import partial

import numpy as np
import pytest
from journal_files import checked_line
from scipy.stats import loguniform
from sklearn.linear_model import Ridge

from skbo_silbo import SILBO, SILBOSearchCV, Space, minimize
from skbo_silbo.inspection._from_journal import read_journal

BOUNDS = [(0.0, 1.0), (0.0, 1.0)]


def bowl(x):
    return float((x[0] - 0.3) ** 2 + x[1])


@pytest.fixture(scope="module")
def saved():
    optimizer = SILBO(BOUNDS, embedding="sir", n_components=1, n_initial=5, random_state=0)
    for _ in range(8):
        x = optimizer.ask()
        optimizer.tell(x, bowl(x))
    optimizer.ask()
    return json.dumps(optimizer.to_dict())


TOLD, ASKED = ["events", 0], ["events", 1]
LEARNT = [*ASKED, "learnt"]
BASIS = {"basis": [[1.0]], "order": "C"}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["events"], None, "KeyError: 'events'"),
        (["seed"], "a", "TypeError: 'str' object"),
        (["version"], 4, "got .*'version': 4"),
        (["space", "bounds"], None, "`bounds` must be given"),
        ([*TOLD, "y"], ["a"] * 8, r"`data`\['events'\]\[0\] .*values must be numbers"),
        ([*TOLD, "y"], [1.0], "same length, got 8"),
        ([*TOLD, "observed"], [[0.5, 7.0]] * 8, "inside the bounds"),
        (["options", "zz"], 1, "unexpected keyword argument 'zz'"),
        ([*ASKED, "asked"], [[9.0, 9.0]], r"\['events'\]\[1\] .* inside the bounds"),
        ([*ASKED, "foo"], 1, None),
        ([*LEARNT, "embedding"], BASIS, r"the basis must have 2 rows"),
        ([*LEARNT, "surrogate"], {"a": 1}, "KeyError"),
    ],
)
def test_tampered_state_raises_value_error(saved, place, value, message):
    data = json.loads(saved)
    *inner, last = place
    part = data
    for name in inner:
        part = part[name]
    if value is None:
        del part[last]
    else:
        part[last] = value
    if message is None:  # not read
        SILBO.from_dict(data)
        return
    with pytest.raises(ValueError, match=message) as caught:
        SILBO.from_dict(data)
    assert caught.value.args[0].endswith(".")


def test_unchanged_state_is_read(saved):
    assert json.dumps(SILBO.from_dict(json.loads(saved)).to_dict()) == saved


# --- journals with checksums that are right -------------------------------------------------------


def run(path, n_calls=5):
    return minimize(bowl, BOUNDS, n_calls=n_calls, n_initial=3, journal=path, random_state=0)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    run(path, 5)
    return path.read_bytes().splitlines()


def tampered(line, **changes):
    content = {key: value for key, value in json.loads(line).items() if key != "check"}
    content |= changes
    return checked_line({key: value for key, value in content.items() if value is not ...})


HEADER = ["made with", "seed", "fixed", "search"]


@pytest.mark.parametrize(
    ("name", "value"), [("fixed", {}), *((name, value) for name in HEADER for value in (..., 1.5))]
)
def test_malformed_header_is_rejected(tmp_path, written, name, value):
    path = tmp_path / "run.jsonl"
    first, *rest = written
    path.write_bytes(b"\n".join([tampered(first, **{name: value}), *rest, b""]))
    with pytest.raises(ValueError, match=r"in line 1 \("):
        run(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": ...}, "KeyError: 'y'"),
        ({"y": [10**400]}, "OverflowError"),
        ({"y": [1.0, 2.0]}, "same length, got 1"),
        ({"observed": [[5.0, 5.0]]}, "inside the bounds"),
        ({"position": ...}, "KeyError: 'position'"),
        ({"batch": True}, "TypeError: 'batch' must be of type int, got True"),
        ({"observed": ..., "cancelled": 1}, "must be of type list, got 1"),
        ({"asked": [[0.5, 0.5]]}, "must be one of asked, begun"),
        ({"y": [1.0], "outside": 1}, "TypeError: 'outside' must be of type bool"),
    ],
)
def test_malformed_event_is_rejected_by_line(tmp_path, written, changes, message):
    path, lines = tmp_path / "run.jsonl", list(written)
    i = next(i for i, line in enumerate(lines) if b'"observed"' in line)
    lines[i] = tampered(lines[i], **changes)
    path.write_bytes(b"\n".join([*lines, b""]))
    with pytest.raises(ValueError, match=rf"damaged in line {i + 1} \(.*{message}"):
        run(path)


def test_malformed_model_is_rejected_by_line(tmp_path, written):
    path, lines = tmp_path / "run.jsonl", list(written)
    i = max(i for i, line in enumerate(lines) if b'"learnt"' in line)
    learnt = json.loads(lines[i])["learnt"] | {"surrogate": {"theta": True}}
    lines[i] = tampered(lines[i], learnt=learnt)
    path.write_bytes(b"\n".join([*lines, b""]))
    with pytest.raises(ValueError, match=rf"damaged in line {i + 1} \(TypeError"):
        run(path)


def test_state_of_named_space_is_checked():
    space = Space({"a": [1, 2, 3, 4], "b": ["u", "v"]})
    optimizer = SILBO(space, random_state=0, n_initial=3)
    for _ in range(5):
        optimizer.tell(optimizer.ask(), 1.0)
    data = json.loads(json.dumps(optimizer.to_dict()))
    assert SILBO.from_dict(data, bounds=space).to_dict() == data
    data["events"][0]["observed"][0] = [5.0, 5.0]
    with pytest.raises(ValueError, match=r"\['events'\]\[0\] is not .*objects of named values"):
        SILBO.from_dict(data, bounds=space)


# --- any part, by any value -----------------------------------------------------------------------

WRONG = [None, True, -1, 10**400, 0.5, "x", [], [None], [["x"]], {}, {"a": 1}]


def parts_of(data, place=()):
    """Yield where something stands in plain data, as tuples of keys."""
    members = data.items() if isinstance(data, dict) else enumerate(data)
    for key, member in members:
        yield (*place, key)
        if isinstance(member, (dict, list)):
            yield from parts_of(member, (*place, key))


def changed(text, place, value):
    *inner, last = place
    part = data = json.loads(text)
    for key in inner:
        part = part[key]
    part[last] = value
    return data


def is_refused_in_words(read):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read()
    except ValueError:
        return True
    return False


def some(places, n):
    """Return n of some places, and of all the first and last."""
    return (
        places if len(places) <= n else [places[i * (len(places) - 1) // (n - 1)] for i in range(n)]
    )


@pytest.mark.parametrize("n", [40, pytest.param(10**6, marks=pytest.mark.slow)])
def test_any_part_of_state_may_be_wrong(saved, n):
    places = some(list(parts_of(json.loads(saved))), n)
    tried = [
        is_refused_in_words(partial(SILBO.from_dict, changed(saved, place, value)))
        for i, place in enumerate(places)
        for value in (WRONG if n > 1000 else [WRONG[i % len(WRONG)], WRONG[(i + 5) % len(WRONG)]])
    ]
    assert sum(tried) > len(tried) // 2


def of_search(path, **params):
    space = {"alpha": loguniform(1e-3, 1e3), "solver": ["svd", "lsqr"]}
    options = {"n_iter": 4, "n_initial": 3, "cv": 2, "random_state": 0, "refit": False}
    options |= params
    search = SILBOSearchCV(Ridge(), space, journal=path, **options)
    return search.fit(np.eye(8), np.arange(8.0))


@pytest.mark.parametrize(
    ("score", "message"), [(10**400, "OverflowError"), ({"a": 1}, "all fits"), ({}, "TypeError")]
)
def test_malformed_score_is_rejected_by_line(tmp_path, score, message):
    path = tmp_path / "search.jsonl"
    of_search(path)
    lines = path.read_bytes().splitlines()
    i = next(i for i, line in enumerate(lines) if b'"rows"' in line)
    rows = json.loads(lines[i])["rows"]
    rows[1]["test_scores"] = score
    lines[i] = tampered(lines[i], rows=rows)
    path.write_bytes(b"\n".join([*lines, b""]))
    with pytest.raises(ValueError, match=rf"damaged in line {i + 1} \({message}"):
        of_search(path)


def of_objectives(path):
    options = {"refit": ["r2", "fit_time"], "scoring": ["r2", "neg_max_error"]}
    return of_search(path, **options)


def of_branches(path):
    def func(point):
        return point["a"], [point["a"] - 2.0]

    space = [{"a": loguniform(1e-3, 1.0), "k": ["u", (1, 2), None]}, {"a": [1, 2, 3], "k": ["w"]}]
    options = {"n_calls": 5, "n_initial": 3, "n_constraints": 1, "random_state": 0}
    return minimize(func, space, journal=path, **options)


def with_change(line, rng):
    """Return a line of a journal with an entry of another type, left out or repeated."""
    content = json.loads(line)
    *inner, last = rng.choice(list(parts_of(content)))
    part = content
    for key in inner:
        part = part[key]
    value = rng.choice([*WRONG, "left out", "repeated"])
    if value == "left out":
        del part[last]
    elif value == "repeated" and isinstance(part, list):
        part.append(part[last])
    else:
        part[last] = value
    content.pop("check", None)
    return checked_line(content)


def is_rejected_by_name(read, path):
    """Read a journal, and return whether an error names it; other errors are raised."""
    try:
        read(path)
    except ValueError as error:
        if re.match("journal |.*must be a journal", str(error)):
            return True
        raise
    return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("door", [run, of_search, of_objectives, of_branches])
@pytest.mark.parametrize("n", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_changed_journal_is_read_or_rejected_by_name(tmp_path, monkeypatch, door, n):
    monkeypatch.setattr(os, "fsync", lambda file: None)
    path, rng = tmp_path / "run.jsonl", random.Random(0)
    door(path)
    written = path.read_bytes().splitlines()
    n_rejected = 0
    for _ in range(n):
        i = rng.randrange(len(written))
        lines = [*written[:i], with_change(written[i], rng), *written[i + 1 :], b""]
        path.write_bytes(b"\n".join(lines))
        n_rejected += sum(is_rejected_by_name(read, path) for read in (read_journal, door))
    assert n_rejected > n // 2
