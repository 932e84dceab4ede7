"""SI-BO: subspace identification first, Bayesian optimisation in the subspace after.

The subspace is recovered, as a matrix of low rank, from directional differences:

=========  ==========  =================================================================
symbol     shape       meaning
=========  ==========  =================================================================
C          (m, d)      centres, where gradients are sought
S_j        (k, d)      directions tried at centre j, entries +-1
b_j        (k,)        differences ``(f(c_j + e s) - f(c_j)) / e`` along them
G          (m, d)      the gradients; of rank r where f acts through r directions
=========  ==========  =================================================================
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skbo_silbo._checks import check_count, warn_user
from skbo_silbo._typing import Auto, FloatArray
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition._searches import BOX_ROUNDS, BoxSearch
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.baselines._random_embeddings import SKETCH_STREAM, shortest_points
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.optimizers import Configuration
from skbo_silbo.optimizers._configuration import make_acquisition

STEP = 0.01  # e: of a difference, in half-widths of the cube
WEIGHT = 1e-3  # of the nuclear norm, relative to the least that makes G zero
N_STAGES = 4  # of falling weights, each begun where the last one ended
N_STEPS = 150  # of the proximal gradient in a stage
SHARE = 0.9  # of the squared size of G that n_components="auto" keeps


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
        of one direction.

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
        rng = self._rng(*SKETCH_STREAM)
        differences = Differences.draw(n_initial, d, n_centres, self.n_components, rng)
        self._warn_where_lost(differences)
        return Configuration(
            learner=differences,
            search=BoxSearch(n_rounds=BOX_ROUNDS),
            acquisition=make_acquisition(self.acquisition),
            design=differences.first_points,
            n_initial=n_initial,
        )

    def place(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Return the shortest points of the cube for coordinates that a search found."""
        return shortest_points(Z, embedding)

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


@dataclass(frozen=True, eq=False)
class Differences:
    """Centres and, round each, points one step away in random directions: first points and learner.

    What is learnt is the span of the gradients at the centres. Tyagi and Cevher (2012) and
    Djolonga, Krause and Cevher (2013, section 3) sum the differences over the centres before they
    recover G; here each one is an equation of its own, which costs the same evaluations and says m
    times as much.

    Attributes
    ----------
    centres : ndarray of shape (m, d)
    points : ndarray of shape (n, d)
        The centres, then their neighbours by turns.
    n_components : int or "auto"
        Coordinates; "auto" keeps nine tenths of the squared size of G.
    """

    centres: FloatArray
    points: FloatArray
    n_components: int | Auto
    name = "differences"

    @classmethod
    def draw(
        cls, n: int, d: int, n_centres: int, n_components: int | Auto, rng: np.random.Generator
    ) -> Self:
        """Draw n points in all, at most half of them centres."""
        m = max(min(n_centres, n // 2), 1)
        centres = rng.uniform(-1.0 + STEP, 1.0 - STEP, (m, d))
        signs = rng.choice([-1.0, 1.0], size=(max(n - m, 0), d))
        neighbours = centres[np.arange(len(signs)) % m] + STEP * signs
        return cls(centres, np.vstack([centres, neighbours])[:n], n_components)

    def first_points(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """Return the points: they were drawn with the centres, and are not drawn again."""
        return self.points

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the embedding, or the identity where no difference was measured or all are 0."""
        d = X.shape[1]
        measured = [self._at(j, X, y) for j in range(len(self.centres))]
        if not any(np.any(b) for _, b in measured):
            return LinearEmbedding(d)
        _, sizes, directions = np.linalg.svd(recover_low_rank(measured, d), full_matrices=False)
        return LinearEmbedding.from_components(directions[: self._count(sizes)])

    def _at(self, j, X, y):
        """Return directions, (k, d), and differences, (k,), measured at centre j."""
        gaps = (X - self.centres[j]) / STEP
        sizes = np.abs(gaps).max(axis=1)
        at_centre = np.flatnonzero(sizes < 0.5)
        if not at_centre.size:
            return gaps[:0], y[:0]
        near = (sizes >= 0.5) & (sizes < 1.5)
        return gaps[near] - gaps[at_centre[0]], (y[near] - y[at_centre[0]]) / STEP

    def _count(self, sizes):
        if self.n_components != "auto":
            return self.n_components
        shares = np.cumsum(sizes**2) / (sizes**2).sum()
        return int((shares < SHARE).sum()) + 1


def differences_needed(r: int, d: int, m: int) -> int:
    """Return how many numbers a matrix (m, d) of rank r has: fewer equations leave it open.

    Examples
    --------
    >>> differences_needed(2, 100, 5)
    206
    """
    return r * (d + m - r)


def recover_low_rank(measured, d):
    """Return G, (m, d), that agrees with ``S_j g_j = b_j`` and has a small nuclear norm.

    Minimises ``sum_j |S_j g_j - b_j|^2 / 2 + w |G|_*`` by accelerated proximal gradients (Toh and
    Yun 2010), w falling: the penalised form of the Dantzig selector of SI-BO.

    Parameters
    ----------
    measured : list of (ndarray of shape (k_j, d), ndarray of shape (k_j,))
        S_j and b_j for every row of G.
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
    """Return G after N_STEPS accelerated proximal gradient steps."""
    ahead, t = G, 1.0
    for _ in range(N_STEPS):
        slope = np.array([S.T @ (S @ g - b) for (S, b), g in zip(measured, ahead, strict=True)])
        new = _shrink(ahead - slope / lipschitz, weight / lipschitz)
        t_new = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        ahead = new + (t - 1.0) / t_new * (new - G)
        G, t = new, t_new
    return G


def _shrink(G, by):
    """Return G with its singular values lowered by `by`, and none below 0."""
    left, sizes, right = np.linalg.svd(G, full_matrices=False)
    return (left * np.maximum(sizes - by, 0.0)) @ right
