"""SI-BO: Bayesian optimisation in a subspace identified from directional differences.

The subspace is the span of a low-rank matrix of gradients:

=========  ==========  =================================================================
symbol     shape       meaning
=========  ==========  =================================================================
C          (m, d)      centres, where gradients are estimated
S_j        (k, d)      directions tried at centre j, entries +-1
b_j        (k,)        differences ``(f(c_j + e s) - f(c_j)) / e`` along them
G          (m, d)      gradients; of rank r if f depends on r directions
=========  ==========  =================================================================
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skbo_silbo._checks import check_count, warn_user
from skbo_silbo._typing import Auto, FloatArray
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition.searches import BOX_ROUNDS, BoxSearch
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.baselines._random_embeddings import SKETCH_STREAM
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.optimizers.configuration import Configuration, make_acquisition

from .rembo_variants import shortest_points

STEP = 0.01  # step e of the differences, in half widths of the cube
WEIGHT = 1e-3  # weight of the nuclear norm, relative to the smallest for which G is zero
N_STAGES = 4  # decreasing weights, with warm starts
N_STEPS = 150  # proximal gradient steps per stage
SHARE = 0.9  # share of the squared norm of G that n_components="auto" keeps


@dataclass(eq=False, repr=False, kw_only=True)
class SIBO(Baseline):
    """Bayesian optimisation in a subspace of gradients estimated from finite differences.

    The initial design has a few centres, and points at a hundredth of the half-width from them in
    random directions. The differences of their values determine a matrix of gradients, which has
    rank r if the objective depends on r directions.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters. Parameters must
        be real, or integers with thousands of values, so that points can differ by small steps.
    n_components : int or "auto", default="auto"
        Number of coordinates r of the embedding. "auto" uses as many as explain 90 % of the squared
        gradients.
    n_centres : int, default=5
        Number m of points at which the gradient is recovered. At most half of `n_initial`.
    acquisition : {"ucb", "ei"}, default="ucb"
        The acquisition function, maximised in the subspace.
    n_initial : int, default=50
        Number of points to evaluate before the embedding is learnt, including points that were not
        proposed. All points except the centres are used for differences. A warning is issued if
        there are fewer than ``r (d + m - r)`` differences, which cannot determine the subspace.
        Twice as many give a good subspace (see Notes).
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As in `SILBO`.

    Raises
    ------
    ValueError
        If the bounds or another argument are invalid.

    Warns
    -----
    UserWarning
        If `n_initial` is too small to determine the subspace, or a single direction if
        ``n_components="auto"``.

    Notes
    -----
    For Branin in 100 inputs (r = 2 and m = 5, so 206 differences are needed), the largest angle
    between the learnt and the true span over three seeds is 78 to 88 degrees with 45 differences
    (the default), 54 to 63 with 135, 41 to 49 with 215, and 5 to 6 with 495. With fewer evaluations
    use `SIRBO` or `SILBO`.

    References
    ----------
    Djolonga, Krause and Cevher (2013), "High-Dimensional Gaussian Process Bandits", NIPS 26,
    Algorithm 1.

    Examples
    --------
    >>> from benchmarks.engine.baselines import SIBO
    >>> SIBO([(-1, 1)] * 20, n_components=2, n_initial=100, random_state=0).ask().shape
    (20,)
    """

    n_components: int | Auto = "auto"
    n_centres: int = 5
    acquisition: str | AcquisitionFunction = "ucb"
    n_initial: int = 50

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        n_initial = check_count("n_initial", self.n_initial)
        n_centres = check_count("n_centres", self.n_centres)
        if self.n_components != "auto":
            check_count("n_components", self.n_components)
        rng = self._rng(*SKETCH_STREAM)
        differences = Differences.draw(n_initial, d, n_centres, self.n_components, rng)
        self._warn_if_too_few(differences)
        return Configuration(
            learner=differences,
            search=BoxSearch(n_rounds=BOX_ROUNDS),
            acquisition=make_acquisition(self.acquisition),
            design=differences.first_points,
            n_initial=n_initial,
        )

    def preimages(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Return the points of the cube of smallest norm that have the given coordinates."""
        return shortest_points(Z, embedding)

    def _warn_if_too_few(self, design):
        (m, d), n = design.centres.shape, len(design.points)
        r = 1 if self.n_components == "auto" else min(self.n_components, d, m)
        needed = differences_needed(r, d, m)
        if n - m < needed:
            sought = "even one direction" if r == 1 else f"n_components={self.n_components}"
            warn_user(
                f"n_initial={n} gives {n - m} differences, too few for {sought} in {d} inputs: the "
                f"learnt subspace will be wrong. Use n_initial={needed + m} or, better, "
                f"{2 * needed + m}, or use SIRBO or SILBO."
            )


