"""The journal file: torn, of another kind, locked, forked, on systems without locks."""

import itertools
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from journal_files import Journal
from journal_searches import X, Y, search

from skbo_silbo import SILBO, minimize

BOUNDS = [(0.0, 1.0), (0.0, 2.0)]
IN_USE = "in use by another"

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
pytestmark = pytest.mark.filterwarnings("ignore:This process .* multi-threaded:DeprecationWarning")


def write(path, n=2):
    with closing(Journal(path)) as journal:
        journal.begin({"of": "test"})
        for i in range(n):
            journal.append({"value": i, "text": "line\nbreak, ü"})
    return path.read_bytes()


@pytest.mark.quick
def test_file_cut_anywhere_keeps_whole_lines(path):
    whole = write(path)
    ends = [i for i, byte in enumerate(whole) if byte == ord("\n")]  # a newline can be missing
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        kept = sum(end <= size for end in ends)
        with closing(Journal(path)) as journal:
            assert (journal.header is not None) == (kept > 0)
            assert [record["value"] for record in journal.records] == list(range(kept))[: kept - 1]
            assert path.read_bytes() == whole[: [0, *(end + 1 for end in ends)][kept]]
            if kept == 0:
                journal.begin({"of": "test"})
            for i in range(len(journal.records), 2):
                journal.append({"value": i, "text": "line\nbreak, ü"})
        assert path.read_bytes() == whole


@pytest.mark.quick
def test_append_returns_after_fsync(path, monkeypatch):
    sizes = []
    monkeypatch.setattr(os, "fsync", lambda file: sizes.append(path.stat().st_size))
    with closing(Journal(path)) as journal:
        journal.begin({})
        for _ in range(3):
            journal.append({})
            assert sizes[-1] == path.stat().st_size
    assert len(set(sizes)) == 4


class InterruptAtLine:
    """Presses Ctrl-C before the nth line that the journal's module executes."""

    def __init__(self, n):
        self.n_left = n

    def __call__(self, frame, event, arg):
        if Path(frame.f_code.co_filename).name == "journal.py":
            if event == "line":
                self.n_left -= 1
                if self.n_left == 0:
                    raise KeyboardInterrupt
            return self
        return None


def test_interrupt_at_any_line_keeps_record_numbers(path):
    tracer = sys.gettrace()
    for n in itertools.count(1):
        interrupt, record = InterruptAtLine(n), {"value": 1}
        with closing(Journal(path)) as journal:
            journal.begin({})
            journal.append({"value": 0})
            sys.settrace(interrupt)
            try:
                journal.append(record)
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(tracer)
            is_written = journal.last is record
            journal.append({"value": 2})
        with closing(Journal(path)) as journal:
            values = [record["value"] for record in journal.records]
        assert values == ([0, 1, 2] if is_written else [0, 2])
        path.unlink()
        if interrupt.n_left > 0:  # there is no such line
            break
    assert n > 20


# --- files that are no journal --------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize("content", [b"C,gamma\n1,2\n", b"my only copy", b"[1]\n", b'{"a": 1}\n'])
def test_other_file_is_rejected_and_unchanged(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"`journal` must not exist yet"):
        search(path).fit(X, Y)
    assert path.read_bytes() == content


@pytest.mark.quick
@pytest.mark.parametrize("version", [1, 99])
def test_other_version_is_rejected_and_unchanged(path, version):
    content = b'{"journal": "skbo_silbo", "version": %d, "search": {}}\n{"n": 0}\n' % version
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"format version {version}\b"):
        search(path).fit(X, Y)
    assert path.read_bytes() == content


