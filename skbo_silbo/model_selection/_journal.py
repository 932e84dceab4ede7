"""A file of JSON lines that survives being killed at any moment, and knows when it is damaged."""

import hashlib
import json
import os
import re

from skbo_silbo.model_selection._lock import is_windows, lock

MAGIC = b'{"journal": "skbo_silbo"'  # how every first line begins
VERSION = 2
READ = (1, 2)  # versions; in the first, lines have no checksum
CHECKED = re.compile(rb'(.*), "check": "([0-9a-f]{16})"\}', re.DOTALL)


class Journal:
    """A header and numbered records, one JSON object a line, each on disk before `append` returns.

    To be used in a ``with`` statement, which holds a lock on the file: a second journal on the
    same path, of this process or another, is refused. The lock ends with its process.

    Every line is written by one call and followed by ``fsync``. So only the last line can be torn,
    by a crash or a full disk, and only one that `append` has not returned from: opening drops it.
    Every line ends with a checksum of itself, by which damage that is still JSON is found.

    Parameters
    ----------
    path : str or path-like
        Made if it does not exist; its folder must.

    Attributes
    ----------
    header : dict or None
        None in a new file, until `begin`.
    records : list of dict
        As read when the file was opened.

    Raises
    ------
    RuntimeError
        If another journal is open on the path, or the system has no lock for files.
    ValueError
        If the file is not a journal, is of another version or is damaged before its last line.

    Notes
    -----
    Files of version 1, without checksums, are read, and what is appended to them has one.
    """

    def __init__(self, path):
        self.path = os.fspath(path)
        self.header, self.records = None, []

    def __enter__(self):
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, 0o666)
        try:
            lock(self._file, self.path)
            self._read()
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(self, *error):
        os.close(self._file)

    def begin(self, header):
        """Write the header of a new file.

        Parameters
        ----------
        header : dict
            What JSON can hold; its ``"journal"`` and ``"version"`` are added here.
        """
        self.header = {"journal": "skbo_silbo", "version": VERSION, **header}
        self._write(self.header)
        _sync_folder(self.path)

    def append(self, record):
        """Write a record; return when it is on disk.

        Parameters
        ----------
        record : dict
            What JSON can hold. Its place in the file is added as ``"candidate"``.
        """
        record = {"candidate": len(self.records), **record}
        self._write(record)
        self.records.append(record)

    def _write(self, content):
        # allow_nan=False: what is not a number has been written as text, so that any JSON reader
        # can read the file.
        left = memoryview(_with_checksum(json.dumps(content, allow_nan=False).encode()) + b"\n")
        while left:
            left = left[os.write(self._file, left) :]
        os.fsync(self._file)

    def _read(self):
        lines = _read_all(self._file).split(b"\n")
        torn = lines.pop()  # what follows the last newline
        first = lines[0] if lines else torn
        if not (first.startswith(MAGIC) or (not lines and MAGIC.startswith(first))):
            raise ValueError(_not_a_journal(self.path))
        contents = _parse_all(lines)
        if len(contents) > 1 and contents[-1] is None:  # a newline reached the disk, the rest not
            contents.pop()
        if contents:
            self.header, *self.records = self._checked(contents)
        self._cut(sum(len(line) + 1 for line in lines[: len(contents)]))

    def _checked(self, contents):
        header, *records = contents
        if header is None:
            raise ValueError(
                f"journal must begin with a whole line: {self.path!r} is damaged there. Put back a "
                "copy of the file, or give another path."
            )
        if header.get("version") not in READ:
            raise ValueError(
                f"journal must be of version {VERSION}: {self.path!r} is of version "
                f"{header.get('version')}. Continue with the skbo_silbo that wrote it, or give "
                "another path."
            )
        for i, record in enumerate(records):
            if record is None or record.get("candidate") != i:
                raise ValueError(damaged(self.path, i))
        return [{k: v for k, v in c.items() if k != "check"} for c in contents]

    def _cut(self, size):
        """Drop what follows the last whole line."""
        if os.fstat(self._file).st_size > size:
            os.ftruncate(self._file, size)
            os.fsync(self._file)


def _read_all(file):
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        return stream.read()


def _with_checksum(line):
    return b'%s, "check": "%s"}' % (line[:-1], _checksum(line[:-1]))


def _checksum(line):
    return hashlib.blake2b(line, digest_size=8).hexdigest().encode()


def _parse_all(lines):
    """Return what each line holds, None where it is damaged; only version 1 has no checksums."""
    contents = [_parse(line) for line in lines]
    if contents and contents[0] is not None and contents[0].get("version") == 1:
        return contents
    return [content if content and "check" in content else None for content in contents]


def _parse(line):
    """Return the dict in a line, or None if it is not whole or not as it was written."""
    checked = CHECKED.fullmatch(line)
    if checked and checked[2] != _checksum(checked[1]):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def damaged(path, i):
    """Return what to say of a file whose record `i` is not as it was written."""
    return (
        f"journal must have candidate {i} in line {i + 2}: {path!r} is damaged there. Remove that "
        "line and all after it to continue from there, or give another path."
    )


def _not_a_journal(path):
    return (
        f"journal must be a new file or a journal of SILBOSearchCV: {path!r} holds something else. "
        "Give another path."
    )


def _sync_folder(path):
    """Have the name of a new file on disk, too; Windows opens no folders."""
    if is_windows():
        return
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
