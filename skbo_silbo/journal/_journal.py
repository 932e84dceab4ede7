"""A file of JSON lines that survives being killed at any moment, and knows when it is damaged."""

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet, finalize

from skbo_silbo._checks import warn_user
from skbo_silbo.journal._lock import is_windows, lock, unlock

VERSION = re.compile(rb'\{"journal": "[^"]*", "version": (\d+)[,}]')
VALUES = "told"  # a record with this holds what evaluations gave: they are paid for
TAIL = 4096  # bytes at the end that are compared before every record; all of them where it is due
ENDED = re.compile(rb'"check": "[0-9a-f]{16}"\}')
CHECKED = re.compile(rb'(.*), "check": "([0-9a-f]{16})"\}', re.DOTALL)


@dataclass(frozen=True)
class JournalKind:
    """What tells the journals of one entry point from those of another.

    Attributes
    ----------
    name : str
        Its first line begins with it.
    version : int
        That is written.
    user : str
        Of whom it is the journal, for messages.
    to_close : str, default=""
        What lets go of a journal that is in use, in the words of its entry point.
    is_of_optimizer : bool, default=True
        Whether an optimiser writes down what it is told; else that is written for it.
    """

    name: str
    version: int
    user: str
    to_close: str = ""
    is_of_optimizer: bool = True

    @property
    def beginning(self) -> bytes:
        """How every file of this kind begins, bytes."""
        return f'{{"journal": "{self.name}"'.encode()


