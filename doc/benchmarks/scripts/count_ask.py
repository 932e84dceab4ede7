"""Trace what one step enters: the table and the call chains of doc/architecture.rst.

The functions of ours that are entered, the files that they stand in, and how many of them are open
inside one another at most: for proposals of the optimiser, for one evaluation of `minimize` (from
one call of the objective to the next), for one candidate of a search (from its first fit to that of
the next), for a search resumed from its journal with one new candidate, and for the fit of a
transformer. Beside another revision, and to write the table and the chains::

    python doc/benchmarks/scripts/count_ask.py --against 1520527 --write
"""

import csv
import json
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np
from checkout import TABLES
from revisions import PROBE, arguments, columns_of, probed
from sklearn.linear_model import LogisticRegression

TABLE = TABLES / "ask.csv"
CHAINS = TABLES / "chains"
COUNTS = ("functions", "files", "depth")
BOUNDS, AT, N_FOLDS = [(-1, 1)] * 30, 36, 3  # which evaluation or candidate is looked at


def cost(x):
    """Two inputs of thirty matter."""
    return (x[0] - 0.3) ** 2 + np.sin(3 * x[4])


def observed(n, **options):
    """Return an optimiser of 30 inputs that has n observations."""
    from skbo_silbo import SILBO

    optimizer = SILBO(BOUNDS, random_state=0, **options)
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, cost(x))
    return optimizer


def pending(n_observed, n_pending):
    """Return an optimiser with points pending, and nothing observed since they were proposed."""
    optimizer = observed(n_observed)
    optimizer.ask(n_pending)
    return optimizer


class Entered:
    """Which functions of ours are entered between `start` and `stop`, and how deep.

    Attributes
    ----------
    functions : set of (str, str)
        File and name.
    deepest : int
        Functions of ours open at once, those that were open at the start included.
    chain : list of (int, str, str)
        Depth, name and file of every call, comprehensions excepted.
    """

    def __init__(self):
        import skbo_silbo

        self.folder = str(Path(skbo_silbo.__file__).parent)
        self.functions, self.deepest, self.chain = set(), 0, []

    def start(self):
        """Begin, with the functions that are open counted for the depth."""
        frame, self._depth = sys._getframe(1), 0
        while frame is not None:
            self._depth += self._is_ours(frame)
            frame = frame.f_back
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def stop(self):
        """End."""
        sys.setprofile(None)
        threading.setprofile(None)

    def counts(self):
        """Return the numbers of functions and files, and the greatest depth."""
        return len(self.functions), len({file for file, _ in self.functions}), self.deepest

    def _is_ours(self, frame):
        return frame.f_code.co_filename.startswith(self.folder)

    def _note(self, frame, event, _):
        if event in ("call", "return") and self._is_ours(frame):
            file, name = frame.f_code.co_filename, frame.f_code.co_qualname
            self.functions.add((file, name))
            if event == "call" and ">" not in name:
                self.chain.append((self._depth, name, file[len(self.folder) + 1 :]))
            self._depth += 1 if event == "call" else -1
            self.deepest = max(self.deepest, self._depth)


def entered_by(run):
    """Return what a call enters."""
    entered = Entered()
    entered.start()
    try:
        run()
    finally:
        entered.stop()
    return entered


def one_ask(make):
    """Return a function that counts one proposal of the optimiser that `make` gives."""
    return lambda: entered_by(make().ask)


def one_evaluation():
    """Count what stands between two calls of the objective of `minimize`."""
    from skbo_silbo import minimize

    entered, calls = Entered(), []

    def counted(x):
        entered.stop()
        calls.append(x)
        value = cost(x)
        if len(calls) == AT:
            entered.start()
        return value

    minimize(counted, BOUNDS, n_calls=AT + 5, random_state=0)
    return entered


class CountedModel(LogisticRegression):
    """A model that says when it is fitted."""

    fitted = None  # called before every fit

    def fit(self, X, y):
        """Say so, and fit."""
        type(self).fitted()
        return super().fit(X, y)


