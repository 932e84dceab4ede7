"""One worker on an Optuna study, in a process of its own."""

import sqlite3
import warnings

import optuna

from skbo_silbo.integrations import SILBOSampler


class Connection(sqlite3.Connection):
    """Does not wait for the disk, because no test cuts the power."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.execute("PRAGMA synchronous = OFF")


def open_storage(kind, place):
    """Return the storage of this kind: in a file, at a port of a proxy, or at an address."""
    if kind == "journal":
        backend = optuna.storages.journal.JournalFileBackend(str(place))
        return optuna.storages.JournalStorage(backend)
    if kind == "grpc":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            return optuna.storages.GrpcStorageProxy(host="127.0.0.1", port=int(place))
    if kind == "sqlite":
        options = {"timeout": 300, "factory": Connection}  # in seconds, for the lock of another
        engine = {"connect_args": options}
        return optuna.storages.RDBStorage(f"sqlite:///{place}", engine_kwargs=engine)
    return optuna.storages.RDBStorage(str(place))


def mixed(trial):
    """Parameters of every kind, all of them always there."""
    x, y = (trial.suggest_float(name, -5.0, 5.0) for name in "xy")
    n = trial.suggest_int("n", 1, 100, log=True)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    return (x - 1.0) ** 2 + (y + 2.0) ** 2 + 0.01 * abs(n - 20) + (kind is None)


def conditional(trial):
    """The objective of doc/optuna.rst."""
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    layers = trial.suggest_int("layers", 1, 4)
    loss = (layers - 2) ** 2 + abs(rate - 1e-3) ** 0.2
    if trial.suggest_categorical("optimizer", ["adam", "sgd"]) == "sgd":
        loss += 0.1 + trial.suggest_float("momentum", 0.0, 1.0) ** 2
    return loss


def wide(trial):
    """So many parameters that a proposal is thousands of characters."""
    return sum(trial.suggest_float(f"a parameter number {i}", -1.0, 1.0) ** 2 for i in range(70))


OBJECTIVES = {"mixed": mixed, "conditional": conditional, "wide": wide}


def optimize_study(begin, kind, place, name, n_trials):
    """Make trials of the shared study, once all processes are there."""
    begin.wait(300)
    warnings.simplefilter("error")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(
        study_name="shared", storage=open_storage(kind, place), sampler=SILBOSampler(seed=0)
    )
    study.optimize(OBJECTIVES[name], n_trials=n_trials)
