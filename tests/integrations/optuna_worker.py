"""One worker on an Optuna study, in a process of its own."""

import sys
import time

import optuna

from skbo_silbo.integrations import SILBOSampler


def open_storage(kind, path):
    """Return the storage of this kind, in a file."""
    if kind == "sqlite":
        return f"sqlite:///{path}"
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))


def objective(trial):
    """Return a value after a moment."""
    x, y = (trial.suggest_float(name, -5.0, 5.0) for name in "xy")
    n = trial.suggest_int("n", 1, 100, log=True)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    time.sleep(0.02)
    return (x - 1.0) ** 2 + (y + 2.0) ** 2 + 0.01 * abs(n - 20) + (kind is None)


def main():
    kind, path, n_trials = sys.argv[1], sys.argv[2], int(sys.argv[3])
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(
        study_name="shared", storage=open_storage(kind, path), sampler=SILBOSampler(seed=0)
    )
    print("ready", flush=True)
    sys.stdin.readline()  # all workers begin at once
    study.optimize(objective, n_trials=n_trials)


if __name__ == "__main__":
    main()
