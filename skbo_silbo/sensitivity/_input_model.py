"""What the observed values say of the inputs: one model behind every readout.

A Gaussian process on all inputs, with the prior that all may matter. What is read from it is read
from draws of the objective (hyperparameters drawn from their posterior, then functions), so that
the spread of a readout is what the values leave open. It sees points and values only, not what
proposed them: a search, an optimiser and a result of the same evaluations say the same.

========  ===============  =================================================================
symbol    shape            meaning
========  ===============  =================================================================
A, B      (N, m)           independent points of the cube, a value for every input
A_g       (N, m)           A with the columns of input g taken from B
f         (S + 1, N)       values at N points of S draws and, last, of the posterior mean
========  ===============  =================================================================

The draws are asked for the rounded points. In a conditional space rounding leaves out what a point
does not have: to take that from B changes nothing, and to take the choice of the branch from B
uncovers values that A had all along.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Self

import numpy as np
from scipy.stats import qmc, sobol_indices
from sklearn.model_selection import KFold

from skbo_silbo._checks import as_noise
from skbo_silbo._typing import FloatArray
from skbo_silbo.decomposition.rows._centering import with_positive_peaks
from skbo_silbo.sensitivity._held_out_density import (
    LEAST_LABELS,
    N_FOLDS,
    HeldOut,
    contaminated_log_density,
    held_out_constant,
    lower_bound_of_gain,
    rows_for_evidence,
)
from skbo_silbo.sensitivity._input_shares import CONSIDERABLE, InputShares, rank_by_low_end
from skbo_silbo.sensitivity._posterior_draws import FunctionDraws, draw_processes
from skbo_silbo.space._read import AnySpace
from skbo_silbo.surrogate import Warp
from skbo_silbo.surrogate._process import GaussianProcessSurrogate
from skbo_silbo.surrogate._warps import HalfLog, IdentityWarp, LogAboveLeast, warped_variance

N_MODELS = 16  # draws of the hyperparameters
N_FUNCTIONS = 4  # draws of the objective for each
LARGEST_WORK = 2 * 10**6  # labels squared times inputs
MOST_NAMED = 10  # inputs in the largest set whose share is reported
LEVEL = 0.9  # of the intervals
SURE_OF_MOST = 0.95  # share of the draws in which no more of the others explain much
FENCES = 3.0  # interquartile ranges beyond the quartiles
OUTER = 0.05  # of the values, on either side, that may be outliers
WIDENING = 1.4  # of intervals of shares: short chains round one mode are too sure (`shares`)
# of a share: the error of averages over N points, below it an input is irrelevant
RESOLUTION = 0.02
PRIOR = "dimension-scaled"  # all inputs may matter: the sparse one is sure of its few too soon
SCALE_ERRORS = 2.0  # standard errors by which another scale must beat the values themselves
SELDOM = 0.1  # share of the values of other levels than the most frequent: they are hardly tried
NEGLIGIBLE = 1e-9  # share of a direction that is rounding
SCALES = {
    IdentityWarp.name: "the values",
    HalfLog.name: "the values, those above the median as logarithms",
    LogAboveLeast.name: "the logarithms of the values' distances from the lowest",
}


@dataclass(frozen=True, eq=False)
class InputModel:
    """A model of the observed values, on all inputs; made by `fit`.

    Attributes
    ----------
    space : Space, SpaceUnion or Box
    X : ndarray of shape (n, m)
        Points of the cube whose values are finite, in an order of their own.
    y : ndarray of shape (n,)
        Far outliers, at most a twentieth on either side, moved to where the others end.
    n_moved : int
        How many these are.
    warp : object
        The scale on which the model sees the values.
    held_out_r2 : float
        Share of the variance of held-out values, on that scale, that it explains, five folds;
        negative if it is worse than their mean. NaN with fewer than ten values, or equal ones.
    is_informative : bool
        Whether held-out values are predicted better than by a constant: in squared error, and in
        log density by more than the standard error of the difference.
    held_out : HeldOut or None
        The log densities of which that is said; None with fewer than ten values, or equal ones.
    """

    space: AnySpace
    X: FloatArray
    y: FloatArray
    n_moved: int
    warp: Warp
    held_out_r2: float
    is_informative: bool
    _draws: list[FunctionDraws]  # empty unless informative
    # mean and standard deviation by which the draws are standardised
    _location: tuple[float, float]
    held_out: HeldOut | None = None

    @classmethod
    def fit(
        cls, space: AnySpace, X: FloatArray, y: FloatArray, noise_std: FloatArray | None = None
    ) -> Self:
        """Fit to points of the cube and values; those that are not finite are left out.

        Parameters
        ----------
        space : Space, SpaceUnion or Box
        X : ndarray of shape (n, m)
        y : ndarray of shape (n,)
            To be minimised: the logarithmic scales tell low values apart.
        noise_std : ndarray of shape (n,), default=None
            Of every value, where it is known; NaN where not.
        """
        noise_std = as_noise(noise_std, y.shape)
        X, observed, noise_std = _canonical(X, y, noise_std)
        y = _moved_in(observed)
        if y.size < LEAST_LABELS or np.ptp(y) == 0.0:
            return cls(space, X, y, 0, IdentityWarp(), float("nan"), False, [], (0.0, 1.0))
        rng = np.random.default_rng(0)
        some = rows_for_evidence(y.size, X.shape[1], rng, LARGEST_WORK)
        warp = _choose_scale(X[some], y[some])
        data = X[some], warp(y)[some], warped_variance(warp, y, noise_std)[some]
        r2, held_out = _held_out(*data)
        informative = r2 > 0.0 and lower_bound_of_gain(held_out.identity - held_out.constant) > 0.0
        draws, location = _draw(*data, rng) if informative else ([], (0.0, 1.0))
        n_moved = int(np.sum(y != observed))
        return cls(space, X, y, n_moved, warp, r2, bool(informative), draws, location, held_out)

    @property
    def scale(self) -> str:
        """What the shares are shares of the variance of, in words."""
        outliers = "outlier" if self.n_moved == 1 else "outliers"
        moved = f" ({self.n_moved} far {outliers} moved in)" if self.n_moved else ""
        return SCALES[self.warp.name] + moved

    @cached_property
    def shares(self) -> InputShares:
        """What every input, and the first few together, explain: an `InputShares`."""
        groups = {name: own for name, own in self.space.column_groups().items() if own}
        known = tuple(groups), self.y.size, self.held_out_r2, self.is_informative, self.scale
        seldom_varied = self._seldom_varied()
        if not self.is_informative:
            nothing = np.full((len(groups), 3), np.nan)
            return InputShares(*known, nothing, nothing[:MOST_NAMED], seldom_varied=seldom_varied)
        n = 1024 if len(groups) <= 50 else 512
        each = self._total_effects(n, list(groups.values()))
        intervals = _share_interval(each)
        order = rank_by_low_end(intervals)[:MOST_NAMED]
        ranked = [list(groups.values())[i] for i in order]
        sets = [list(chain.from_iterable(ranked[: k + 1])) for k in range(len(ranked))]
        # A set explains what the total effect of all others leaves.
        together = 1.0 - self._total_effects(n, sets, of_others=True)
        may = np.sum(each[:-1][:, intervals[:, 1] == 0.0] >= CONSIDERABLE, axis=1)
        most = int(np.quantile(may, SURE_OF_MOST, method="higher"))
        return InputShares(*known, intervals, _share_interval(together), most, seldom_varied)

    def _seldom_varied(self):
        """Return name, value, and the numbers of `InputShares.seldom_varied` of such categories."""
        found = []
        for category in self.space.categories():
            counts = category.counts(self.X)
            n, most = int(counts.sum()), int(counts.argmax())
            n_others = n - int(counts[most])
            if n >= LEAST_LABELS and n_others <= SELDOM * n:
                found.append((category.name, category.values[most], n_others, n))
        return tuple(found)

    @cached_property
    def directions(self) -> tuple[FloatArray, FloatArray]:
        """The directions in which the mean is steep, (k, m), and their shares, (k,).

        The eigenvectors of ``mean of g g'``, g the gradient of the posterior mean at the
        observed points; none where the values say nothing.
        """
        if not self.is_informative:
            return np.empty((0, self.X.shape[1])), np.empty(0)
        return principal_slopes(self._gradients)

    def dependence(self, blocks: Iterable[FloatArray]) -> list[FloatArray]:
        """Return the mean over blocks of points of the draws.

        Parameters
        ----------
        blocks : list of k ndarrays of shape (N, m)

        Returns
        -------
        mean, low, high : ndarray of shape (k,)
            Of the posterior mean, and the ends of the interval of the draws; on the scale of the
            model, in the units of the observed values, and within their range.
        """
        means = [self.values(self.space.round(X)).mean(axis=1) for X in blocks]
        y, first = np.unique(self.y, return_index=True)
        seen, (centre, spread) = self.warp(self.y)[first], self._location
        of_means = _interval(np.column_stack(means)).T
        return [np.interp(centre + spread * values, seen, y) for values in of_means]

    def points(self, n: int) -> FloatArray:
        """Return n points, (n, m), spread evenly over the cube; not rounded to the space."""
        return self.space.spread(_evenly_spread(n, len(self.space.coordinates())))

    def values(self, X: FloatArray) -> FloatArray:
        """Return standardised values at points, (N, m): (S + 1, N), last the posterior mean's."""
        return _together([draws(X) for draws in self._draws])

    @cached_property
    def _gradients(self):
        """The gradients of the posterior mean at the observed points, (n, m)."""
        return np.mean([draws.mean_gradient(self.X) for draws in self._draws], axis=0)

    def _pair(self, n):
        """Return two times n points, each (n, m), spread evenly together.

        Of a Sobol sequence the first coordinates are the most even, two by two: they go to the
        inputs in which the mean is steepest, of either.
        """
        squares = np.sum(self._gradients**2, axis=0)
        steepness = [squares[columns].sum() for columns in self.space.coordinates()]
        order = np.argsort(-np.array(steepness), kind="stable")
        drawn = _evenly_spread(n, 2 * order.size)
        U = np.empty((2, n, order.size))
        U[0][:, order], U[1][:, order] = drawn[:, ::2], drawn[:, 1::2]
        return [self.space.spread(u) for u in U]

    def _total_effects(self, n, groups, *, of_others=False):
        """Return the total effects of groups of columns, or of all but these: (S + 1, k)."""
        pair = self._pair(n)
        drawn, donor = pair[::-1] if of_others else pair
        base = self.space.round(drawn)
        changes = [self._exchange(base, drawn, donor, columns) for columns in groups]
        donor = self.space.round(donor)
        f_pair, f_changed = [], []
        for draws in self._draws:
            placed = draws.place(base)
            f_pair.append(np.stack([draws.values(placed), draws(donor)]))
            f_changed.append([draws.values(draws.move(placed, *change)) for change in changes])
        f_base, f_donor = (_together(list(values)) for values in zip(*f_pair, strict=True))
        f_AB = np.stack([_together(list(values)) for values in zip(*f_changed, strict=True)])
        f_A, f_B = (f_donor, f_base) if of_others else (f_base, f_donor)
        found = sobol_indices(func={"f_A": f_A, "f_B": f_B, "f_AB": f_AB}, n=n)
        return found.total_order.reshape(len(f_A), len(groups))

    def _exchange(self, base, drawn, donor, columns):
        """Return which columns of `base`, the points drawn, rounded, change, and to what."""
        X = drawn.copy()
        X[:, columns] = donor[:, columns]
        X = self.space.round(X)
        changed = np.flatnonzero((base != X).any(axis=0))
        return changed, X[:, changed]


