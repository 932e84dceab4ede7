"""An append-only file of JSON lines that survives a crash at any moment and detects damage."""

import hashlib
import json
import os
import re
import stat
from contextlib import suppress
from typing import Any
from weakref import WeakSet, finalize

from skbo_silbo._typing import Content
from skbo_silbo.journal.lock import lock, unlock

NAME, VERSION = "skbo_silbo", 12  # version of the format; other versions are rejected
BEGINNING = b'{"journal": "skbo_silbo'
VERSION_OF = re.compile(rb'\{"journal": "[^"]*", "version": (\d+)[,}]')
CHECKED = re.compile(rb'(.*), "check": "([0-9a-f]{16})"\}', re.DOTALL)
TAIL = 64  # number of bytes at the end that are checked before each write


class Journal:
    """File of a header and numbered records, with one JSON object per line.

    `append` returns once its line is on disk (``fsync``). A crash or a full disk can therefore only
    damage the last line, which is dropped when the file is opened. Every line ends with a checksum,
    so that lines which were edited later are rejected. The file is locked until `close`.

    Parameters
    ----------
    path : str or path-like
        Path of the journal file. It is created if it does not exist, but its folder must exist.

    Attributes
    ----------
    header : dict or None
        Header of the journal, or None in a new file until `begin` is called.
    records : list of dict
        The records that the file contained when it was opened, each with its number ``n``.
    last : dict or None
        The last record written by `append`, even if Ctrl-C was pressed during the write.

    Raises
    ------
    OSError
        If the file cannot be opened.
    RuntimeError
        If the file is in use, or the system cannot lock files.
    ValueError
        If the file is not a journal, has another version or is damaged before its last line.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        self._place = os.path.abspath(self.path)
        self.header: Any = None
        self.records: list[dict[str, Any]] = []
        self.last: dict[str, Any] | None = None
        self._n_records, self._size, self._tail = 0, 0, b""
        self._creator: int | None = None  # process that has created the file
        self._file: Any = self._open_locked()
        self._release = finalize(self, _release_lock, self._file, os.getpid())
        self._release.atexit = False  # an evaluation may still end while Python exits
        _OPEN.add(self)
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def _open_locked(self) -> int:
        """Open and lock the journal file, retrying if another process has just replaced it."""
        while True:
            file, is_new = _open(self.path)
            self._creator = os.getpid() if is_new else None
            try:
                lock(file, self.path)
            except BaseException:
                os.close(file)
                raise
            if _is_at(self._place, file):
                return file
            os.close(file)

    def close(self) -> None:
        """Close the journal file and release its lock.

        A file without records is removed, unless it existed before or a forked process closes it.
        """
        is_unused = self._creator == os.getpid() and not self._n_records
        if self._file is not None and is_unused and _is_at(self._place, self._file):
            with suppress(OSError):  # an open file cannot be removed on Windows
                os.unlink(self._place)
        self._file = None
        self._release()

    def begin(self, header: dict[str, Any]) -> None:
        """Replace the content of the journal file by a header.

        Parameters
        ----------
        header : dict
            Header as JSON-compatible data. The name and version of the format are added.
        """
        header = {"journal": NAME, "version": VERSION, **header}
        os.ftruncate(self._usable_file(), 0)
        self._size, self._tail, self.records, self._n_records = 0, b"", [], 0
        self._write(header)
        self.header = header
        _sync_folder(self._place)

    def append(self, record: dict[str, Any]) -> None:
        """Append a record to the journal, and return when it is on disk.

        Parameters
        ----------
        record : dict
            Record as JSON-compatible data. The number of the record is added.

        Raises
        ------
        OSError
            If the record cannot be written. The file is then unchanged.
        RuntimeError
            If the journal is closed, as in a forked process, or was changed by another program.
        """
        self._usable_file()
        self._write({"n": self._n_records, **record}, record)

    def damaged(self, n: int, why: object = "") -> ValueError:
        """Return the error for a record that cannot be read, or for the header if n is -1."""
        return damage_error(self.path, n, why)

    def _usable_file(self) -> int:
        """Return the file descriptor of the open journal, or raise an error."""
        if self._file is None:
            raise RuntimeError(
                f"journal {self.path!r} is closed. A forked process cannot write to it either."
            )
        return self._file

    def _require_untouched(self) -> None:
        """Raise an error if the journal was changed, moved or closed by someone else."""
        with suppress(OSError):
            os.lseek(self._file, self._size - len(self._tail), os.SEEK_SET)
            is_same = os.read(self._file, len(self._tail)) == self._tail
            if is_same and _is_at(self._place, self._file):
                return
        raise RuntimeError(
            f"journal {self.path!r} was changed, moved or removed while it was in use. Evaluations "
            "after that are not in the file. Save the results attached to this exception, and "
            "continue with another path."
        )

    def _write(self, content: Any, record: Content | None = None) -> None:
        self._require_untouched()
        line, size = checked_line(content) + b"\n", self._size
        try:
            self._put(line, record)
        except Exception:
            with suppress(OSError):
                os.ftruncate(self._file, size)
            raise
        except BaseException:  # Ctrl-C: finish writing first
            if self._size == size:
                self._put(line, record)
            raise

    def _put(self, line: bytes, record: Content | None) -> None:
        os.ftruncate(self._file, self._size)  # remove the remains of an interrupted write
        _write_all(self._file, line, self._size)
        n, size = self._n_records + (record is not None), self._size + len(line)
        # in one statement, within which Ctrl-C is not raised
        self._size, self._tail, self._n_records, self.last = size, line[-TAIL:], n, record

    def _read(self) -> None:
        with open(self._file, "rb", closefd=False) as stream:
            content = stream.read()
        rule = "`journal` must not exist yet, or must be a journal written by an earlier search"
        lines = _whole_lines(content, f"{rule}: {self.path!r} is another file. Use another path.")
        if lines:
            self.header, *self.records = _parse(lines, self.path)
        self._n_records = len(self.records)
        whole = b"".join(line + b"\n" for line in lines)
        if len(whole) < len(content):
            os.ftruncate(self._file, len(whole))
        elif len(whole) > len(content):
            _write_all(self._file, b"\n", len(content))
        self._size, self._tail = len(whole), whole[-TAIL:]


def read_unlocked(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the header and records of a journal while another process may write to it.

    The file is neither locked nor changed. An incomplete last line is not read.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is not a journal, has another version or is damaged before its last line.
    """
    path = os.fsdecode(path)
    rule = f"`path` must be a journal, got {path!r}. Pass the path given as journal=."
    if "\0" in path or (os.path.exists(path) and not os.path.isfile(path)):
        raise ValueError(rule)
    with open(path, "rb") as stream:
        lines = _whole_lines(stream.read(), rule)
    if not lines:
        raise ValueError(rule)
    header, *records = _parse(lines, path)
    return header, records


