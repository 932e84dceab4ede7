"""Pictures of experiments about optimisers: what was found, and what it took, by evaluations."""

from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import numpy as np

from benchmarks.engine import by_method

from .problem_data import problem_in_words
from .search_report import COLUMNS, LEAST_REGRET, WITHIN, incumbent_values
from .search_run import regrets

OTHER = "#555555"  # a contestant that has no colour of its own
# one colour a method on all pages: SILBO blue, as in the gallery, the paper's strategies red and
# yellow, embeddings that are drawn cyan, that are learnt once green, chance grey; a variant has
# that of its method
COLOURS = MappingProxyType(
    {
        "silbo": "#0072B2",
        "silbo-bu": "#d62728",
        "silbo-td": "#ff9900",
        "rembo": "#00838f",
        "rembo-kx": "#17becf",
        "rembo-kpsi": "#7fd3dc",
        "rembo-zonotope": "#5f9ea0",
        "hesbo": "#004d56",
        "sir-bo": "#2ca02c",
        "ksir-bo": "#556b2f",
        "si-bo": "#98df8a",
        "add-bo": "#9467bd",
        "bock": "#c51b8a",
        "random": "#6f6f6f",
        "sobol": "#9a9a9a",
        "cma": "#8c564b",
        "optuna-tpe": "#000000",
        "optuna-gp": "#009e73",
        "scikit-optimize": "#d55e00",
        "botorch-gp": "#7b3294",
        "saasbo": "#8c0056",
        "turbo": "#b8a000",
    }
)
DASHED = ("rembo-kx", "rembo-kpsi", "sobol")
REGRET = "regret / (median random value - optimum)"
UNITS = MappingProxyType(
    {
        "mlp_weights": "validation cross-entropy (nats)",
        "weighted_lasso": "mean squared error / variance of y",
        "svr_length_scales": "mean squared error / variance of y",
    }
)
WITH_NOISE = (
    "With noise, the true value at the point with the lowest noisy value is drawn, so a curve "
    "may rise."
)


def search_figures(results, folder):
    """Draw what was found and the time it took, one panel a problem and budget.

    Parameters
    ----------
    results : list of dict
    folder : path-like
        Where the pictures are written, as ``<experiment>.png`` and ``<experiment>-time.png``.

    Returns
    -------
    pictures : list of (str, str)
        File names and captions.
    """
    name = results[0]["experiment"]
    found = (
        "Geometric mean of the regret of the best value so far, over the runs (numbers in "
        "parentheses). The regret is divided by the distance from the median random value to "
        f"the optimum, and is at least {LEAST_REGRET:g} (dotted line). The dashed line is 1 %. "
        "If no optimum is known, the value is drawn. Bands are one standard error."
    )
    if any("sd" in r["problem"] for r in results):
        found += f" {WITH_NOISE}"
    taken = (
        "Cumulative processor time of the method without the objective, mean over the runs "
        "(numbers in parentheses)."
    )
    return [
        (_draw_all(results, Path(folder) / f"{name}.png", _draw_found), found),
        (_draw_all(results, Path(folder) / f"{name}-time.png", _draw_time), taken),
    ]


def colour_of(method):
    """Return the colour of a contestant: a variant has that of its method."""
    return COLOURS.get(_method_of(method), OTHER)


def style_of(method):
    """Return colour, line style and width of a contestant's curve, as `Axes.plot` takes them."""
    is_variant = method.partition(":")[0] != _method_of(method)
    return {
        "color": colour_of(method),
        "ls": "--" if is_variant or method in DASHED else "-",
        "lw": 2.4 if method == "silbo" else 1.2,
    }


def _method_of(name):
    """Return the method with a colour that a contestant is, or is named after: the longest."""
    methods = [m for m in COLOURS if f"{name.partition(':')[0]}-".startswith(f"{m}-")]
    return max(methods, key=len, default=None)


