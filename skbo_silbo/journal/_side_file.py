"""A file beside a journal that is replaced as a whole."""

import os
from contextlib import suppress
from typing import Any

from skbo_silbo.journal._checked_lines import checked_line, read_checked_line


class SideFile:
    """One dict on disk, of which there is always a whole version: the last, or the one before.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)  # whatever the folder of the process is later

    def write(self, content: dict[str, Any]) -> None:
        """Replace what is there; return when it is on disk."""
        new = self.path + ".new"
        with open(new, "wb") as file:
            file.write(checked_line(content))
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path)

    def read(self) -> dict[str, Any] | None:
        """Return the dict written last; None without one, or if it is damaged."""
        try:
            with open(self.path, "rb") as file:
                return read_checked_line(file.read())
        except FileNotFoundError:
            return None

    def remove(self) -> None:
        """Remove the file, if there is one."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)
