"""Our curves beside those of the paper's authors: report and picture of `paper`.

The picture of `paper` shows our curves and the published ones, a panel a problem.
"""

from pathlib import Path

from benchmarks.search.search_figures import draw_band, drawn, mean_band, style_of
from benchmarks.search.search_report import incumbent_values, search_report

from ._published import compare_published, published_curves, published_key

TITLES = {"branin": "Branin", "hartmann6": "Hartmann6", "colville_as_run": "Colville"}
SHOWN = {  # six at most: a panel with more is not read
    "silbo-bu": "SILBO, bottom-up",
    "silbo-bu-as-run": "SILBO, bottom-up, authors' constants",
    "rembo": "REMBO",
    "hesbo": "HeSBO",
    "sir-bo": "SIR-BO",
    "random": "random search",
}
FIRST = 10  # evaluations: before them all is chance
CAPTION = (
    "Distance of the best value from the optimum, as a share of the distance of the median "
    "random value, mean of our runs. Bands are one standard error. Dots are means of 100 runs "
    "of the paper's authors, in the colour of their method. Every evaluation is counted."
)


def report_beside_published(results):
    """Return the report of searches, and our means beside the published ones."""
    return [*search_report(results), *compare_published(results)]


def paper_figures(results, folder):
    """Draw a panel a function and number of inputs.

    Parameters
    ----------
    results : list of dict
    folder : path-like
    """
    dots = published_curves()
    panels = [(function, d) for d in (100, 1000) for function in TITLES]
    lines = {}
    with drawn(Path(folder) / "paper.png", 2, 3, (12.6, 7.2)) as axes:
        for ax, (function, d) in zip(axes.flat, panels, strict=True):
            for method, name in SHOWN.items():
                runs = _longest(results, method, function, d)
                if runs:
                    lines[name] = _draw(ax, method, runs, dots)
            _finish(ax, f"{TITLES[function]}, {d} inputs")
        style = {"loc": "outside lower center", "ncols": 3, "frameon": False}
        axes[0, 0].figure.legend(lines.values(), lines, **style)
    return [("paper.png", CAPTION)]


def _longest(results, method, function, d):
    """Return the finished runs of a method on a function with its largest budget."""
    own = [
        r
        for r in results
        if (r["status"], r["method"]) == ("ok", method)
        and (r["problem"]["function"], r["problem"]["d"]) == (function, d)
    ]
    most = max((r["problem"]["n"] for r in own), default=0)
    return [r for r in own if r["problem"]["n"] == most]


def _draw(ax, method, runs, dots):
    """Draw curve, band and dots; return the curve."""
    optimum, scale = runs[0]["optimum"], runs[0]["scale"]
    regrets = (incumbent_values(runs)[:, FIRST - 1 :] - optimum) / scale
    draw_band(ax, method, mean_band(regrets), FIRST)
    line, style = ax.lines[-1], style_of(method)
    key = published_key(runs[0]["problem"], method)
    theirs = dots.get(key, [])
    ax.plot(
        [float(row["true_evaluations"]) for row in theirs],
        [(-float(row["mean_best"]) - optimum) / scale for row in theirs],
        ls="none",
        marker="s" if style["ls"] == "--" else "o",
        ms=5,
        color=style["color"],
        mfc="none",
    )
    return line


def _finish(ax, title):
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_title(title, fontsize=11)
    ax.set_xlabel("evaluations", fontsize=9)
    ax.set_ylabel("share of the distance left", fontsize=9)
