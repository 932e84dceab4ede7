"""
Search on a Dask cluster
========================

:class:`~skbo_silbo.SILBOSearchCV` proposes ``batch_size`` candidates at a time and passes their
fits to joblib, here with four Dask workers as backend. The picture shows when each worker was busy.
The example needs ``pip install ".[dask]"``.
"""

# %%
# Start a cluster
# ---------------
# The workers of this cluster are threads, so that the example runs in one process. With
# ``Client("tcp://scheduler:8786")`` they run on other machines, and nothing else changes.

import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster, get_task_stream
from joblib import parallel_config
from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from skbo_silbo import SILBOSearchCV

X, y = load_digits(return_X_y=True)
model = make_pipeline(MinMaxScaler(), SVC())
space = {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-3, 1e1)}
search = SILBOSearchCV(model, space, n_iter=24, batch_size=4, cv=4, random_state=0)

with (
    LocalCluster(
        n_workers=4, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster,
    Client(cluster) as client,
    parallel_config("dask"),
    get_task_stream(client) as stream,
):
    search.fit(X, y)
print(f"best score {search.best_score_:.4f} with {search.best_params_}")

# %%
# The result depends on ``batch_size`` and the seed, not on the workers. Without Dask it is the
# same:

alone = SILBOSearchCV(model, space, n_iter=24, batch_size=4, cv=4, random_state=0).fit(X, y)
print("same candidates:", alone.cv_results_["params"] == search.cv_results_["params"])

# %%
# Each bar is a task. Between batches, the workers wait for the slowest fit and the next proposals.
# With larger batches they wait less, but the search learns later.

spans = [
    (task["worker"], step["start"], step["stop"])
    for task in stream.data
    for step in task["startstops"]
    if step["action"] == "compute"
]
workers = sorted({worker for worker, _, _ in spans})
began = min(start for _, start, _ in spans)

figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5), layout="constrained")
for worker, start, stop in spans:
    upper.barh(workers.index(worker), stop - start, left=start - began, color="#0072B2", ec="w")
upper.set(xlabel="seconds", yticks=range(len(workers)), title="What the workers did")
upper.set_yticklabels([f"worker {k + 1}" for k in range(len(workers))])
error = 1 - search.cv_results_["mean_test_score"]
lower.scatter(np.arange(1, 25), error, c=search.cv_results_["iter"], cmap="viridis")
lower.step(np.arange(1, 25), np.minimum.accumulate(error), where="post", color="0.4", lw=1)
lower.set(xlabel="candidate, coloured by batch", ylabel="mean test error", yscale="log")
for axes in (upper, lower):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Top: fits on four workers as bars, in six batches with short gaps in which all workers wait. "
    "Bottom: mean test error of 24 candidates. Those of late batches are all close to the best, "
    "and early ones are up to forty times larger."
)
plt.show()
