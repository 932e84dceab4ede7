"""SILBOSampler in several processes on the storages that Optuna has: nothing lost or doubled."""

import os
import shutil
import socket
import subprocess
from contextlib import contextmanager
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from threading import Thread

import pytest

optuna = pytest.importorskip("optuna")

from optuna.trial import TrialState  # noqa: E402
from optuna_worker import open_storage, optimize_study  # noqa: E402

N_TRIALS = {"mixed": 16, "conditional": 32, "wide": 20}
SLOW = pytest.mark.slow
POSTGRES = ("initdb", "pg_ctl", "createdb")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def files(kind, folder):
    yield folder / "study"


@contextmanager
def grpc_proxy(kind, folder):
    pytest.importorskip("grpc")
    storage, port = open_storage("sqlite", folder / "study"), free_port()
    server = optuna.storages._grpc.server.make_server(storage, "127.0.0.1", port)
    Thread(target=server.start).start()
    try:
        yield port
    finally:
        server.stop(None)


@contextmanager
def postgres(kind, folder):
    """A database of our own, by Debian's programs; these refuse root."""
    pytest.importorskip("psycopg")
    paths = [os.environ.get("PATH", ""), *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
    found = {name: shutil.which(name, path=os.pathsep.join(paths)) for name in POSTGRES}
    if None in found.values():
        pytest.skip(f"needs {', '.join(POSTGRES)}: Debian's package postgresql")
    user = (
        [] if os.geteuid() else ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    )
    home, port = Path("/tmp") / f"skbo_silbo_{os.getpid()}_{folder.name}", free_port()

    def run(name, *args):
        command = [*user, found[name], *map(str, args)]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)

    home.mkdir()
    home.chmod(0o777)
    try:
        run("initdb", "-D", home / "data", "-A", "trust", "-U", "silbo")
        options = f"-p {port} -k {home} -c listen_addresses=127.0.0.1"
        run("pg_ctl", "-D", home / "data", "-w", "-o", options, "-l", home / "log", "start")
        try:
            run("createdb", "-h", "127.0.0.1", "-p", port, "-U", "silbo", "study")
            yield f"postgresql+psycopg://silbo@127.0.0.1:{port}/study"
        finally:
            run("pg_ctl", "-D", home / "data", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


PLACES = {"sqlite": files, "journal": files, "grpc": grpc_proxy, "postgres": postgres}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "objective", "n_workers"),
    [
        ("sqlite", "mixed", 2),
        pytest.param("journal", "conditional", 2, marks=SLOW),
        *(
            pytest.param(kind, objective, n, marks=SLOW)
            for kind, n in (("sqlite", 2), ("journal", 4))
            for objective in N_TRIALS
        ),
        *(
            pytest.param(kind, objective, n, marks=SLOW)
            for kind in ("grpc", "postgres")
            for objective in N_TRIALS
            for n in (2, 4)
        ),
    ],
)
def test_processes_on_one_study_lose_and_double_nothing(tmp_path, kind, objective, n_workers):
    n_each = N_TRIALS[objective] // n_workers
    with PLACES[kind](kind, tmp_path) as place:
        storage = open_storage(kind, place)
        study = optuna.create_study(study_name="shared", storage=storage)
        run_workers(n_workers, kind, place, objective, n_each)
        trials = study.get_trials()
        if isinstance(storage, optuna.storages.RDBStorage):
            storage.remove_session()
            storage.engine.dispose()  # closes its connections
    assert [trial.number for trial in trials] == list(range(n_workers * n_each))
    assert all(trial.state == TrialState.COMPLETE for trial in trials)
    points = {tuple(sorted(trial.params.items(), key=str)) for trial in trials}
    assert len(points) == len(trials)


def run_workers(n_workers, *args):
    """Run the workers, each in a process of its own; all begin at once."""
    context = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
    args = context.Barrier(n_workers), *args
    workers = [context.Process(target=optimize_study, args=args) for _ in range(n_workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