class Journal:
    """A header and numbered records, one JSON object a line, each on disk before `append` returns.

    Every line ends with a checksum of itself and is followed by ``fsync``. So only the last line
    can be torn, by a crash or a full disk, and only one that `append` has not returned from:
    opening drops it. A line that was changed later is refused, the last one too. What something
    else writes into the file while it is open is replaced. It is locked until `close`, which a
    ``with`` statement calls, or until nothing refers to the journal any more: a second journal on
    the same path, of this process or another, is refused.

    Parameters
    ----------
    path : str or path-like
        Made if it does not exist; its folder must.
    kind : JournalKind

    Attributes
    ----------
    header : dict or None
        None in a new file, until `begin`.
    records : list of dict
        Those read when the file was opened, each with its number ``n``.
    last : dict or None
        What `append` wrote last, be it before Ctrl-C.
    holds_values : bool
        Whether a record holds what an evaluation gave.

    Raises
    ------
    OSError
        If the file cannot be opened, as where its folder is missing.
    RuntimeError
        If another journal is open on the path, or the system has no lock for files.
    ValueError
        If the file is no journal of this kind, is of another version or is damaged before its last
        line.

    Warns
    -----
    UserWarning
        If it was moved, replaced, removed or overwritten since, by the next record.
    """

    def __init__(self, path: str | os.PathLike[str], kind: JournalKind) -> None:
        self.path, self.kind = os.fsdecode(path), kind
        self._place, self._is_missed = os.path.abspath(self.path), False
        self.header: dict[str, Any] | None = None
        self.records: list[dict[str, Any]] = []
        self.last: dict[str, Any] | None = None
        self.holds_values, self._n_records = False, 0
        self._process = os.getpid()
        # What is on disk, as far as is known; when it was written; whether more may follow.
        self._content, self._time, self._is_torn = bytearray(), None, False
        self._have_locked()
        _OPEN.add(self)
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def _have_locked(self):
        """Open the file and lock it; again if another had put a new one in its place by then."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._have(self._locked(_opened(self.path, flags)))
        if not _is_at(self._place, self._identity):
            self._let_go()
            self._have_locked()

    def _locked(self, file):
        """Return an open file with the lock on it; close it where another has that."""
        try:
            lock(file, self.path, self.kind.user, self.kind.to_close)
        except BaseException:
            os.close(file)
            raise
        return file

    def _have(self, file):
        """Have an open file, and know it again: its number may become that of another."""
        self._file, self._identity = file, _identity(file)
        self._let_go = finalize(self, _let_go, file, self._identity, self._process)
        self._let_go.atexit = False  # whoever tells last may be at exit too

    def close(self) -> None:
        """Close the file; further records are refused."""
        if self._file is not None and os.getpid() == self._process:
            with suppress(OSError, RuntimeError):
                self._open_again()
                self._mend()
        self._file = None
        self._let_go()

    def begin(self, header: dict[str, Any]) -> None:
        """Write the header of a new file, or another one where nothing in the file was paid for.

        Parameters
        ----------
        header : dict
            What JSON can hold; its ``"journal"`` and ``"version"`` are added here.
        """
        header = {"journal": self.kind.name, "version": self.kind.version, **header}
        self._require_mine()
        if self.holds_values:
            raise RuntimeError(f"journal {self.path!r} must be without values to be begun anew.")
        os.ftruncate(self._file, 0)
        self._content, self.records, self._n_records = bytearray(), [], 0
        self._write(header)
        self.header = header
        _sync_folder(self._place)

    def begin_or_check(
        self,
        make_header: Callable[[], dict[str, Any]],
        check: Callable[[dict[str, Any]], None],
    ) -> None:
        """Begin a new file; go on with that of the same search, or refuse another one's.

        Another search's that holds nothing paid for, as a mistyped call leaves it, is begun anew.

        Parameters
        ----------
        make_header : callable
            Returns what `begin` takes.
        check : callable
            Called with the header of a file that was begun; raises ValueError where that is of
            another search.
        """
        if self.header is None:
            self.begin(make_header())
            return
        try:
            check(self.header)
        except ValueError:
            if self.holds_values:
                raise
            self.begin(make_header())

    def append(self, record: dict[str, Any]) -> None:
        """Write a record; return when it is on disk.

        Parameters
        ----------
        record : dict
            What JSON can hold. Its number is added.

        Raises
        ------
        OSError
            If it cannot be written: then the file is as it was before.
        RuntimeError
            If the journal is closed, or in a process forked from the one that opened it.
        """
        self._require_mine()
        self._mend()
        size = len(self._content)
        try:
            self._write({"n": self._n_records, **record})
        finally:
            if len(self._content) > size:
                self.last, self._n_records = record, self._n_records + 1
                self.holds_values = self.holds_values or VALUES in record

    def damaged_record(self, i: int, why: object = "") -> ValueError:
        """Return the error to raise for a record that is not as it was written; and why."""
        remedy = "Remove that line and all after it to continue from there, or give another path."
        return self._damaged(i + 2, remedy, why)

    def damaged_header(self, why: object = "") -> ValueError:
        """Return the error to raise for a header that is not as it was written; and why."""
        return self._damaged(1, "Put back a copy of the file, or give another path.", why)

    def _damaged(self, line, remedy, why):
        if isinstance(why, Exception) and not isinstance(why, ValueError):
            why = f"{type(why).__name__}: {why}"
        return ValueError(
            f"journal must be as it was written: {self.path!r} is damaged in line {line}"
            f"{f' ({why})' if why else ''}. {remedy}"
        )

    def _write(self, content):
        self._require_mine()
        self._look_for_itself()
        line = checked_line(content) + b"\n"
        self._is_torn = True
        try:
            self._put(line)
        except Exception:
            with suppress(OSError):
                os.ftruncate(self._file, len(self._content))
            raise
        except BaseException:  # Ctrl-C: what was paid for is written first
            self._put(line)
            raise

    def _put(self, line):
        size = len(self._content)
        os.ftruncate(self._file, size)  # what an interruption left
        _write_all(self._file, line, size)
        self._content += line
        self._know()

    def _know(self):
        """Note that the file holds what is known of it."""
        self._time, self._is_torn = _time_of(self._file), False

    def _mend(self):
        """Have the file hold what was written, and say so, if something else wrote into it."""
        if not self._is_overwritten():
            return
        if _read_all(self._file).startswith(self._content):  # what was added is cut off
            os.ftruncate(self._file, len(self._content))
            os.fsync(self._file)
        else:
            try:
                self._replace_by(self._content)
            except OSError:  # the folder is read-only, or the file a mount of its own
                _write_all(self._file, self._content, 0)
                os.ftruncate(self._file, len(self._content))
        self._know()
        warn_user(
            f"journal {self.path!r} must be left alone while it is used: something else was "
            f"written into it. All {self._n_records} records are there again, and nothing is lost. "
            "Copy to another path, and edit when the search has ended."
        )

    def _replace_by(self, whole):
        """Put a new file in the place of this one, which stays as it is until that is on disk."""
        place = os.path.realpath(self._place)
        file, beside = tempfile.mkstemp(
            prefix=f"{os.path.basename(place)}.", dir=os.path.dirname(place)
        )
        try:
            shutil.copymode(place, beside)
            lock(file, self.path, self.kind.user, self.kind.to_close)
            _write_all(file, whole, 0)
            os.replace(beside, place)
        except BaseException:
            os.close(file)
            os.unlink(beside)
            raise
        self._let_go()
        self._have(file)
        _sync_folder(place)

    def _is_overwritten(self):
        size, known = os.lseek(self._file, 0, os.SEEK_END), len(self._content)
        if size < known or (size > known and not self._is_torn):
            return known > 0
        tail = self._content[-TAIL:]
        os.lseek(self._file, known - len(tail), os.SEEK_SET)
        if os.read(self._file, len(tail)) != tail:
            return True
        is_touched = _time_of(self._file) != self._time
        return is_touched and not _read_all(self._file).startswith(self._content)

    def _require_mine(self):
        if os.getpid() != self._process:
            raise RuntimeError(
                f"journal {self.path!r} must be written by the process that opened it: this one "
                f"was forked from it. Let the {self.kind.user} of the first process write."
            )
        if self._file is None:
            raise RuntimeError(f"journal {self.path!r} must be open: it was closed.")
        self._open_again()

    def _open_again(self):
        """Open the file again, and say so, if what is evaluated closed it, as `os.closerange`."""
        if self._identity is None or _identity(self._file) == self._identity:
            return
        self._let_go.detach()  # the number is nobody's, or another file's
        closed = f"journal {self.path!r} must stay open: its file was closed by something else"
        if not _is_at(self._place, self._identity):
            raise OSError(9, f"{closed}, and it is not at its path any more")
        self._have(self._locked(os.open(self._place, os.O_RDWR | getattr(os, "O_BINARY", 0))))
        warn_user(f"{closed}. It is open again. Close no files that others have opened.")

    def _look_for_itself(self):
        """Warn, once, if the file is not at its path any more: what is written is lost with it."""
        if self._is_missed or _is_at(self._place, self._identity):
            return
        self._is_missed = True
        warn_user(
            f"journal {self.path!r} must stay where it is while it is used: it was moved, replaced "
            "or removed. Nothing that follows is kept there. End the search by Ctrl-C, which gives "
            "its results, or let it end, and save these."
        )

    def _read(self):
        content = _read_all(self._file)
        lines = content.split(b"\n")
        torn = lines.pop()  # what follows the last newline
        first, start = (lines[0] if lines else torn), self.kind.beginning
        if not (first.startswith(start) or (not lines and start.startswith(first))):
            raise ValueError(
                f"journal must be a new file or one that a former {self.kind.user} wrote: "
                f"{self.path!r} holds something else. Give another path."
            )
        if is_ended(torn):  # all but its newline
            lines.append(torn)
        if len(lines) > 1 and b"\0\0" in lines[-1]:  # blocks of it did not reach the disk
            lines.pop()
        if lines:
            self.header, *self.records = self._checked(lines)
        self._n_records = len(self.records)
        self.holds_values = any(VALUES in record for record in self.records)
        self._take_over(content, bytearray().join(line + b"\n" for line in lines))

    def _take_over(self, content, whole):
        """Have the file hold its whole lines, and no more."""
        if content != whole:
            os.ftruncate(self._file, min(len(content), len(whole)))
            _write_all(self._file, whole[len(content) :], len(content))
        self._content = whole
        self._know()

    def _checked(self, lines):
        """Return what each line holds, all of them as they were written, in a version known."""
        header, *records = map(read_checked_line, lines)
        version = _version_of(lines[0])
        is_as_written = header is not None or not is_ended(lines[0])  # the first had no checksums
        if version is not None and version != self.kind.version and is_as_written:
            raise ValueError(
                f"journal must be of version {self.kind.version}: {self.path!r} is of version "
                f"{version}. Continue with the skbo_silbo that wrote it, or give another path."
            )
        if header is None:
            raise self.damaged_header()
        for i, record in enumerate(records):
            if record is None or record.get("n") != i:
                raise self.damaged_record(i)
        return header, *records


_OPEN: WeakSet[Journal] = WeakSet()


def _close_in_fork():
    """Close what a forked process has a copy of: it would hold the lock when the first is gone."""
    for journal in list(_OPEN):
        journal.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_fork)


def _let_go(file, identity, process):
    """Close a file, and give its lock back first, in the process that took it."""
    if _identity(file) != identity:
        return
    if os.getpid() == process:  # the lock is one for all copies of the open file
        with suppress(OSError):  # it ends with the last of them
            unlock(file)
    os.close(file)


def _opened(path, flags):
    rule = "journal must be a file that can be written, in an existing folder"
    try:
        file = os.open(path, flags, 0o666)
    except OSError as error:
        raise OSError(error.errno, f"{rule} ({error.strerror})", path) from error
    if _is_no_data(file):  # a device, a pipe
        os.close(file)
        raise ValueError(f"{rule}: {path!r} is no file of data. Give another path.")
    return file


def _identity(file):
    """Return what tells an open file from others, None where it is closed or nothing tells."""
    with suppress(OSError):
        found = os.fstat(file)
        return found.st_dev, found.st_ino


def _is_at(path, identity):
    """Return whether an open file is the one that a path leads to."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # some disks do not tell, as WSL's on Windows
        return True
    return identity in (None, (found.st_dev, found.st_ino))