@dataclass(frozen=True, eq=False)
class Differences:
    """Initial design for finite differences, and learner of the gradients' subspace.

    Tyagi and Cevher (2012) and Djolonga, Krause and Cevher (2013, section 3) sum the differences
    over the centres before they recover G. Here each difference is an equation, which gives m times
    as many equations for the same evaluations.

    Attributes
    ----------
    centres : ndarray of shape (m, d)
    points : ndarray of shape (n, d)
        Points of the design: the centres, followed by the neighbours of each centre.
    n_components : int or "auto"
        Number of coordinates of the embedding. "auto" uses as many as explain 90 % of the squared
        norm of the gradient matrix G.
    """

    centres: FloatArray
    points: FloatArray
    n_components: int | Auto
    name = "differences"

    @classmethod
    def draw(
        cls, n: int, d: int, n_centres: int, n_components: int | Auto, rng: np.random.Generator
    ) -> Self:
        """Draw n design points, of which at most half are centres of finite differences."""
        m = max(min(n_centres, n // 2), 1)
        centres = rng.uniform(-1.0 + STEP, 1.0 - STEP, (m, d))
        signs = rng.choice([-1.0, 1.0], size=(max(n - m, 0), d))
        neighbours = centres[np.arange(len(signs)) % m] + STEP * signs
        return cls(centres, np.vstack([centres, neighbours])[:n], n_components)

    def first_points(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """Return the initial design that `draw` has drawn."""
        return self.points

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the learnt embedding, or the identity if all differences are 0."""
        d = X.shape[1]
        measured = [self._at(j, X, y) for j in range(len(self.centres))]
        if not any(np.any(b) for _, b in measured):
            return LinearEmbedding(d)
        _, sizes, directions = np.linalg.svd(recover_low_rank(measured, d), full_matrices=False)
        r = self.n_components
        if r == "auto":
            shares = np.cumsum(sizes**2) / (sizes**2).sum()
            r = int((shares < SHARE).sum()) + 1
        return LinearEmbedding.from_components(directions[:r])

    def _at(self, j, X, y):
        """Return the directions and the finite differences at centre j."""
        gaps = (X - self.centres[j]) / STEP
        sizes = np.abs(gaps).max(axis=1)
        at_centre = np.flatnonzero(sizes < 0.5)
        if not at_centre.size:
            return gaps[:0], y[:0]
        near = (sizes >= 0.5) & (sizes < 1.5)
        return gaps[near] - gaps[at_centre[0]], (y[near] - y[at_centre[0]]) / STEP


def differences_needed(r: int, d: int, m: int) -> int:
    """Return the minimum number of differences for an (m, d) gradient matrix of rank r.

    Fewer differences do not determine the matrix.

    Examples
    --------
    >>> differences_needed(2, 100, 5)
    206
    """
    return r * (d + m - r)


def recover_low_rank(measured, d):
    """Recover a low-rank matrix G from linear measurements ``S_j g_j = b_j`` of its rows.

    It minimises ``sum_j |S_j g_j - b_j|^2 / 2 + w |G|_*`` by accelerated proximal gradients (Toh
    and Yun 2010) with decreasing w, the penalised form of the Dantzig selector of SI-BO.

    Parameters
    ----------
    measured : list of (ndarray of shape (k_j, d), ndarray of shape (k_j,))
        Data for each row g_j of G: the directions S_j that were tried, and the differences b_j
        along them.
    d : int

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> G = np.outer([1.0, -2.0, 0.5, 3.0], rng.normal(size=20))
    >>> signs = rng.choice([-1.0, 1.0], size=(4, 18, 20))
    >>> found = recover_low_rank([(S, S @ g) for S, g in zip(signs, G)], 20)
    >>> bool(np.abs(found - G).max() < 0.05)
    True
    """
    lipschitz = max(np.linalg.norm(S, 2) ** 2 for S, _ in measured if S.size)
    start = np.array([S.T @ b for S, b in measured]).reshape(-1, d)
    largest = np.linalg.norm(start, 2)
    G = np.zeros_like(start)
    for weight in largest * np.geomspace(0.1, WEIGHT, N_STAGES):
        G = _descend(measured, G, weight, lipschitz)
    return G


def _descend(measured, G, weight, lipschitz):
    """Run `N_STEPS` steps of accelerated proximal gradient descent from the matrix G."""
    ahead, t = G, 1.0
    for _ in range(N_STEPS):
        slope = np.array([S.T @ (S @ g - b) for (S, b), g in zip(measured, ahead, strict=True)])
        left, sizes, right = np.linalg.svd(ahead - slope / lipschitz, full_matrices=False)
        new = (left * np.maximum(sizes - weight / lipschitz, 0.0)) @ right
        t_new = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        ahead = new + (t - 1.0) / t_new * (new - G)
        G, t = new, t_new
    return G
