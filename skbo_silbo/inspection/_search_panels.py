"""One function a panel of a search: each draws prepared arrays and imports no matplotlib."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ._panels import COLOURS, FAINT
from ._search_curves import best_so_far, expected_best

BELOW = -0.22  # where a value that there is not is drawn on an axis from 0 to 1
LONGEST_LABEL = 12
BEST_SHARE = 0.1  # of the candidates, drawn in colour


@dataclass(frozen=True, eq=False)
class ValueAxis:
    """The values of one parameter on an axis from 0 to 1.

    Attributes
    ----------
    name : str
    positions : ndarray of shape (n,)
        `BELOW` where the candidate does not have the parameter.
    ticks : ndarray of shape (k,)
    labels : list of k str
    """

    name: str
    positions: np.ndarray
    ticks: np.ndarray
    labels: list

    @classmethod
    def of(cls, name, values, absent="none"):
        """Place values: numbers by size, or its logarithm over two decades or more, others apart.

        Parameters
        ----------
        name : str
        values : sequence of n values
            Masked members are absent.
        absent : str
            What to call those.
        """
        mask = np.ma.getmaskarray(np.ma.asarray(values))
        present = [value for value, out in zip(np.ma.getdata(values), mask, strict=True) if not out]
        place = _place_numbers if all(map(_is_number, present)) else _place_categories
        positions = np.full(len(mask), BELOW)
        positions[~mask], ticks, labels = place(present)
        if mask.any():
            ticks, labels = np.append(ticks, BELOW), [*labels, absent]
        return cls(name, positions, ticks, labels)

    @property
    def is_constant(self):
        """Whether all candidates have one value."""
        return np.ptp(self.positions) == 0.0


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _place_numbers(values):
    values = np.asarray(values, dtype=float)
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not low < high:
        return np.full(len(values), 0.5), np.array([0.5]), [f"{v:.3g}" for v in values[:1]]
    if low > 0 and high / low >= 100:
        low, high, values = np.log(low), np.log(high), np.log(values)
        middle = np.exp([low, (low + high) / 2, high])
    else:
        middle = [low, (low + high) / 2, high]
    return (values - low) / (high - low), np.array([0.0, 0.5, 1.0]), [f"{v:.3g}" for v in middle]


def _place_categories(values):
    labels = [_label(value) for value in values]
    names = sorted(set(labels))
    ticks = np.linspace(0.0, 1.0, len(names)) if len(names) > 1 else np.array([0.5])
    return ticks[[names.index(label) for label in labels]], ticks, names


def _label(value):
    text = type(value).__name__ if hasattr(value, "get_params") else str(value)
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


def draw_convergence(axes, scores, n_initial, random_scores, random_name, score_name):
    """Draw the best score so far, and what random search is expected to have reached."""
    if np.isfinite(random_scores).any():
        mean, (low, high) = expected_best(random_scores)
        count = np.arange(1, len(mean) + 1)
        axes.fill_between(count, low, high, color="0.85", lw=0)
        axes.plot(count, mean, color="0.35", ls="--", label=random_name)
    count = np.arange(1, len(scores) + 1)
    axes.step(count, best_so_far(scores), where="post", color=COLOURS[0], label="this search")
    if 0 < n_initial < len(scores):
        axes.axvline(n_initial + 0.5, color=FAINT, ls=":", lw=1)
    axes.set(xlabel="candidates evaluated", ylabel=f"best {score_name} so far")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False, fontsize="small", loc="lower right")
    _tidy(axes)


def draw_direction(axes, place, scores, n_initial, score_name):
    """Draw the scores along one axis, those of the initial candidates hollow."""
    first = np.arange(len(scores)) < n_initial
    style = {"s": 22, "edgecolors": COLOURS[0], "linewidths": 1.0}
    axes.scatter(place.positions[first], scores[first], facecolors="white", **style)
    axes.scatter(place.positions[~first], scores[~first], facecolors=COLOURS[0], **style)
    if place.labels:
        axes.set_xticks(place.ticks, place.labels, fontsize="small")
    axes.set(xlabel=place.name, ylabel=score_name)
    _tidy(axes)


def draw_relevance(axes, relevance, held_out):
    """Draw the share of every parameter as a bar, the greatest on top."""
    places = np.arange(len(relevance))
    axes.barh(places, list(relevance.values()), height=0.62, color=COLOURS[4])
    axes.set_yticks(places, list(relevance))
    axes.set_ylim(len(relevance) - 0.4, -0.6)
    axes.set_xlim(left=0.0)
    known = np.isfinite(held_out)
    trust = f"held-out R² of the model {held_out:.2f}" if known else "too few to check the model"
    axes.set(xlabel="share of the variance of the score", title=trust)
    axes.title.set_fontsize("small")
    axes.tick_params(axis="y", length=0)
    _tidy(axes)


def draw_parallel(axes, places, scores):
    """Draw a line for every candidate across the axes of its values, the best in colour.

    Parameters
    ----------
    axes : matplotlib Axes
    places : list of ValueAxis
        The last is that of the score.
    scores : ndarray of shape (n,)
    """
    order = np.argsort(np.where(np.isfinite(scores), scores, -np.inf), kind="stable")
    n_best = max(1, round(BEST_SHARE * len(order)))
    lines = np.array([place.positions for place in places])[:, order]  # the best drawn last
    across = np.arange(len(places))
    axes.plot(across, lines[:, :-n_best], color=FAINT, lw=0.8, alpha=0.7)
    axes.plot(across, lines[:, -n_best:-1], color=COLOURS[0], lw=1.4)
    axes.plot(across, lines[:, -1], color=COLOURS[1], lw=2.2)
    for i, place in enumerate(places):
        axes.axvline(i, color="0.4", lw=0.8, zorder=0.5)
        for tick, label in zip(place.ticks, place.labels, strict=True):
            _write(axes, i, tick, label)
    axes.set_xticks(across, [place.name for place in places])
    axes.set_yticks([])
    axes.set_xlim(-0.1, len(places) - 0.6)
    axes.set_title(f"blue: best {n_best} of {len(order)}; orange: the best", fontsize="small")
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.tick_params(axis="x", length=0)


def _write(axes, x, y, text):
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8}
    axes.annotate(
        text, (x, y), (4, 0), textcoords="offset points", va="center", fontsize=7.5, bbox=box
    )


def _tidy(axes):
    axes.spines[["top", "right"]].set_visible(False)