def principal_slopes(gradients):
    """Return directions, (k, m), and shares, (k,), of gradients (n, m) at n points.

    The right singular vectors of the gradients are the eigenvectors of their outer product.
    """
    _, lengths, directions = np.linalg.svd(gradients, full_matrices=False)
    squares = lengths**2
    if not squares.any():
        return directions[:0], squares[:0]
    shares = squares / squares.sum()
    kept = shares > NEGLIGIBLE
    return with_positive_peaks(directions[kept]), shares[kept] / shares[kept].sum()


def _canonical(X, y, noise_std):
    """Return the rows with finite values, in an order that depends on them alone."""
    order = np.lexsort([noise_std, y, *X.T[::-1]])
    order = order[np.isfinite(y[order])]
    return X[order], y[order], noise_std[order]


def _moved_in(y):
    """Return the values with far outliers moved in: one of 1e9 would be all of the variance.

    Beyond three interquartile ranges from the quartiles (Tukey 1977), and only the outer twentieth:
    a search that has come near the minimum leaves many values there, and its first ones far off.
    """
    if not y.size:
        return y
    return np.clip(y, *fences(y))


def fences(values):
    """Return the ends of the bulk of values, (n,), beyond which they are far outliers."""
    least, lower, upper, most = np.quantile(values, [OUTER, 0.25, 0.75, 1.0 - OUTER])
    reach = FENCES * (upper - lower)
    return min(least, lower - reach), max(most, upper + reach)