def _draw_all(results, path, draw):
    """Draw a panel a problem by ``draw(axes, problem, methods)``; return the file's name."""
    grouped = by_method(results)
    n_rows = -(-len(grouped) // COLUMNS)
    with drawn(path, n_rows, COLUMNS, (5.6 * COLUMNS, 3.9 * n_rows)) as panels:
        for axes, (key, methods) in zip(panels.flat, grouped.items(), strict=False):
            problem = dict(key)
            draw(axes, problem, methods)
            axes.set_xlim(0, problem["n"])
            add_legend(axes)
            axes.set_title(f"{problem_in_words(problem)}, {problem['n']} evaluations", fontsize=10)
            axes.set_xlabel("evaluations, every one counted", fontsize=9)
        for axes in panels.flat[len(grouped) :]:
            axes.set_axis_off()
    return path.name


@contextmanager
def drawn(path, n_rows, n_columns, size, **options):
    """Give the axes of a figure, (n_rows, n_columns), which is written to a file in the end."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        n_rows, n_columns, figsize=size, squeeze=False, layout="constrained", **options
    )
    yield panels
    for axes in panels.flat:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _draw_found(axes, problem, methods):
    """Draw the lowest value, or the regret, of every method."""
    for method, own in methods.items():
        _draw_curve(axes, method, own)
    if regrets(next(iter(methods.values()))[0]) is None:
        axes.set_ylabel(UNITS.get(problem["function"], "value, lower is better"), fontsize=9)
    else:
        axes.axhline(WITHIN, color="0.6", lw=0.8, ls="--")
        axes.axhline(LEAST_REGRET, color="0.6", lw=0.8, ls=":")
        axes.set_ylabel(REGRET, fontsize=9)


def _draw_curve(axes, method, results):
    """Draw mean and band of a method: of the logarithm of the regret, where that is known."""
    if regrets(results[0]) is None:
        bands = mean_band(incumbent_values(results))
    else:
        logs = np.log(np.maximum([regrets(r) for r in results], LEAST_REGRET))
        bands = np.exp(mean_band(logs))
        axes.set_yscale("log")
    draw_band(axes, method, bands, label=f"{method} ({len(results)})")


def draw_band(axes, method, bands, first=1, label=None):
    """Draw the mean and band of `mean_band` from evaluation `first` on."""
    low, mean, high = bands
    places = np.arange(first, first + mean.size)
    axes.plot(places, mean, label=label, **style_of(method))
    axes.fill_between(places, low, high, color=colour_of(method), alpha=0.12, lw=0)


def _draw_time(axes, problem, methods):
    """Draw the cumulative time of every method, of the runs whose times were kept."""
    timed = {method: [r for r in own if "seconds" in r] for method, own in methods.items()}
    for method, own in ((method, own) for method, own in timed.items() if own):
        places = [n for n, _ in own[0]["seconds"]]
        each = [np.interp(places, *np.transpose(r["seconds"])) for r in own]
        totals = np.maximum(np.mean(each, axis=0), 1e-3)
        axes.plot(places, totals, label=f"{method} ({len(own)})", **style_of(method))
    axes.set_yscale("log")
    axes.set_ylabel("cumulative processor time (s)", fontsize=9)


def add_legend(axes):
    """Name the curves at the right of a panel, in the order in which they end, highest first."""
    curves = [line for line in axes.lines if not line.get_label().startswith("_")]
    curves.sort(key=lambda line: line.get_ydata()[-1], reverse=True)
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False, "fontsize": 8}
    axes.legend(handles=curves, labelcolor="linecolor", **place)


def mean_band(runs):
    """Return the mean less one standard error, the mean, and the mean plus one, each (n,)."""
    mean, n_runs = runs.mean(axis=0), len(runs)
    error = runs.std(axis=0, ddof=1) / np.sqrt(n_runs) if n_runs > 1 else 0.0 * mean
    return mean - error, mean, mean + error
