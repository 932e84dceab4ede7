"""Random histories through a file layer that fails: nothing told is lost, doubled or changed."""

import os
import warnings

import numpy as np
import pytest

from skbo_silbo import SILBO

BOUNDS = [(0.0, 1.0)] * 2
FAULTS = ["none", "full", "Ctrl-C before", "Ctrl-C behind"]


class Layer:
    """`os.fsync` that raises at one of its next calls."""

    def __init__(self, fsync):
        self._fsync, self.fault, self.calls = fsync, "none", 0

    def __call__(self, file):
        self.calls -= 1
        fault = self.fault if self.calls == 0 else "none"
        if fault == "full":
            raise OSError(28, "No space left on device")
        if fault == "Ctrl-C before":
            raise KeyboardInterrupt
        self._fsync(file)
        if fault == "Ctrl-C behind":
            raise KeyboardInterrupt


class History:
    """An optimiser with a journal, and what it was told."""

    def __init__(self, path, layer, rng):
        self.path, self.layer, self.rng, self.told = path, layer, rng, []
        self.open()

    def open(self):
        self.optimizer = self.another()

    def another(self):
        """Return an optimiser of as many first points as a history can have: it learns nothing."""
        return SILBO(BOUNDS, journal=self.path, design="random", n_initial=999, random_state=0)

    def step(self):
        actions = [self.ask, self.tell, self.tell, self.cancel, self.second, self.kill, self.spoil]
        self.layer.fault = self.rng.choice(FAULTS, p=[0.7, 0.1, 0.1, 0.1])
        self.layer.calls = int(self.rng.integers(1, 3))
        try:
            self.rng.choice(actions)()
        except (OSError, KeyboardInterrupt):
            pass
        finally:
            self.layer.fault = "none"

    def one_of(self, *contents):
        return contents[int(self.rng.integers(len(contents)))]

    def ask(self):
        self.optimizer.ask(int(self.rng.integers(1, 3)))

    def tell(self):
        pending = self.optimizer.pending_
        x = pending[0] if len(pending) and self.rng.random() < 0.7 else self.rng.uniform(size=2)
        y = float(self.rng.choice([self.rng.normal(), np.nan, np.inf, 2.0**70]))
        self.told.append((*x, y))
        self.optimizer.tell(x, y)

    def cancel(self):
        if len(self.optimizer.pending_):
            self.optimizer.cancel(self.optimizer.pending_[0])

    def second(self):
        with pytest.raises(RuntimeError, match="in use"):
            self.another()

    def spoil(self):
        """Have something else write into the file."""
        content = self.path.read_bytes()
        at = int(self.rng.integers(len(content) + 1))
        self.path.write_bytes(self.one_of(content[:at], b"", content + b"more\n"))

    def kill(self):
        """End as by SIGKILL: with what is on disk, and perhaps a part of a line more."""
        self.layer.fault = "none"
        self.optimizer.ask()  # what was not is written, what was spoilt written anew
        kept = self.path.read_bytes()
        self.optimizer.close_journal()
        line = b'{"n": 99, "told": [[0.5, 0.5]], "y": [1.0], "noise_std": [null], "check": "0'
        torn = line[: int(self.rng.integers(len(line)))]
        self.path.write_bytes(kept + self.one_of(b"", torn, torn + b"\0\0\0\n"))
        self.open()
        self.check()

    def check(self):
        told = np.column_stack([self.optimizer.x_iters_, self.optimizer.func_vals_])
        np.testing.assert_array_equal(told, np.reshape(self.told, (-1, 3)))


def run(folder, monkeypatch, seeds):
    layer = Layer(os.fsync)
    monkeypatch.setattr(os, "fsync", layer)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        history = History(folder / f"{seed}.jsonl", layer, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of files written into
            for _ in range(rng.integers(5, 30)):
                history.step()
            history.kill()


def test_random_histories(tmp_path, monkeypatch):
    run(tmp_path, monkeypatch, range(40))


@pytest.mark.slow
def test_ten_thousand_random_histories(tmp_path, monkeypatch):
    run(tmp_path, monkeypatch, range(40, 10_040))
