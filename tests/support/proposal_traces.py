"""Seeded proposals for each kind of search space, compared with stored ones.

After an intended change, add the change to ``[[changes]]`` in ``doc/benchmarks/registry.toml`` and
store the new proposals::

    PYTHONPATH=tests/support:doc python -m proposal_traces
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import LinearConstraint
from scipy.stats import loguniform, randint, uniform
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from benchmarks.registry import read_registry
from skbo_silbo import SILBOSearchCV, minimize
from skbo_silbo.optimizers import SILBO

STORED = Path(__file__).with_suffix(".json")
N_PROPOSALS = 2  # after the initial design; later proposals depend on the processor's last digits
MIXED = {"x": uniform(-1, 2), "n": randint(1, 9), "kind": ["a", "b", "c"]}
CONDITIONAL = [{"kind": ["a"], "x": uniform()}, {"kind": ["b"], "y": uniform(), "z": uniform()}]
LABELS = np.tile([0, 1], 15)
ROWS = np.random.default_rng(0).normal(size=(30, 2)) + LABELS[:, None]


def loss_of(point):
    """Return a smooth loss of an array or a dict, which has no ties."""
    if not isinstance(point, dict):
        return float(np.sum((np.asarray(point)[:3] - 0.3) ** 2))
    numbers = [value for value in point.values() if not isinstance(value, str)]
    return sum((value - 0.3) ** 2 for value in numbers) + (point.get("kind") == "b")


def ask(space, **options):
    """Return the initial design and some proposals of the default optimiser."""
    optimizer = SILBO(space, random_state=0, **options)
    points = []
    for _ in range(optimizer.n_initial_ + N_PROPOSALS):
        points.append(optimizer.ask())
        optimizer.tell(points[-1], loss_of(points[-1]))
    return points


def learnt_constraint():
    """Return proposals with a constraint whose value is observed."""
    optimizer = SILBO([(-1, 1)] * 3, random_state=0)
    points = []
    for _ in range(optimizer.n_initial_ + N_PROPOSALS):
        points.append(optimizer.ask())
        x = points[-1]
        optimizer.tell(x, loss_of(x), constraints=[float(x[0] + x[1])])
    return points


def search(model, space, score=None, **options):
    """Return the candidates of a search whose scores depend on the parameters only."""
    found = SILBOSearchCV(
        model, space, cv=KFold(2), random_state=0, scoring=score, error_score=0.0, **options
    )
    return found.fit(ROWS, LABELS).cv_results_["params"]


def score_of(model, X, y):
    """Return a score that depends on the parameter C only."""
    return -abs(np.log10(model.C) - 0.5)


def conditional_search():
    """Return candidates for a list of dicts."""
    space = [
        {"kernel": ["linear"], "C": loguniform(1e-3, 1e3)},
        {"kernel": ["poly"], "degree": [2, 3], "C": loguniform(1e-1, 1e1)},
    ]
    return search(SVC(), space, score_of, n_iter=12)


KINDS = {  # scope of the changes, and the function that returns the proposals
    "box": ("continuous search", lambda: ask([(-1, 1)] * 3)),
    "box of 30": ("continuous search", lambda: ask([(-1, 1)] * 30)),
    "box of 120": ("continuous search", lambda: ask([(-1, 1)] * 120)),
    "linear inequality": (
        "continuous search",
        lambda: (
            minimize(
                loss_of,
                [(0, 1)] * 3,
                constraints=LinearConstraint(np.ones(3), -np.inf, 1),
                n_calls=10,
                random_state=0,
            ).x_iters
        ),
    ),
    "learnt constraint": ("continuous search", learnt_constraint),
    "mixed": ("mixed search", lambda: ask(MIXED)),
    "conditional": ("mixed search", lambda: ask(CONDITIONAL)),
    "known candidates": ("tuning", lambda: search(SVC(), "auto", score_of, n_iter=12)),
    "conditional search": ("tuning", conditional_search),
    "several objectives": (
        "tuning",
        lambda: search(
            SVC(),
            {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-3, 1e3)},
            {"a": score_of, "b": lambda model, X, y: -abs(np.log10(model.C) + 1)},
            n_iter=12,
            refit=["a", "b"],
        ),
    ),
}


def as_data(points):
    """Return points as JSON values, numbers with four digits."""
    return [
        {name: _as_value(value) for name, value in sorted(point.items())}
        if isinstance(point, dict)
        else [_as_value(value) for value in np.ravel(point)[:5]]
        for point in points
    ]


def _as_value(value):
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return float(f"{float(value):.4g}") if is_number else str(value)


def differ(new, old):
    """Whether two traces differ by more than the last digits of a processor explain."""
    if isinstance(new, float) and isinstance(old, float):
        return not np.isclose(new, old, rtol=0.02, atol=2e-3)
    if isinstance(new, dict) and isinstance(old, dict):
        return new.keys() != old.keys() or any(differ(new[name], old[name]) for name in new)
    if isinstance(new, list) and isinstance(old, list):
        return len(new) != len(old) or any(map(differ, new, old))
    return new != old


def n_entries(scope):
    """Return the number of changes of a scope in the registry."""
    return sum(scope in change["scopes"] for change in read_registry()["changes"])


def main():
    """Store today's proposals. A trace that has changed needs one more entry in the registry."""
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    for kind, (scope, make) in KINDS.items():
        points, count = as_data(make()), n_entries(scope)
        old = stored.get(kind)
        if old is None:
            stored[kind] = {"entries": count, "points": points}
        elif differ(points, old["points"]):
            stored[kind] = {"entries": min(old["entries"], count) + 1, "points": points}
            print(f"{kind}: proposals changed; the registry needs an entry for {scope!r}.")
    lines = [f" {json.dumps(kind)}: {json.dumps(stored[kind])}" for kind in KINDS]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
