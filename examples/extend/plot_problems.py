"""
Use the test problems
=====================

The functions of :mod:`skbo_silbo.problems` have known bounds, minima and minimisers, and can be
hidden among irrelevant inputs. The benchmarks use them, and you can try a new optimiser on them.
"""

# %%
# Evaluate functions of few inputs
# --------------------------------
# Call a :class:`~skbo_silbo.problems.Problem` with one point, or its method ``evaluate`` with
# several. For `hartmann6` the figure shows the first two of its six inputs. The other inputs have
# their optimal values.

import matplotlib.pyplot as plt
import numpy as np

from skbo_silbo.problems import branin, embedded, hartmann6, noisy, planted, rotated

PROBLEMS = [branin(), hartmann6()]
for problem in PROBLEMS:
    problem.check_optimum()  # raises if a better point is found
    print(f"{problem.name:16} {problem.n_dims} inputs, lowest value {problem.optimum:.4g}")

# %%
# Light colours are low values, on a scale of ranks. Crosses mark the minima.


def draw(problem, axes, n=400):
    """Draw a problem along its first two inputs."""
    grid = np.meshgrid(*(np.linspace(low, high, n) for low, high in problem.bounds[:2]))
    points = np.tile(problem.optimisers[0], (n * n, 1))
    points[:, :2] = np.stack(grid, axis=-1).reshape(-1, 2)
    ranks = problem.evaluate(points).argsort().argsort().reshape(n, n) / n**2
    axes.imshow(
        ranks, origin="lower", extent=problem.bounds[:2].ravel(), aspect="auto", cmap="viridis_r"
    )
    axes.plot(*problem.optimisers[:, :2].T, "x", color="#D55E00", ms=8, mew=2.5)
    axes.set(title=problem.name)


figure, panels = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for axes, problem in zip(panels.flat, PROBLEMS, strict=True):
    draw(problem, axes)
figure.set_label(
    "Maps of Branin's function with three minima, and of Hartmann's function with one. Low values "
    "are light, and crosses mark the minima."
)
plt.show()

# %%
# Hide a function among many inputs
# ---------------------------------
# `embedded` adds irrelevant inputs, `planted` also permutes, reflects and translates the relevant
# ones, and `rotated` uses random dense directions. `noisy` adds noise to every value. The result, a
# :class:`~skbo_silbo.problems.NoisyProblem`, can still be evaluated without noise.

HIDDEN = {
    "embedded": embedded(branin(), 40),
    "planted": planted(branin(), 40, random_state=0),
    "rotated": rotated(branin(), 40, random_state=0),
}
loud = noisy(branin(), sd=5.0, random_state=0)
line = np.column_stack([np.linspace(-5, 10, 150), np.full(150, 2.275)])

# %%
# Left: the two active directions among 40 inputs. Dark cells are large entries. Right: values with
# noise.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
entries = np.vstack([np.abs(problem.active_directions) for problem in HIDDEN.values()])
left.imshow(entries, aspect="auto", cmap="Blues", interpolation="none")
left.set_yticks((0.5, 2.5, 4.5), list(HIDDEN))
left.hlines((1.5, 3.5), -0.5, 39.5, color="k", lw=0.8)
left.set(title="which inputs count", xlabel="input, 0 to 39")
right.plot(line[:, 0], loud.evaluate(line), "o", color="#D55E00", ms=3, label="told")
right.plot(line[:, 0], loud.evaluate_truth(line), color="k", lw=1, label="truth")
right.set(title="branin with noise", xlabel="first input", ylabel="value")
right.legend(frameon=False)
right.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: two dark cells among 40 inputs for embedded and planted, pale cells for all inputs of "
    "rotated. Right: noisy values around the curve of Branin's function."
)
plt.show()
