"""Saved states and journals that somebody changed, checksums and all: refused in words."""

import json

import pytest

from skbo_silbo import SILBO, Space, minimize
from skbo_silbo.journal import checked_line

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


BASIS = {"basis": [[1.0]], "order": "C"}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["state"], None, "lacks 'state'"),
        (["seed"], None, "lacks 'seed'"),
        (["version"], None, "version of the data must be 3: got None"),
        (["class"], None, "must be of a SILBO: got that of a None"),
        (["space", "bounds"], "x", r"data\['space'\]\['bounds'\] must be of type list"),
        (["space", "bounds"], None, r"data\['space'\] lacks 'columns'"),
        (["seed"], "a", r"data\['seed'\] must be an integer of at least 0: got 'a'"),
        (["history", "y"], ["a"] * 8, r"data\['history'\]\['y'\]\[0\] must be a number, None"),
        (["history", "y"], [1.0], r"data\['history'\]\['noise_std'\] must|'y'\] must have 8"),
        (["history", "told"], [[0.5, 7.0]] * 8, "inside the bounds"),
        (["options", "zz"], 1, r"has \['zz'\], no arguments of SILBO"),
        (["pending"], [[9.0, 9.0]], r"data\['pending'\]\[0\] must be one of lists of 2 numbers in"),
        (["pending"], [[0.5]], r"data\['pending'\]\[0\] must be one of lists of 2"),
        (["state", "embedding"], BASIS, r"state\['embedding'\]\['basis'\] must have 2 rows"),
        (["state", "warp"], 77, r"state\['warp'\] must be an integer of at least 0 and at most"),
        (["state", "unlabeled"], "x", r"state\['unlabeled'\] must be of type list"),
        (["state", "counts"], [1], r"state\['counts'\] must be two"),
        (["state", "surrogate"], {"a": 1}, "KeyError"),
        (["state", "path"], [[1]], "not enough values"),
        (["state", "ledger"], 5, r"state\['ledger'\] must be of type dict"),
    ],
)
def test_a_tampered_state_is_refused_in_words(saved, place, value, message):
    data = json.loads(saved)
    *inner, last = place
    part = data
    for name in inner:
        part = part[name]
    if value is None:
        del part[last]
    else:
        part[last] = value
    with pytest.raises(ValueError, match=message) as caught:
        SILBO.from_dict(data)
    assert caught.value.args[0].endswith(".")


def test_what_is_as_it_was_is_read(saved):
    assert json.dumps(SILBO.from_dict(json.loads(saved)).to_dict()) == saved


# --- journals with checksums that are right -------------------------------------------------------


def run(path, n_calls=9):
    return minimize(bowl, BOUNDS, n_calls=n_calls, n_initial=3, journal=path, random_state=0)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    run(path, 6)
    state = path.with_name(path.name + ".state")
    return path.read_bytes().splitlines(), state.read_bytes()


def tampered(line, **changes):
    content = {key: value for key, value in json.loads(line).items() if key != "check"}
    content |= changes
    return checked_line({key: value for key, value in content.items() if value is not ...})


@pytest.mark.parametrize("name", ["made with", "class", "space", "options", "seed", "facts"])
@pytest.mark.parametrize("value", [..., 1.5])
def test_a_header_of_another_shape_is_refused(tmp_path, written, name, value):
    path = tmp_path / "run.jsonl"
    first, *rest = written[0]
    path.write_bytes(b"\n".join([tampered(first, **{name: value}), *rest, b""]))
    with pytest.raises(ValueError, match=rf"damaged in line 1 \(its header.*{name}.* Put back"):
        run(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": ...}, "it lacks 'y'"),
        ({"y": ["x"]}, r"it\['y'\]\[0\] must be a number"),
        ({"y": [1.0, 2.0]}, "must have 1 members"),
        ({"told": [[5.0, 5.0]]}, "inside the bounds"),
        ({"told": [[0.5]]}, "lists of 2 numbers"),
        ({"told": ..., "cancelled": 1}, r"it\['cancelled'\] must be of type list"),
        ({"told": ..., "asked": [[0.5, 2.0]]}, r"numbers in \[-1, 1\]"),
        ({"told": ..., "foo": 1}, "must be one of asked, called, cancelled"),
        ({"asked": [[0.5, 0.5]]}, "must be one of asked, called, cancelled"),
    ],
)
def test_an_event_of_another_shape_is_refused_by_its_line(tmp_path, written, changes, message):
    path, lines = tmp_path / "run.jsonl", list(written[0])
    i = next(i for i, line in enumerate(lines) if b'"told"' in line)
    lines[i] = tampered(lines[i], **changes)
    path.write_bytes(b"\n".join([*lines, b""]))
    with pytest.raises(ValueError, match=rf"damaged in line {i + 1} \(.*{message}.* Remove that l"):
        run(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"n": 5, "state": {"embedding": None}}, "state lacks 'warp'"),
        ({"n": "a", "state": {}}, r"it\['n'\] must be an integer"),
        ({"n": 5, "state": []}, r"it\['state'\] must be of type dict"),
        ({"state": {}}, "it lacks 'n'"),
    ],
)
def test_a_state_beside_a_journal_of_another_shape(tmp_path, written, content, message):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\n".join([*written[0], b""]))
    state = path.with_name(path.name + ".state")
    state.write_bytes(checked_line(content))
    with pytest.raises(ValueError, match=rf"beside the journal, must be .*{message}.* Remove that"):
        run(path)
    state.unlink()
    assert run(path).nfev == 9


def test_a_space_of_named_parameters_is_read_and_checked(tmp_path):
    space = Space({"a": [1, 2, 3, 4], "b": ["u", "v"]})
    optimizer = SILBO(space, random_state=0, n_initial=3)
    for _ in range(5):
        optimizer.tell(optimizer.ask(), 1.0)
    data = json.loads(json.dumps(optimizer.to_dict()))
    assert SILBO.from_dict(data, bounds=space).to_dict() == data
    data["history"]["told"][0] = [5.0, 5.0]
    with pytest.raises(ValueError, match=r"data\['history'\]\['told'\]\[0\] must be one of lists"):
        SILBO.from_dict(data, bounds=space)
