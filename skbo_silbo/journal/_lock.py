"""A lock on an open file that ends with its process, so that none is ever stale."""

import os

PLACE = 2**31 - 2  # of the byte that is locked on Windows, the last that it can: beyond all lines


def lock(file, path, user, to_close=""):
    """Take the lock on an open file, without waiting.

    The lock is of the open file, not of the process: a second one in this process is refused too.
    It ends when the file is closed, also by the death of the process.

    Parameters
    ----------
    file : int
        Descriptor.
    path, user : str
        For messages: where the file is, and of whom one at a time may have it.
    to_close : str, default=""
        What lets go of it, for the message.

    Raises
    ------
    RuntimeError
        If another has the lock, or the system or its file system has no locks.
    """
    take = _posix_lock() or _windows_lock()
    if take is None:
        raise RuntimeError(
            "journal must be None on this system: it has neither fcntl.flock nor msvcrt.locking, "
            "without which two processes could write one file."
        )
    try:
        take(file)
    except (BlockingIOError, PermissionError) as error:
        raise RuntimeError(
            f"journal must be used by one {user} at a time: {path!r} is in use. "
            f"{to_close or f'Wait for the other {user} to end'}, or give another path."
        ) from error
    except OSError as error:
        raise RuntimeError(
            f"journal must be on a file system with locks: {path!r} cannot be locked ({error}). "
            "Give a path on another disk."
        ) from error


def unlock(file):
    """Give the lock back at once; on Windows it ends when the file is closed.

    A process forked a moment ago has the file open too, until it closes its copy, and with it the
    lock that was not given back.
    """
    fcntl = _fcntl()
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)


def is_windows():
    """Return whether files are those of Windows."""
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
        os.lseek(file, PLACE, os.SEEK_SET)  # locked bytes cannot be read, so none of the journal's
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)

    return take
