"""
Compare the paper's baselines
=============================

The baselines and the paper's algorithms, :class:`~skbo_silbo.baselines.SILBOBottomUp` and
:class:`~skbo_silbo.baselines.SILBOTopDown`, have the same interface as :class:`~skbo_silbo.SILBO`,
including ask, tell and journals. Each minimises Branin's function, hidden in two of 20 inputs, with
60 evaluations. The picture shows how the methods work. One run of each method does not show which
method is better; :doc:`/benchmarks/index` compares many runs. The benchmarks contain further
baselines of the literature.
"""

# %%
# Run the methods
# ---------------
# ``method=`` of :func:`~skbo_silbo.minimize` is a name, such as ``"hesbo"``, or a class. The result
# is a :class:`~skbo_silbo.MinimizeResult`.

import matplotlib.pyplot as plt
import numpy as np

from skbo_silbo import SILBO, minimize
from skbo_silbo.baselines import REMBO, HeSBO, RandomSearch, SILBOBottomUp, SILBOTopDown
from skbo_silbo.problems import branin, embedded

problem = embedded(branin(), 20)
METHODS = {
    RandomSearch: ("uniform points", {}),
    REMBO: ("a random plane, clipped to the box", {"n_components": 2}),
    HeSBO: ("every input follows one of two numbers", {"n_components": 2}),
    SILBOBottomUp: ("learnt directions: old points move", {"n_components": 2, "n_initial": 20}),
    SILBOTopDown: ("learnt directions: old points stay", {"n_components": 2, "n_initial": 20}),
    SILBO: ("all inputs, few of them believed to matter", {}),
}
results = {}
for method, (_, options) in METHODS.items():
    result = minimize(problem, problem.bounds, method=method, n_calls=60, random_state=0, **options)
    results[method] = result
    print(f"{method.__name__:18} lowest value {result.fun:6.2f}")

# %%
# Each dot is an evaluated point in the two relevant inputs, from light (early) to dark (late).
# Contours show the function, and crosses its three minima. REMBO and HeSBO only reach lines or
# planes of the box, and bottom-up moves its earlier points whenever the embedding changes, and
# evaluates them again.

figure, panels = plt.subplots(2, 3, figsize=(11, 7), layout="constrained", sharex=True, sharey=True)
side = np.linspace(-1, 1, 100)
grid = np.zeros((100 * 100, 20))
grid[:, :2] = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
values = np.log1p(problem.evaluate(grid)).reshape(100, 100)
for axes, (method, (idea, _)) in zip(panels.flat, METHODS.items(), strict=True):
    result = results[method]
    axes.contour(side, side, values, levels=12, colors="0.8", linewidths=0.8)
    axes.plot(*problem.optimisers[:, :2].T, "x", color="#D55E00", ms=9, mew=2.5)
    when = np.arange(len(result.x_iters))
    axes.scatter(*result.x_iters[:, :2].T, c=when, cmap="Blues", vmin=-40, s=22, ec="k", lw=0.3)
    axes.set_title(f"{method.__name__}: lowest {result.fun:.2f}\n{idea}", fontsize=10)
    axes.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")
    axes.spines[["top", "right"]].set_visible(False)
figure.supxlabel("first input that counts")
figure.supylabel("second input that counts")
figure.set_label(
    "Six panels of points over the contours of Branin's function, with crosses at its three "
    "minima. Random points are evenly spread, REMBO's lie along the border and around one minimum, "
    "HeSBO's on a few lines, and SILBO's late points are close to the minima."
)
plt.show()
