"""File locks that are released when their process ends, so that they are never stale."""

import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:
    msvcrt = None  # type: ignore[assignment]

PLACE = 2**31 - 2  # position of the byte locked on Windows, beyond all lines of the journal


def lock(file: int, path: str) -> None:
    """Lock an open file without waiting.

    The lock belongs to the open file, not to the process: a second journal in this process is
    rejected too. Closing the file, or the death of the process, releases it.

    Parameters
    ----------
    file : int
        File descriptor of the open file.
    path : str
        Path of the file, used in error messages.

    Raises
    ------
    RuntimeError
        If the file is already locked, or if the system or file system does not support locks.
    """
    if fcntl is None and msvcrt is None:
        raise RuntimeError(
            "`journal` must be None on this system, which has neither fcntl.flock nor "
            "msvcrt.locking: two processes could write the same file."
        )
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            os.lseek(file, PLACE, os.SEEK_SET)  # locked bytes cannot be read
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            os.lseek(file, 0, os.SEEK_SET)
    except (BlockingIOError, PermissionError) as error:
        raise RuntimeError(
            f"journal {path!r} is in use by another search or optimiser. Wait until it ends (or "
            "call close_journal() of the optimiser), or use another path."
        ) from error
    except OSError as error:
        raise RuntimeError(
            f"journal {path!r} cannot be locked ({error}). Use a path on another file system."
        ) from error


def unlock(file: int) -> None:
    """Unlock a file, even if a forked process still has it open.

    On Windows, the lock is released when the file is closed.
    """
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)
