"""File locks that are released when their process ends, so that they are never stale."""

import os

PLACE = 2**31 - 2  # position of the byte locked on Windows, beyond all lines of the journal


def lock(file, path):
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
    take = _posix_lock() or _windows_lock()
    if take is None:
        raise RuntimeError(
            "`journal` must be None on this system, which has neither fcntl.flock nor "
            "msvcrt.locking: two processes could write the same file."
        )
    try:
        take(file)
    except (BlockingIOError, PermissionError) as error:
        raise RuntimeError(
            f"journal {path!r} is in use by another search or optimiser. Wait until it ends (or "
            "call close_journal() of the optimiser), or use another path."
        ) from error
    except OSError as error:
        raise RuntimeError(
            f"journal {path!r} cannot be locked ({error}). Use a path on another file system."
        ) from error


def unlock(file):
    """Unlock a file, even if a forked process still has it open.

    On Windows, the lock is released when the file is closed.
    """
    fcntl = _fcntl()
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)


def is_windows():
    """Return whether the operating system is Windows."""
    return os.name == "nt"


def _posix_lock():
    fcntl = _fcntl()
    return fcntl and (lambda file: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))


def _fcntl():
    try:
        import fcntl
    except ImportError:
        return None
    return fcntl


def _windows_lock():
    try:
        import msvcrt
    except ImportError:
        return None

    def take(file):
        os.lseek(file, PLACE, os.SEEK_SET)  # locked bytes cannot be read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)

    return take
