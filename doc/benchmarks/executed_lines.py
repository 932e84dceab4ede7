"""Count the lines of the library that proposals of the default search execute, by package.

A measure of how much code the engine is, whatever else the packages hold. For any revision::

    PYTHONPATH=CHECKOUT python doc/benchmarks/executed_lines.py
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np

import skbo_silbo
from skbo_silbo import SILBO

ROOT = Path(skbo_silbo.__file__).parent
N_PROPOSALS = 40


def search(d, seed):
    """Search a weighted sum of five squares among d inputs."""
    rng = np.random.default_rng(seed)
    active, centre = rng.choice(d, 5, replace=False), rng.uniform(-0.8, 0.8, 5)
    optimizer = SILBO([(-1.0, 1.0)] * d, random_state=seed)
    for _ in range(N_PROPOSALS):
        x = optimizer.ask()
        optimizer.tell(x, float((x[active] - centre) ** 2 @ np.arange(1, 6)))


def executed(run):
    """Return the lines of the library that a call executes: a set of (file, line)."""
    lines = set()

    def note(frame, event, _):
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return note

    def enter(frame, *_):
        code = frame.f_code
        is_ours = code.co_filename.startswith(str(ROOT)) and code.co_name != "<module>"
        return note if is_ours else None

    sys.settrace(enter)
    try:
        run()
    finally:
        sys.settrace(None)
    return lines


def main():
    """Print the counts."""
    lines = executed(lambda: [search(20, 0), search(100, 1)])
    counts = Counter(Path(file).relative_to(ROOT).parts[0] for file, _ in lines)
    print(sum(counts.values()), dict(counts.most_common()))


if __name__ == "__main__":
    main()