def _is_no_data(file):
    try:
        return not stat.S_ISREG(os.fstat(file).st_mode)
    except OSError:  # as above
        return False


def _time_of(file):
    """Return when something was written into a file, None where the disk does not tell."""
    with suppress(OSError):
        return os.fstat(file).st_mtime_ns


def _version_of(line):
    """Return the version in a header, whatever else it has; None where there is none to read."""
    found = VERSION.match(line)
    return None if found is None else int(found[1])


def _write_all(file, content, start):
    os.lseek(file, start, os.SEEK_SET)
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]
    os.fsync(file)


def _read_all(file):
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        return stream.read()


def _sync_folder(path):
    """Have the name of a new file on disk, too; Windows opens no folders."""
    if is_windows():
        return
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def checked_line(content: dict[str, Any]) -> bytes:
    """Return a dict as a line of JSON, bytes without a newline.

    Raises
    ------
    ValueError
        If it holds a number that JSON has not (NaN, infinity): any JSON reader can read it.
    """
    line = json.dumps(content, allow_nan=False).encode()[:-1]
    return b'%s, "check": "%s"}' % (line, _checksum(line))


def read_checked_line(line: bytes) -> dict[str, Any] | None:
    """Return the dict in a line without its checksum, or None if it is not as it was written."""
    checked = CHECKED.fullmatch(line)
    if checked is None or checked[2] != _checksum(checked[1]):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    return {key: value for key, value in content.items() if key != "check"}


def is_ended(line: bytes) -> bool:
    """Return whether a line has come as far as its checksum, right or wrong."""
    return ENDED.search(line) is not None


def _checksum(line):
    return hashlib.blake2b(line, digest_size=8).hexdigest().encode()
