"""Trace the functions that one step calls, for the call chains of doc/architecture.rst.

The steps are one evaluation of `minimize` (from one call of the objective to the next), one
candidate of a search (from its first fit to that of the next), and a search resumed from its
journal with one new candidate. To print the numbers of functions, and to write the chains::

    python doc/benchmarks/scripts/call_chains.py
    python doc/benchmarks/scripts/call_chains.py --write
"""

import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np
from checkout import TABLES, make_parser
from sklearn.linear_model import LogisticRegression

CHAINS = TABLES / "chains"
BOUNDS, AT, N_FOLDS = [(-1, 1)] * 30, 36, 3  # which evaluation or candidate is looked at


def cost(x):
    """Two inputs of thirty matter."""
    return (x[0] - 0.3) ** 2 + np.sin(3 * x[4])


class Entered:
    """Which functions of ours are entered between `start` and `stop`.

    Attributes
    ----------
    functions : set of (str, str)
        File and name.
    chain : list of (int, str, str)
        Depth, name and file of every call, comprehensions excepted.
    """

    def __init__(self):
        import skbo_silbo

        self.folder = str(Path(skbo_silbo.__file__).parent)
        self.functions, self.chain = set(), []

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

    def _is_ours(self, frame):
        return frame.f_code.co_filename.startswith(self.folder)

    def _note(self, frame, event, _):
        if event in ("call", "return") and self._is_ours(frame):
            file, name = frame.f_code.co_filename, frame.f_code.co_qualname
            self.functions.add((file, name))
            if event == "call" and ">" not in name:
                self.chain.append((self._depth, name, file[len(self.folder) + 1 :]))
            self._depth += 1 if event == "call" else -1


def entered_by(run):
    """Return what a call enters."""
    entered = Entered()
    entered.start()
    try:
        run()
    finally:
        entered.stop()
    return entered


def one_evaluation():
    """Count what stands between two calls of the objective of `minimize`."""
    from skbo_silbo import minimize

    entered, calls = Entered(), []

    def counted(x):
        entered.stop()
        calls.append(x)
        value = cost(x)
        if len(calls) == 4:
            entered.start()
        return value

    X = np.random.default_rng(0).uniform(-1, 1, (AT - 4, len(BOUNDS)))
    given = {"x0": X, "y0": [cost(x) for x in X]}
    minimize(counted, BOUNDS, n_calls=5, random_state=0, **given)
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
        if N_FOLDS * 3 < len(fits) <= N_FOLDS * 4:
            entered.start()

    CountedModel.fitted = fitted
    draws = np.random.default_rng(0).uniform(size=(AT - 4, 2))
    given = [({"C": 10 ** (6 * a - 3), "tol": 10 ** (3 * b - 5)}, a) for a, b in draws]
    tuned(5, initial_results=given, initial_params=None)
    return entered


def one_resumed_fit():
    """Count a fit that takes all but one of its candidates from a journal."""
    CountedModel.fitted = lambda: None
    with tempfile.TemporaryDirectory() as folder:
        journal = f"{folder}/search.jsonl"
        tuned(9, journal=journal)
        return entered_by(lambda: tuned(10, journal=journal))


# file: step, how deep the chain goes, and functions whose chain is in another file
ASK, TELL = "AskTellOptimizer.ask", "AskTellOptimizer.tell"
SHOWN = {
    "evaluation.txt": (one_evaluation, 6, ()),
    "candidate.txt": (one_candidate, 5, (ASK, TELL)),
    "resumed.txt": (one_resumed_fit, 3, (ASK, TELL)),
}


def chain(entered, depth, closed):
    """Return the functions that were entered as text, in order and indented by who calls them."""
    lines, seen, hidden = [], set(), np.inf
    calls = entered.chain
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


def main():
    """Print the number of functions of every step, and write the chains if asked to."""
    parser = make_parser(__doc__)
    parser.add_argument("--write", action="store_true", help="write the chains")
    options = parser.parse_args()
    for file, (step, *shown) in SHOWN.items():
        entered = step()
        print(f"{file}: {len(entered.functions)} functions")
        if options.write:
            (CHAINS / file).write_text(chain(entered, *shown))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