def _choose_scale(X, y):
    """Return the scale: the values themselves unless another surely predicts better."""

    def density(warp):
        process = GaussianProcessSurrogate().fit(X, warp(y))
        return process.leave_one_out_log_density() + warp.log_slope(y)

    unscaled, best, best_gain = density(IdentityWarp()), IdentityWarp(), 0.0
    for warp in (HalfLog(), LogAboveLeast()):
        gain = lower_bound_of_gain(density(warp) - unscaled, SCALE_ERRORS)
        if gain > best_gain:
            best, best_gain = warp, gain
    return best


def _held_out(X, y, noise):
    """Return `InputModel.held_out_r2` and `InputModel.held_out`."""
    predicted, density, folds = np.empty(y.size), np.empty(y.size), np.empty(y.size, dtype=int)
    splits = KFold(N_FOLDS, shuffle=True, random_state=0).split(X)
    for fold, (kept, out) in enumerate(splits):
        process = GaussianProcessSurrogate(prior=PRIOR).fit(X[kept], y[kept], noise[kept])
        predicted[out] = process.predict(X[out])[0]
        density[out] = process.log_predictive_density(X[out], y[out])
        folds[out] = fold
    r2 = float(1.0 - np.mean((y - predicted) ** 2) / y.var())
    constant = held_out_constant(y, folds)
    identity = contaminated_log_density(density, constant)
    return r2, HeldOut(X, y, folds, identity, constant)


