"""A command that is stopped by Ctrl-C where it says that it is: it opens the pipe ``here``."""

import os
import select
import signal
import subprocess
import sys

HANG = 300  # seconds


def interrupt(words, folder, **environment):
    """Run Python with words in a folder until it waits; return its code, and what it said."""
    os.mkfifo(folder / "here")
    here = os.open(folder / "here", os.O_RDONLY | os.O_NONBLOCK)
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert select.select([here], [], [], HANG)[0]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to its children too
        _, told = process.communicate(timeout=HANG)
    finally:
        os.close(here)
        process.kill()
        process.wait()
    return process.returncode, told