def damage_error(path: str, n: int, why: object = "") -> ValueError:
    """Return the error for record n of a journal that cannot be read (-1: the header)."""
    remedy = "Restore a copy of the file"
    if n >= 0:
        remedy = "Delete it and all lines after it to resume from there"
    if isinstance(why, Exception) and not isinstance(why, ValueError):
        why = f"{type(why).__name__}: {why}"
    place = f"line {n + 2}{f' ({why})' if why else ''}"
    return ValueError(f"journal {path!r} is damaged in {place}. {remedy}, or use another path.")


def _whole_lines(content: Any, rule: str) -> list[bytes]:
    """Return the lines of a journal without an incomplete last line.

    If the file is not a journal, a ValueError with the message `rule` is raised.
    """
    lines = content.split(b"\n")
    torn = lines.pop()  # the text after the last newline
    first = lines[0] if lines else torn
    if not (first.startswith(BEGINNING) or (not lines and BEGINNING.startswith(first))):
        raise ValueError(rule)
    if read_checked_line(torn) is not None:  # only the newline is missing
        lines.append(torn)
    if len(lines) > 1 and b"\0\0" in lines[-1]:  # blocks that were not written to disk
        lines.pop()
    return lines


def _parse(lines: list[bytes], path: str) -> list[Any]:
    """Parse the header and records of a journal, and check version and checksums."""
    header, *records = map(read_checked_line, lines)
    version = VERSION_OF.match(lines[0])
    if version is not None and int(version[1]) != VERSION:
        raise ValueError(
            f"journal {path!r} has format version {int(version[1])}, but this release of "
            f"skbo_silbo writes version {VERSION}. Resume it with the release that wrote it, "
            "or use another path."
        )
    if header is None or (header["journal"], header.get("version")) != (NAME, VERSION):
        raise damage_error(path, -1)
    for i, record in enumerate(records):
        if record is None or record.get("n") != i:
            raise damage_error(path, i)
    return [header, *records]


_OPEN: WeakSet[Journal] = WeakSet()


def _close_in_fork() -> None:
    """Close inherited journals in a forked process.

    Otherwise, the lock would be kept after the death of the parent process.
    """
    for journal in list(_OPEN):
        journal.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_fork)


def _release_lock(file: int, process: int) -> None:
    with suppress(OSError):
        if os.getpid() == process:  # forked processes share the lock
            unlock(file)
        os.close(file)


def _open(path: str) -> tuple[int, bool]:
    """Open a file, and return its descriptor and whether it is new."""
    rule = "`journal` must be a regular file in an existing folder, and writable"
    is_new, flags = not os.path.exists(path), os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        file = os.open(path, flags, 0o666)
    except OSError as error:
        raise OSError(error.errno, f"{rule} ({error.strerror})", path) from error
    except ValueError as error:  # a null byte, or a character that cannot be encoded
        raise ValueError(f"{rule}, got {path!r}. Use another path.") from error
    if not stat.S_ISREG(os.fstat(file).st_mode):  # a device or a pipe
        os.close(file)
        raise ValueError(f"{rule}, got {path!r}. Use another path.")
    return file, is_new


def _is_at(path: str, file: int) -> bool:
    """Return whether an open file is still the file at the given path."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return os.path.samestat(os.stat(path), os.fstat(file))
    return False


def _write_all(file: int, content: Any, start: int) -> None:
    os.lseek(file, start, os.SEEK_SET)
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]
    os.fsync(file)


def _sync_folder(path: str) -> None:
    """Write the directory entry of a new file to disk, except on Windows."""
    if os.name == "nt":
        return
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def checked_line(content: dict[str, Any]) -> bytes:
    """Serialise a dict as one line of JSON with a checksum.

    Raises
    ------
    ValueError
        If the dict contains NaN or infinity, which JSON does not support.
    """
    line = json.dumps(content, allow_nan=False).encode()[:-1]
    return b'%s, "check": "%s"}' % (line, _checksum(line))


def read_checked_line(line: bytes) -> dict[str, Any] | None:
    """Parse a line written by `checked_line`, or return None if the line was changed."""
    checked = CHECKED.fullmatch(line)
    if checked is None or checked[2] != _checksum(checked[1]):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    content.pop("check")
    return content


def _checksum(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=8).hexdigest().encode()