def _draw(X, y, noise, rng):
    """Return draws of the objective, and by what they are standardised."""
    process = GaussianProcessSurrogate(prior=PRIOR).fit(X, y, noise)
    alike = draw_processes(process, N_MODELS, rng)
    draws = [FunctionDraws(other, N_FUNCTIONS, rng) for other in alike]
    return draws, (process.y_mean_, process.y_scale_)


def _together(values):
    """Stack (k + 1, N) of several models: all draws, and last the mean of their means."""
    draws = [block[:-1] for block in values]
    return np.vstack([*draws, np.mean([block[-1] for block in values], axis=0)])


def _evenly_spread(n, p):
    """Return n points of [0, 1]^p, (n, p), of a scrambled Sobol sequence."""
    return qmc.Sobol(p, seed=np.random.default_rng(0)).random(n)


def _interval(values, widening=1.0):
    """Return the estimate, low and high, (k, 3), of (S + 1, k), the last row the estimate."""
    ends = [(1.0 - LEVEL) / 2.0, 0.5, (1.0 + LEVEL) / 2.0]
    low, middle, high = np.quantile(values[:-1], ends, axis=0)
    low, high = (middle + widening * (end - middle) for end in (low, high))
    estimate = values[-1]
    return np.column_stack([estimate, np.minimum(low, estimate), np.maximum(high, estimate)])


def _share_interval(values):
    """Return the same for shares, with the error of averaging over points."""
    estimate, low, high = _interval(values, WIDENING).T
    ends = np.column_stack([estimate, low - RESOLUTION, high + RESOLUTION])
    return np.clip(ends, 0.0, 1.0)