def tuned(n_iter, **options):
    """Fit a search of two parameters."""
    from scipy.stats import loguniform
    from sklearn.datasets import load_iris

    from skbo_silbo import SILBOSearchCV

    space = {"C": loguniform(1e-3, 1e3), "tol": loguniform(1e-5, 1e-2)}
    options |= {"n_iter": n_iter, "cv": N_FOLDS, "random_state": 0, "refit": False}
    SILBOSearchCV(CountedModel(max_iter=5000), space, **options).fit(*load_iris(return_X_y=True))


def one_candidate():
    """Count what stands between the first fit of a candidate and that of the next."""
    entered, fits = Entered(), []

    def fitted():
        entered.stop()
        fits.append(None)
        if N_FOLDS * (AT - 1) < len(fits) <= N_FOLDS * AT:
            entered.start()

    CountedModel.fitted = fitted
    tuned(AT + 5)
    return entered


def one_resumed_fit():
    """Count a fit that takes all but one of its candidates from a journal."""
    CountedModel.fitted = lambda: None
    with tempfile.TemporaryDirectory() as folder:
        journal = f"{folder}/search.jsonl"
        tuned(15, journal=journal)
        return entered_by(lambda: tuned(16, journal=journal))


def one_transformer_fit():
    """Count a fit of 100 labelled and 200 unlabelled samples."""
    from skbo_silbo import SemiSlicedInverseRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    y[100:] = np.nan
    return entered_by(lambda: SemiSlicedInverseRegression().fit(X, y))


STEPS = {
    "``ask``, the 37th: hyperparameters as they were": one_ask(lambda: observed(36)),
    "``ask``, the first of a model: scale and hyperparameters are searched": one_ask(
        lambda: observed(11)
    ),
    '``ask``, the 20th with ``embedding="semi-sir"``': one_ask(
        lambda: observed(19, embedding="semi-sir")
    ),
    "``ask``, the 20th with three points pending": one_ask(lambda: pending(19, 3)),
    "one evaluation of ``minimize``": one_evaluation,
    "one candidate of ``SILBOSearchCV``": one_candidate,
    "a search resumed from its journal with one new candidate": one_resumed_fit,
    "``SemiSlicedInverseRegression.fit`` with unlabelled samples": one_transformer_fit,
}
# file: step, how deep the chain goes, and functions whose chain is in another file
ASK, TELL = "AskTellOptimizer.ask", "AskTellOptimizer.tell"
SHOWN = {
    "evaluation.txt": (one_evaluation, 6, ()),
    "candidate.txt": (one_candidate, 5, (ASK, TELL)),
    "resumed.txt": (one_resumed_fit, 3, (ASK, TELL)),
}


def chain(step, depth, closed):
    """Return the functions that a step enters as text, in order and indented by who calls them."""
    lines, seen, hidden = [], set(), np.inf
    calls = step().chain
    start = min(level for level, *_ in calls)
    callers = []  # open ones that are not among the lines as yet
    for level, name, file in calls:
        if level > hidden or level - start >= depth:
            continue
        hidden = level if name in closed else np.inf
        line = f"{'  ' * (level - start) + name:<55} {file}"
        callers = [caller for caller in callers if caller[0] < level]
        if (file, name) in seen:
            callers.append((level, line))
            continue
        lines += [*(text for _, text in callers), line]
        callers = []
        seen.add((file, name))
    return "\n".join(lines) + "\n"


def all_chains():
    """Return the text of every call chain, by its file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {file: chain(*shown) for file, shown in SHOWN.items()}


def count_all():
    """Return the counts of every step, by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: step().counts() for name, step in STEPS.items()}


def main():
    """Print the table, and write it if asked to."""
    options = arguments(__doc__, TABLE)
    columns = columns_of(options, lambda root: probed(__file__, root))
    header = ["30 inputs, or two parameters"]
    header += [f"{name} at {revision}" for revision in columns for name in COUNTS]
    rows = [[name, *(n for counts in columns.values() for n in counts[name])] for name in STEPS]
    csv.writer(sys.stdout).writerows([header, *rows])
    if options.write:
        for file, text in all_chains().items():
            (CHAINS / file).write_text(text)
        with TABLE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    print(json.dumps(count_all())) if PROBE in sys.argv else main()
