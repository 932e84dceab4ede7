"""Any sequence of asking, telling, cancelling, saving, loading and crashing, on any space."""

import json
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from fuzzing import in_parts, run_machine
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from scipy.stats import loguniform, norm, randint

from skbo_silbo import SILBO, Space
from skbo_silbo.baselines import RandomSearch
from skbo_silbo.optimizers import BeyondModelWarning
from skbo_silbo.space import SpaceExhausted, SpaceUnion, key_of

ends = st.floats(-1e300, 1e300, allow_subnormal=False) | st.sampled_from(
    [0.0, 1e-300, -1e-300, 1e300, 1.0, -5.0, 1e-8]
)
boxes = st.lists(st.tuples(ends, ends).map(sorted), min_size=1, max_size=3)
boxes = boxes.filter(lambda bounds: any(low < high for low, high in bounds))
parameters = st.sampled_from(
    [
        [1, 2, 3],
        [0.5, 1e-3],
        ["a", "b", None],
        [True, False],
        ["only"],
        [(1, 2), (3, 4), (5,)],
        randint(-3, 4),
        randint(0, 10**9),
        loguniform(1e-300, 1e300),
        norm(0, 1e-3),
    ]
)
dicts = st.dictionaries(st.sampled_from("abcd"), parameters, min_size=1, max_size=3)
spaces = boxes | dicts.map(Space) | st.lists(dicts, min_size=2, max_size=3).map(SpaceUnion)
values = (
    st.floats(-10, 10)
    | st.integers(0, 3).map(float)
    | st.sampled_from([np.nan, np.inf, -np.inf, 1e308, 5e-324, -1e308, np.finfo(float).max])
    | st.floats(allow_nan=True, allow_infinity=True)
)


class Machine(RuleBasedStateMachine):
    """An optimiser beside a plain list of what was asked and told."""

    kinds = (SILBO, RandomSearch)

    @initialize(
        kind=st.sampled_from(["SILBO", "RandomSearch"]),
        space=spaces,
        seed=st.integers(0, 3),
        journals=st.booleans(),
    )
    def start(self, kind, space, seed, journals):
        self.folder = tempfile.TemporaryDirectory()
        self.bounds, self.seed = space, seed
        self.path = Path(self.folder.name) / "run.jsonl" if journals and kind == "SILBO" else None
        self.kind = {"SILBO": SILBO, "RandomSearch": RandomSearch}[kind]
        self.optimizer = self.make()
        self.waiting, self.told = [], []  # points; (key, value)

    def make(self):
        if self.kind is RandomSearch:
            return RandomSearch(self.bounds, random_state=self.seed)
        return SILBO(
            self.bounds,
            embedding="identity",
            search="random",
            warp=None,
            n_initial=4,
            journal=self.path,
            random_state=self.seed,
        )

    def key(self, point):
        return key_of(self.optimizer.space_.encode([point])[0])

    def taken(self):
        return {key for key, _ in self.told} | {self.key(x) for x in self.waiting}

    @rule(n=st.integers(1, 3))
    def ask(self, n):
        taken = self.taken()
        left = self.optimizer.space_.n_points - len(taken)
        try:
            points = list(self.optimizer.ask(n))
        except SpaceExhausted:
            assert left < n or self.optimizer.space_.n_points > 100
            return
        keys = {self.key(x) for x in points}
        assert len(keys) == n
        assert not keys & taken
        self.waiting += points

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), value=values)
    def tell(self, data, value):
        x = self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))
        self._tell(x, value)

    @precondition(lambda self: self.told)
    @rule(data=st.data(), value=values, times=st.integers(1, 4))
    def tell_again(self, data, value, times):
        x = self.optimizer.x_iters_[data.draw(st.integers(0, len(self.told) - 1))]
        for _ in range(times):
            self._tell(x, value)

    @precondition(lambda self: self.waiting)
    @rule(value=values, reverse=st.booleans())
    def tell_all(self, value, reverse):
        points, self.waiting = self.waiting[:: -1 if reverse else 1], []
        for x in points:
            self._tell(x, value)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def cancel(self, data):
        x = self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))
        self.optimizer.cancel(x)
        with pytest.raises(ValueError, match="`x` must be pending"):
            self.optimizer.cancel(x)

    @precondition(lambda self: self.waiting)
    @rule()
    def ask_with_one_fixed(self):
        fixed = self._fix_one_of(self.waiting[-1])
        try:
            x = self.optimizer.ask(fixed=fixed)
        except SpaceExhausted:
            return
        assert all(x[name] == value or x[name] is value for name, value in fixed.items())
        self.waiting.append(x)

    @rule()
    def save_and_load(self):
        data = json.loads(json.dumps(self.optimizer.to_dict(), allow_nan=False))
        bounds = self.bounds if self.optimizer.space_.is_dict else None
        other = self.kind.from_dict(data, bounds=bounds)
        assert other.to_dict() == self.optimizer.to_dict()
        if self.path is None:
            self.optimizer = other

    @precondition(lambda self: self.path is not None)
    @rule(torn=st.binary(max_size=9).filter(lambda b: b"\n" not in b))
    def crash_and_go_on(self, torn):
        self.optimizer.close_journal()
        if os.path.exists(self.path):  # a journal without records is removed
            with open(self.path, "ab") as file:
                file.write(torn)
        self.optimizer = self.make()

    def _fix_one_of(self, point):
        if not self.optimizer.space_.is_dict:
            return {0: float(point[0])}
        name = next(iter(point))
        return {name: point[name]}

    def _tell(self, x, value):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BeyondModelWarning)
            self.optimizer.tell(x, value)
        key = self.key(x)
        self.told.append((key, value))
        self.waiting = [w for w in self.waiting if self.key(w) != key]

    @invariant()
    def nothing_is_lost(self):
        if not hasattr(self, "told"):
            return
        optimizer = self.optimizer
        np.testing.assert_array_equal(optimizer.func_vals_, [y for _, y in self.told])
        assert [self.key(x) for x in optimizer.x_iters_] == [key for key, _ in self.told]
        assert [self.key(x) for x in optimizer.pending_] == [self.key(x) for x in self.waiting]
        finite = [y for _, y in self.told if np.isfinite(y)]
        if finite:
            assert optimizer.best_y_ == min(finite)

    def teardown(self):
        if hasattr(self, "folder"):
            if self.kind is SILBO:
                self.optimizer.close_journal()
            self.folder.cleanup()


@in_parts
def test_any_sequence(part):
    run_machine(Machine, part, stateful_step_count=12)
