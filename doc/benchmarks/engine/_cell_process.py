"""Measure one cell in a process of its own, with one thread and under the caps of its experiment.

The processes are forks of a server that has imported the package and done nothing else, so that a
cell pays for no import of what every cell needs.
"""

import os
import resource
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from functools import cache
from multiprocessing import forkserver, get_context
from pathlib import Path
from unittest.mock import patch

from ._environment import THREAD_VARIABLES

PROGRAM = "benchmarks.__main__"  # what the server imports before it forks


@cache
def fork_server():
    """Return the context of the server, which is started with one thread a library."""
    context = get_context("forkserver")
    context.set_forkserver_preload([PROGRAM])
    surroundings = dict.fromkeys((*THREAD_VARIABLES, "NUMBA_NUM_THREADS"), "1")
    surroundings["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    with patch.dict(os.environ, surroundings):
        forkserver.ensure_running()
    return context


def measure_apart(experiment, cell):
    """Return the outcome of a cell: "ok", "failed" or "capped", with what was measured or why.

    Parameters
    ----------
    experiment : Experiment
        Travels to the process, so its functions must be found by name in their modules.
    cell : Cell
    """
    receiver, sender = fork_server().Pipe(duplex=False)
    with tempfile.NamedTemporaryFile() as words:
        process = fork_server().Process(target=_serve, args=(sender, words.name, experiment, cell))
        let_through = _start(process)
        try:
            let_through()
            sender.close()
            if not receiver.poll(experiment.cap_seconds):
                return {"status": "capped", "reason": f"more than {experiment.cap_seconds} s"}
            return receiver.recv()
        except EOFError:
            process.join()
            return _last_words(process.exitcode, words.name)
        finally:
            process.kill()
            process.join()
            receiver.close()


def _start(process):
    """Start a process with Ctrl-C kept waiting; return what lets it through again.

    One that is interrupted while it begins prints a traceback of its own. A mask would not do: any
    other thread, as of BLAS, may take the signal, which Python raises in this one all the same.
    """
    if threading.current_thread() is not threading.main_thread():  # Ctrl-C is never raised here
        process.start()
        return lambda: None
    came = []
    former = signal.signal(signal.SIGINT, lambda *_: came.append(True))

    def let_through():
        signal.signal(signal.SIGINT, former)
        if came:
            signal.raise_signal(signal.SIGINT)

    try:
        process.start()
    except BaseException:
        signal.signal(signal.SIGINT, former)
        raise
    return let_through


def _serve(sender, words, experiment, cell):
    """Measure in this process; what is printed goes to the file `words`."""
    try:
        file = os.open(words, os.O_WRONLY)
    except FileNotFoundError:  # who asked was interrupted meanwhile, and waits no more
        return
    for stream in (sys.stdout, sys.stderr):
        os.dup2(file, stream.fileno())
    limit = experiment.cap_mib * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sender.send(measure_cell(experiment, cell))


def _last_words(code, words):
    said = Path(words).read_text(errors="replace").strip().rsplit("\n", 1)[-1]
    return {"status": "failed", "reason": f"exit code {code}: {said}"[:300]}


def measure_cell(experiment, cell):
    """Return the outcome of a cell measured here: "ok" with values, or "failed" with the reason."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            measured = experiment.measure(cell.problem, cell.method, cell.repeat)
        except Exception as error:  # every failure of a cell is a result, and named
            traceback.print_exc()
            return {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:300]}
    said = sorted({f"{w.category.__name__}: {w.message}"[:200] for w in caught})
    return {"status": "ok", **measured} | ({"warnings": said} if said else {})