def test_folder_and_missing_folder_are_rejected(path):
    with pytest.raises(FileNotFoundError, match=r"`journal` must be .*no/x\.jsonl"):
        search(path.parent / "no" / "x.jsonl").fit(X, Y)
    with pytest.raises(IsADirectoryError, match="`journal` must be"):
        search(path.parent).fit(X, Y)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_named_pipe_is_rejected(path):
    os.mkfifo(path)
    with pytest.raises(ValueError, match="`journal` must be a regular file"):
        SILBO(BOUNDS, journal=path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_folder_is_rejected(path):
    path.parent.chmod(0o500)
    with pytest.raises(PermissionError):
        SILBO(BOUNDS, journal=path)


# --- where the file is ----------------------------------------------------------------------------


def test_journal_stays_when_function_changes_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def func(x):
        os.chdir(elsewhere)
        return float(x[0])

    options = {"n_initial": 3, "random_state": 0, "journal": os.fsencode("run.jsonl")}
    minimize(func, BOUNDS, n_calls=4, **options)
    assert not list(elsewhere.iterdir())
    os.chdir(tmp_path)
    assert sorted(os.listdir()) == ["elsewhere", "run.jsonl"]
    assert minimize(func, BOUNDS, n_calls=5, **options).nfev == 5


# --- a second writer ------------------------------------------------------------------------------


@pytest.mark.quick
def test_second_writer_is_rejected(path):
    search(path, n_iter=2).fit(X, Y)
    code = (
        "import fcntl, sys\n"
        "try:\n    fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "except BlockingIOError: print('in use')"
    )
    with closing(Journal(path)):
        with pytest.raises(RuntimeError, match=IN_USE):
            search(path).fit(X, Y)
        other = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
        )
        assert other.stdout == "in use\n"
    search(path, n_iter=2).fit(X, Y)


@forks
def test_forked_process_cannot_write(path):
    with closing(Journal(path)) as journal:
        journal.begin({})
        if (child := os.fork()) == 0:
            try:
                journal.append({})
            except RuntimeError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        journal.append({})
    with closing(Journal(path)) as journal:
        assert len(journal.records) == 1


@forks
def test_forked_process_does_not_keep_lock(path):
    """A worker can outlive the search that it served."""
    journal = Journal(path)
    (begun, begin), (ended, end) = os.pipe(), os.pipe()
    if (child := os.fork()) == 0:
        os.close(end)
        os.write(begin, b".")
        os.read(ended, 1)
        os._exit(0)
    try:
        os.read(begun, 1)
        with pytest.raises(RuntimeError, match=IN_USE):  # the parent still holds it
            Journal(path)
        journal.close()
        Journal(path).close()
    finally:
        for file in (begun, begin, ended, end):
            os.close(file)
        os.waitpid(child, 0)


@pytest.mark.skipif(os.name == "nt", reason="a copy of a file has no lock there")
def test_copied_descriptor_does_not_keep_lock(path):
    """A process that is being forked has a copy of the open file for a moment."""
    journal = Journal(path)
    copied = os.dup(journal._file)
    try:
        journal.close()
        Journal(path).close()
    finally:
        os.close(copied)


# --- Windows and systems without locks ------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="stands in for it")
def test_searches_resume_without_posix_modules(tmp_path):
    """A process dies in the middle of `minimize`; the next ends it, and the other searches."""
    script = Path(__file__).with_name("windows_run.py")
    env = {**os.environ, "PYTHONPATH": str(script.parents[2])}
    command = [sys.executable, "-W", "error", script, tmp_path, "5", "99"]
    run = subprocess.run(command, capture_output=True, text=True, env=env)
    # 4 of 9 calls came first; one died
    assert run.stdout.splitlines() == ["exit code 3", "5 10 9 12", "exit code 0"], run.stderr


def test_system_without_locks_is_rejected(path, monkeypatch):
    for name in ("fcntl", "msvcrt"):
        monkeypatch.setattr(f"skbo_silbo.journal.lock.{name}", None)
    with pytest.raises(RuntimeError, match="`journal` must be None on this system"):
        search(path).fit(X, Y)


def test_disk_without_locks_is_rejected(path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def refuse(file, operation):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(RuntimeError, match=r"cannot be locked \(.*Operation not supported"):
        search(path).fit(X, Y)
