"""
Resume a search that was killed
===============================

With a journal, every finished candidate is on disk before the next one is proposed. In this example
a search runs in a process of its own, which is killed by SIGKILL. The same call then resumes the
search and ends with the same result as an uninterrupted one.
"""

# %%
# Write a script
# --------------
# The script could run on a server. Its arguments are the number of candidates and the journal.

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

SCRIPT = textwrap.dedent("""
    from scipy.stats import loguniform
    from sklearn.datasets import load_digits
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import SVC
    from skbo_silbo import SILBOSearchCV

    X, y = load_digits(return_X_y=True)
    model = make_pipeline(MinMaxScaler(), SVC())
    space = {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 1e1)}
    search = SILBOSearchCV(model, space, n_iter=30, cv=3, random_state=0, journal=journal)
    search.fit(X[:500], y[:500])
""")

# %%
# Kill the search
# ---------------
# The process is killed after twelve candidates. The first line of the journal describes the search.

folder = Path(tempfile.mkdtemp())
journal = folder / "search.jsonl"
process = subprocess.Popen([sys.executable, "-c", f"journal = {str(journal)!r}\n{SCRIPT}"])
while process.poll() is None and (
    not journal.exists() or len(journal.read_bytes().splitlines()) < 13
):
    time.sleep(0.01)
os.kill(process.pid, signal.SIGKILL)
print("ended with", process.wait(), "and", len(journal.read_bytes().splitlines()), "lines on disk")

# %%
# Resume it
# ---------
# Run the same script again, here in this process, and run the search without interruption for
# comparison.

with warnings.catch_warnings():
    warnings.simplefilter("error")  # it would warn if the candidates were not those of before
    resumed, whole = {"journal": journal}, {"journal": folder / "whole.jsonl"}
    exec(SCRIPT, resumed)
    exec(SCRIPT, whole)
scores, other = (run["search"].cv_results_["mean_test_score"] for run in (resumed, whole))
before = resumed["search"].cv_results_["resumed"]
print("from the journal:", before.sum(), "of", len(before))
print("the same candidates and scores as without the kill:", np.array_equal(scores, other))

# %%
# Each dot is a candidate. Candidates on the left were fitted before the kill and are only read from
# the journal. Rings show the uninterrupted search.

figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
number = np.arange(1, len(scores) + 1)
error, best = 1 - scores, np.minimum.accumulate(1 - scores)
axes.plot(number, 1 - other, "o", mfc="none", mec="0.5", ms=9, label="never interrupted")
axes.plot(number[before], error[before], "o", color="#0072B2", ms=5, label="read from the journal")
axes.plot(number[~before], error[~before], "o", color="#D55E00", ms=5, label="fitted afterwards")
axes.step(number, best, where="post", color="0.3", lw=1, label="best so far")
axes.axvline(before.sum() + 0.5, color="k", ls="--", lw=1)
axes.text(before.sum() + 0.7, error.max(), "SIGKILL", va="top")
axes.set(xlabel="candidate", ylabel="mean test error", yscale="log")
axes.legend(frameon=False, loc="upper right")
axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Test error of 30 candidates. A dashed line marks the kill after the twelfth. Blue dots before "
    "it were read from the journal, orange dots after it were fitted later, and all dots lie in "
    "the rings of the uninterrupted search."
)
plt.show()
