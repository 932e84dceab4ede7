"""Results on disk: a JSON line each, appended as soon as known."""

import json
import os
from pathlib import Path


class Store:
    """A file of results that survives being interrupted at any byte.

    Parameters
    ----------
    path : str or Path
        Made by the first `append`.
    """

    def __init__(self, path):
        self.path = Path(path)

    def read(self):
        """All results (list of dict); a torn last line is left out.

        Raises
        ------
        ValueError
            If a line before the last is no JSON object: the file is damaged, not interrupted.
        """
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")
        return [self._parse(line, number) for number, line in enumerate(lines[:-1], 1)]

    def append(self, result):
        """Write one result, after dropping a torn last line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write(json.dumps(result, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _parse(self, line, number):
        try:
            result = json.loads(line)
        except ValueError:
            result = None
        if not isinstance(result, dict):
            raise ValueError(
                f"{self.path} line {number} must be a JSON object: got {line[:60]!r}. "
                "Delete that line to measure its cell again."
            )
        return result
