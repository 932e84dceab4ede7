"""A file of what an optimiser was asked and told, which survives being killed at any moment."""

import hashlib
import json
import os
import re
from contextlib import suppress

KIND, VERSION = "skbo_silbo optimizer", 1
CHECKED = re.compile(rb'(.*), "check": "([0-9a-f]{16})"\}', re.DOTALL)


class EventLog:
    """A header and numbered events, one JSON object a line, each on disk before `append` returns.

    Every line ends with a checksum of itself and is followed by ``fsync``. So only the last line
    can be torn, by a crash or a full disk, and only one that `append` has not returned from:
    opening drops it. Beside the file stands another, ``path + ".state"``, which is replaced as a
    whole: what was learnt by then. It saves thinking; without it nothing told is lost.

    The file is locked until `close` or the end of the process, by ``fcntl`` or on Windows
    ``msvcrt``; where a system has neither, keeping others away is left to the user.

    Parameters
    ----------
    path : str or path-like
        Made if it does not exist; its folder must.

    Attributes
    ----------
    header : dict or None
        None in a new file, until `begin`.
    events : list of dict
        As read when the file was opened.

    Raises
    ------
    RuntimeError
        If another optimiser has it open.
    ValueError
        If the file is no such file, is of another version or is damaged before its last line.
    """

    def __init__(self, path):
        self.path = os.fspath(path)
        self.header, self.events = None, []
        self._process = os.getpid()
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, 0o666)
        try:
            _lock(self._file, self.path)
            self._read()
        except BaseException:
            os.close(self._file)
            raise

    def begin(self, header):
        """Write the header of a new file: a dict of what JSON can hold."""
        header = {"journal": KIND, "version": VERSION, **header}
        self._write(header)
        self.header = header
        _sync_folder(self.path)

    def append(self, event):
        """Write an event; return when it is on disk.

        Parameters
        ----------
        event : dict
            What JSON can hold. Its number is added as ``"n"``.

        Raises
        ------
        OSError
            When it cannot be written: then the file is as it was before.
        RuntimeError
            In a process forked from the one that opened the file.
        """
        if os.getpid() != self._process:
            raise RuntimeError(
                f"journal {self.path!r} must be written by the process that opened it: this one "
                "was forked from it. Tell results to the optimiser of the first process."
            )
        self._write({"n": self._n, **event})
        self._n += 1

    def keep_state(self, state):
        """Replace what was learnt by now, a dict of what JSON can hold."""
        line = _with_check(_dumped({"n": self._n, "state": state}))
        name = self.path + ".state"
        with open(name + ".new", "wb") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name + ".new", name)

    def read_state(self):
        """Return how many events came before the state kept last, and the state; or (0, None)."""
        try:
            with open(self.path + ".state", "rb") as file:
                kept = _parse(file.read())
        except FileNotFoundError:
            return 0, None
        if kept is None or not 0 < kept.get("n", 0) <= len(self.events):
            return 0, None
        return kept["n"], kept["state"]

    def close(self):
        """Close the file; further events are refused."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, content):
        if self._file is None:
            raise RuntimeError(f"journal {self.path!r} must be open: it was closed.")
        line = _with_check(_dumped(content)) + b"\n"
        try:
            left = memoryview(line)
            os.lseek(self._file, self._size, os.SEEK_SET)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)

    def _read(self):
        content = _read_all(self._file)
        lines = content.split(b"\n")
        torn = lines.pop()  # what follows the last newline
        start = f'{{"journal": "{KIND}"'.encode()
        first = lines[0] if lines else torn
        if not (first.startswith(start) or (not lines and start.startswith(first))):
            raise ValueError(
                "journal must be a new file or the journal of an optimiser: "
                f"{self.path!r} holds something else. Give another path."
            )
        records = [_parse(line) for line in lines]
        if len(records) > 1 and records[-1] is None:  # its newline reached the disk, the rest not
            records.pop()
        if records:
            self.header, *self.events = self._checked(records)
        self._n = len(self.events)
        self._size = sum(len(line) + 1 for line in lines[: len(records)])
        if self._size < len(content):
            os.ftruncate(self._file, self._size)
            os.fsync(self._file)

    def _checked(self, records):
        header, *events = records
        for i, event in enumerate(events):
            if event is None or event.get("n") != i:
                raise ValueError(self._damaged(i + 2))
        if header is None:
            raise ValueError(self._damaged(1))
        if header["version"] != VERSION:
            raise ValueError(
                f"journal must be of version {VERSION}: {self.path!r} is of version "
                f"{header['version']}. Continue with the skbo_silbo that wrote it, or give another "
                "path."
            )
        return records

    def _damaged(self, line):
        return (
            f"journal must be as it was written: {self.path!r} is damaged in line {line}. Remove "
            "that line and all after it to continue from there, or give another path."
        )


def _lock(file, path):
    """Lock an open file for this process, where the system can."""
    try:
        import fcntl
    except ImportError:
        _lock_on_windows(file, path)
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RuntimeError(_in_use(path)) from error


def _lock_on_windows(file, path):
    try:
        import msvcrt
    except ImportError:
        return
    try:
        os.lseek(file, 2**40, os.SEEK_SET)  # a byte that nothing is written to
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        raise RuntimeError(_in_use(path)) from error


def _in_use(path):
    return (
        f"journal must be used by one optimiser at a time: {path!r} is in use. Wait for the other "
        "to end, or give another path."
    )


def _dumped(content):
    # allow_nan=False: any JSON reader can read the file.
    return json.dumps(content, allow_nan=False).encode()


def _with_check(line):
    return b'%s, "check": "%s"}' % (line[:-1], _check(line[:-1]))


def _check(line):
    return hashlib.blake2b(line, digest_size=8).hexdigest().encode()


def _parse(line):
    """Return the dict in a line without its checksum, or None if it is not as it was written."""
    checked = CHECKED.fullmatch(line)
    if checked is None or checked[2] != _check(checked[1]):
        return None
    return json.loads(checked[1] + b"}")


def _read_all(file):
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        return stream.read()


def _sync_folder(path):
    """Have the name of a new file on disk, too; a folder cannot be opened on Windows."""
    with suppress(PermissionError):
        folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
