"""SI-BO: subspace identification first, Bayesian optimisation in the subspace after."""

from dataclasses import dataclass

import numpy as np

from skbo_silbo._checks import check_count, warn_user
from skbo_silbo._typing import Auto
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition._box_search import BoxSearch
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.baselines._differences import (
    STEP,
    DifferenceDesign,
    DifferenceLearner,
    differences_needed,
)
from skbo_silbo.embedding._sketched import SKETCH_STREAM
from skbo_silbo.mapping._top_down import TopDown
from skbo_silbo.optimizers import Configuration
from skbo_silbo.optimizers._configuration import make_acquisition
from skbo_silbo.surrogate import GaussianProcessSurrogate

N_ROUNDS = 3  # of candidates round the best ones, after the random set
MOST_ROUNDED = 0.1 * STEP  # of a point by the space; more spoils the differences
SHOWN = 3  # columns that an error names


@dataclass(eq=False, repr=False, kw_only=True)
class SIBO(Baseline):
    """Bayesian optimisation in the span of gradients, recovered from directional differences.

    The first points are a few centres, and points a hundredth of the half-width away from them in
    random directions. The differences of their values determine a matrix of gradients, of rank r
    where the objective acts through r directions. All of them are evaluated, and count.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search; real parameters (or integers of some thousand values), since small
        differences of others are none.
    n_components : int or "auto", default="auto"
        Coordinates r; "auto" keeps nine tenths of the squared gradients.
    n_centres : int, default=5
        Centres m; fewer where `n_initial` is below twice that.
    acquisition : {"ucb", "ei"}, default="ucb"
        What is maximised in the subspace.
    n_initial : int, default=50
        Points before the subspace is learnt, observed ones included; all but the centres are
        differences. Fewer than ``r (d + m - r)`` of these cannot determine the subspace, which is
        warned of, and about twice as many make it good: see Notes.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`.

    Raises
    ------
    ValueError
        When the bounds or another argument are invalid.

    Warns
    -----
    UserWarning
        When `n_initial` is too small for the subspace; with ``n_components="auto"`` for a subspace
        of one direction. When a parameter is of categories, of levels or of few integers.

    Notes
    -----
    Branin in 100 inputs (r = 2, m = 5: 206 differences needed), three seeds: the largest angle
    between the span learnt and the true one is 78 to 88 degrees with 45 differences (the default),
    54 to 63 with 135, 41 to 49 with 215, and 5 to 6 with 495. Where so many evaluations cannot be
    had, `SIRBO` or `SILBO` are the ones to take.

    References
    ----------
    Djolonga, Krause and Cevher (2013), "High-Dimensional Gaussian Process Bandits", NIPS 26,
    Algorithm 1.

    Examples
    --------
    >>> from skbo_silbo.baselines import SIBO
    >>> SIBO([(-1, 1)] * 20, n_components=2, n_initial=100, random_state=0).ask().shape
    (20,)
    """

    n_components: int | Auto = "auto"
    n_centres: int = 5
    acquisition: str | AcquisitionFunction = "ucb"
    n_initial: int = 50

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
        n_initial = check_count("n_initial", self.n_initial)
        n_centres = check_count("n_centres", self.n_centres)
        if self.n_components != "auto":
            check_count("n_components", self.n_components)
        design = DifferenceDesign.draw(n_initial, d, n_centres, self._rng(*SKETCH_STREAM))
        self._warn_where_rounded(design.points)
        self._warn_where_lost(design)
        return Configuration(
            learner=DifferenceLearner(design.centres, self.n_components),
            mapping=TopDown("least-squares"),
            search=BoxSearch(n_rounds=N_ROUNDS),
            acquisition=make_acquisition(self.acquisition),
            design=design.first_points,
            surrogate=GaussianProcessSurrogate(),
            n_initial=n_initial,
        )

    def _warn_where_rounded(self, points):
        moved = np.abs(self.space_.round(points) - points).max(axis=0)
        names = [self.space_.feature_names_[j] for j in np.flatnonzero(moved > MOST_ROUNDED)]
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            warn_user(
                "bounds should be of real parameters: SIBO learns from differences over a "
                "hundredth of half a range, which are not there along "
                f"{', '.join(map(repr, names[:SHOWN]))}{more}. Use SILBO for this space."
            )

    def _warn_where_lost(self, design):
        (m, d), n = design.centres.shape, len(design.points)
        r = 1 if self.n_components == "auto" else min(self.n_components, d, m)
        needed = differences_needed(r, d, m)
        if n - m < needed:
            told = "even one direction" if r == 1 else f"n_components={self.n_components}"
            warn_user(
                f"n_initial={n} gives {n - m} differences, too few for {told} in {d} inputs: the "
                f"subspace learnt will not be that of the objective. Give n_initial={needed + m}, "
                f"better {2 * needed + m}, or use SIRBO or SILBO."
            )
