"""SI-BO's way to the subspace: low-rank recovery of gradients from directional differences.

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

from skbo_silbo._typing import Auto, FloatArray
from skbo_silbo.embedding import LinearEmbedding

STEP = 0.01  # e: of a difference, in half-widths of the cube
WEIGHT = 1e-3  # of the nuclear norm, relative to the least that makes G zero
N_STAGES = 4  # of falling weights, each begun where the last one ended
N_STEPS = 150  # of the proximal gradient in a stage
SHARE = 0.9  # of the squared size of G that n_components="auto" keeps


@dataclass(frozen=True, eq=False)
class DifferenceDesign:
    """Centres and, round each, points one step away in random directions.

    Attributes
    ----------
    centres : ndarray of shape (m, d)
    points : ndarray of shape (n, d)
        The centres, then their neighbours by turns.
    """

    centres: FloatArray
    points: FloatArray

    @classmethod
    def draw(cls, n: int, d: int, n_centres: int, rng: np.random.Generator) -> Self:
        """Draw n points in all, at most half of them centres."""
        m = max(min(n_centres, n // 2), 1)
        centres = rng.uniform(-1.0 + STEP, 1.0 - STEP, (m, d))
        signs = rng.choice([-1.0, 1.0], size=(max(n - m, 0), d))
        neighbours = centres[np.arange(len(signs)) % m] + STEP * signs
        return cls(centres, np.vstack([centres, neighbours])[:n])

    def first_points(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """Return the points: they were drawn with the centres, and are not drawn again."""
        return self.points


@dataclass(frozen=True, eq=False)
class DifferenceLearner:
    """Learn the span of the gradients at the centres of a `DifferenceDesign`.

    Tyagi and Cevher (2012) and Djolonga, Krause and Cevher (2013, section 3) sum the differences
    over the centres before they recover G; here each one is an equation of its own, which costs
    the same evaluations and says m times as much.

    Attributes
    ----------
    centres : ndarray of shape (m, d)
    n_components : int or "auto"
        Coordinates; "auto" keeps nine tenths of the squared size of G.
    """

    centres: FloatArray
    n_components: int | Auto
    name = "differences"

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
