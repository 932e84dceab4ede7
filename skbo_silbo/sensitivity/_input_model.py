"""Gaussian process on all inputs from which sensitivity measures are computed.

Its prior assumes that all inputs may matter. Sensitivity measures are computed on posterior draws
of the objective, with hyperparameters sampled as well, so their spread reflects the remaining
uncertainty. The model depends only on the evaluated points and their values. A search, an optimiser
and a result with the same evaluations therefore give the same measures.

========  ===============  =================================================================
symbol    shape            meaning
========  ===============  =================================================================
A, B      (N, m)           two independent samples of encoded points
A_g       (N, m)           A with the columns of input g taken from B
f         (S + 1, N)       S posterior draws and the posterior mean at N points
========  ===============  =================================================================

The draws are evaluated at points rounded to the search space. In a conditional space, rounding
removes the inputs that a point does not have. Taking such an input from B therefore has no effect.
Taking the branch from B adds the inputs of the new branch, with their values in A.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Self

import numpy as np
from scipy.stats import ks_2samp, qmc, sobol_indices
from sklearn.model_selection import KFold

from skbo_silbo._checks import as_noise
from skbo_silbo._typing import FloatArray
from skbo_silbo.decomposition.rows._columns import with_positive_peaks
from skbo_silbo.sensitivity._held_out_density import (
    MIN_VALUES,
    N_FOLDS,
    constant_log_density,
    contaminated_log_density,
    lower_bound_of_gain,
)
from skbo_silbo.sensitivity._input_shares import InputShares, rank_by_low_end
from skbo_silbo.sensitivity._posterior_draws import FunctionDraws, draw_processes
from skbo_silbo.space.any_space import AnySpace
from skbo_silbo.space.values import format_value
from skbo_silbo.surrogate import Warp
from skbo_silbo.surrogate.process import GaussianProcessSurrogate
from skbo_silbo.surrogate.warps import (
    HalfLog,
    IdentityWarp,
    LogAboveLeast,
    invert_warp,
    warped_variance,
)

N_MODELS = 16  # draws of the hyperparameters
N_FUNCTIONS = 4  # draws of the objective for each of them
LARGEST_WORK = 2 * 10**6  # squared number of values times number of inputs
MOST_NAMED = 10  # inputs in the largest set whose joint share is reported
LEVEL = 0.9  # nominal coverage of the intervals
OUTLIER_RANGES = 3.0  # interquartile ranges beyond the quartiles
MAX_OUTLIERS = 0.05  # proportion of the values that may be outliers, on either side
# Short chains around one mode underestimate the uncertainty. Calibrated in experiment `shares`.
WIDENING = 1.4
N_EVEN = 1024  # evenly drawn points with which the observed ones are compared
MAX_UNEVEN = 0.2  # proportion of columns that may differ from evenly drawn ones
MAX_HIDDEN = 0.5
RESOLUTION = 0.02  # error of a share due to averaging over N points
PRIOR = "dimension-scaled"  # a sparse prior is overconfident with few values
SCALE_ERRORS = 2.0  # standard errors by which a logarithmic scale must outperform the identity
SELDOM = 0.1  # proportion of values outside the most frequent level of a category
NEGLIGIBLE = 1e-9  # importance of a direction that is due to rounding
SCALES = {
    IdentityWarp.name: "the values",
    HalfLog.name: "the values, those above the median as logarithms",
    LogAboveLeast.name: "the logarithms of the values' distances from the lowest",
}


@dataclass(frozen=True, eq=False)
class InputModel:
    """Gaussian process on all inputs, used to quantify the effect of each input.

    Attributes
    ----------
    space : Space, SpaceUnion or Box
        Search space that contains the evaluated points.
    X : ndarray of shape (n, m)
        Encoded points whose values are finite, in a canonical order.
    y : ndarray of shape (n,)
        Observed values at the points, with outliers clipped.
    n_clipped : int
        Number of values that were clipped.
    warp : object
        Transformation of the values to the scale on which the model is fitted.
    held_out_r2 : float
        R² of predictions of held-out values on the scale of the model, by five-fold
        cross-validation. NaN if there are fewer than ten values or all values are equal.
    is_informative : bool
        Whether the model predicts held-out values better than a constant: its R² is positive and
        the gain in log density exceeds its standard error.
    """

    space: AnySpace
    X: FloatArray
    y: FloatArray
    n_clipped: int
    warp: Warp
    held_out_r2: float
    is_informative: bool
    _draws: list[FunctionDraws]  # empty unless informative
    _location: tuple[float, float]  # mean and standard deviation that standardise the draws

    @classmethod
    def fit(
        cls, space: AnySpace, X: FloatArray, y: FloatArray, noise_std: FloatArray | None = None
    ) -> Self:
        """Fit the model to encoded points and observed values.

        Parameters
        ----------
        space : Space, SpaceUnion or Box
            Search space that contains the evaluated points.
        X : ndarray of shape (n, m)
            Encoded points, one per row.
        y : ndarray of shape (n,)
            Observed values, to be minimised. Low values are distinguished better than high ones on
            a logarithmic scale.
        noise_std : ndarray of shape (n,), default=None
            Standard deviation of the noise in each value, or NaN if unknown.

        Returns
        -------
        model : InputModel
        """
        noise_std = as_noise(noise_std, y.shape)
        X, observed, noise_std = _sort_rows(X, y, noise_std)
        y = np.clip(observed, *outlier_limits(observed)) if observed.size else observed
        if y.size < MIN_VALUES or np.ptp(y) == 0.0:
            return cls(space, X, y, 0, IdentityWarp(), float("nan"), False, [], (0.0, 1.0))
        rng = np.random.default_rng(0)
        rows, most = np.arange(y.size), max(MIN_VALUES, int(np.sqrt(LARGEST_WORK / X.shape[1])))
        if y.size > most:
            rows = np.sort(rng.choice(y.size, most, replace=False))
        warp = _choose_scale(X[rows], y[rows])
        data = X[rows], warp(y)[rows], warped_variance(warp, y, noise_std)[rows]
        r2, gains = _cross_validate(*data)
        informative = r2 > 0.0 and lower_bound_of_gain(gains) > 0.0
        draws, location = _draw_functions(*data, rng) if informative else ([], (0.0, 1.0))
        n_clipped = int(np.sum(y != observed))
        return cls(space, X, y, n_clipped, warp, r2, bool(informative), draws, location)

    @property
    def scale(self) -> str:
        """Name of the scale on which the variance is decomposed, for reports."""
        outliers = "outlier" if self.n_clipped == 1 else "outliers"
        note = f" ({self.n_clipped} {outliers} clipped)" if self.n_clipped else ""
        return SCALES[self.warp.name] + note

    @cached_property
    def hidden_share(self) -> float:
        """Share of the variance that the evaluated points may not reveal.

        It is 0 if the observed points cover the space evenly. Otherwise it is the number of inputs
        divided by the number of observed values, at most 0.5. On planted problems, this gives
        intervals with about the nominal coverage (experiment ``share_intervals``).
        """
        even = self.space.round(self.points(N_EVEN))
        columns = zip(self.X.T, even.T, strict=True)
        p_values = [ks_2samp(x, u, method="asymp").pvalue for x, u in columns]
        if np.mean(np.array(p_values) < 0.01) <= MAX_UNEVEN:
            return 0.0
        n_inputs = sum(map(bool, self.space.column_groups().values()))
        return min(n_inputs / self.y.size, MAX_HIDDEN)

    @cached_property
    def shares(self) -> InputShares:
        """Shares of the variance that inputs explain, each and jointly."""
        groups = {name: own for name, own in self.space.column_groups().items() if own}
        facts = tuple(groups), self.y.size, self.held_out_r2, self.is_informative, self.scale
        cautions = self._cautions()
        if not self.is_informative:
            unknown = np.full((len(groups), 3), np.nan)
            return InputShares(*facts, unknown, unknown[:MOST_NAMED], cautions)
        n = 1024 if len(groups) <= 50 else 512
        each = self._total_effects(n, list(groups.values()))
        hidden = self.hidden_share
        intervals = _share_interval(each, hidden)
        order = rank_by_low_end(intervals)[:MOST_NAMED]
        ranked = [list(groups.values())[i] for i in order]
        sets = [list(chain.from_iterable(ranked[: k + 1])) for k in range(len(ranked))]
        # the closed Sobol index of a set is one minus the total index of its complement
        together = 1.0 - self._total_effects(n, sets, of_others=True)
        return InputShares(*facts, intervals, _share_interval(together, hidden), cautions)

    def _cautions(self):
        """Return warnings about categorical inputs with one dominant category."""
        cautions = []
        for category in self.space.categories():
            counts = category.counts(self.X)
            n, most = counts.sum(), counts.argmax()
            n_others = n - counts[most]
            if n >= MIN_VALUES and n_others <= SELDOM * n:
                level = f"{category.name} than {format_value(category.values[most])}"
                cautions.append(
                    f"Only {n_others} of {n} evaluations in the model used another {level}."
                )
        return tuple(cautions)

    @cached_property
    def directions(self) -> tuple[FloatArray, FloatArray]:
        """Directions along which the objective varies most, and their importance.

        The directions, one per row, are the eigenvectors of the mean outer product of the gradients
        of the posterior mean at the observed points. Their importance is the normalised eigenvalue.
        Both arrays are empty if the model is not informative.
        """
        if not self.is_informative:
            return np.empty((0, self.X.shape[1])), np.empty(0)
        return principal_slopes(self._gradients)

    def dependence(self, blocks: Iterable[FloatArray]) -> list[FloatArray]:
        """Return the partial dependence: the average prediction over each block of points.

        Parameters
        ----------
        blocks : list of k ndarrays of shape (N, m)
            Blocks of encoded points. The model is averaged over each block.

        Returns
        -------
        mean, low, high : ndarray of shape (k,)
            Average prediction for each block, and the lower and upper bound of its interval, in the
            units of the observed values.
        """
        means = [self.values(self.space.round(X)).mean(axis=1) for X in blocks]
        centre, spread = self._location
        bounds = centre + spread * _interval(np.column_stack(means)).T
        return list(invert_warp(self.warp, self.y, bounds))

    def points(self, n: int) -> FloatArray:
        """Return n quasi-random points that cover the search space evenly."""
        return self.space.spread(_evenly_spread(n, len(self.space.coordinates())))

    def values(self, X: FloatArray) -> FloatArray:
        """Evaluate posterior draws of the objective and its posterior mean at given points.

        Parameters
        ----------
        X : ndarray of shape (N, m)
            Encoded points at which the draws are evaluated, one per row.

        Returns
        -------
        values : ndarray of shape (S + 1, N)
        """
        return _stack_draws([draws(X) for draws in self._draws])

    @cached_property
    def _gradients(self):
        """Gradients of the posterior mean at the evaluated points."""
        return np.mean([draws.mean_gradient(self.X) for draws in self._draws], axis=0)

    def _sample_pair(self, n):
        """Return two independent samples of n points that cover the search space evenly.

        The first coordinates of a Sobol sequence are the most uniform in pairs. They are therefore
        assigned to the inputs with the largest gradients, in both samples.
        """
        squares = np.sum(self._gradients**2, axis=0)
        steepness = [squares[columns].sum() for columns in self.space.coordinates()]
        order = np.argsort(-np.array(steepness), kind="stable")
        drawn = _evenly_spread(n, 2 * order.size)
        U = np.empty((2, n, order.size))
        U[0][:, order], U[1][:, order] = drawn[:, ::2], drawn[:, 1::2]
        return [self.space.spread(u) for u in U]

    def _total_effects(self, n, groups, *, of_others=False):
        """Estimate the total Sobol indices of groups of columns.

        Parameters
        ----------
        n : int
            Number of points in each of the two samples.
        groups : list of list of int
            Groups of columns whose indices are computed.
        of_others : bool, default=False
            Whether to compute the index of the columns outside each group instead of the columns in
            it.

        Returns
        -------
        indices : ndarray of shape (S + 1, k)
        """
        pair = self._sample_pair(n)
        drawn, donor = pair[::-1] if of_others else pair
        base = self.space.round(drawn)
        replaced = [self._replaced_columns(base, drawn, donor, columns) for columns in groups]
        donor = self.space.round(donor)
        f_pair, f_changed = [], []
        for draws in self._draws:
            prepared = draws.prepare(base)
            f_pair.append(np.stack([draws.values(prepared), draws(donor)]))
            changed = [draws.replace_columns(prepared, *columns) for columns in replaced]
            f_changed.append([draws.values(points) for points in changed])
        f_base, f_donor = (_stack_draws(list(values)) for values in zip(*f_pair, strict=True))
        f_AB = np.stack([_stack_draws(list(values)) for values in zip(*f_changed, strict=True)])
        f_A, f_B = (f_donor, f_base) if of_others else (f_base, f_donor)
        indices = sobol_indices(func={"f_A": f_A, "f_B": f_B, "f_AB": f_AB}, n=n)
        return indices.total_order.reshape(len(f_A), len(groups))

    def _replaced_columns(self, base, drawn, donor, columns):
        """Replace columns of a sample by columns of another sample, for Sobol estimators.

        Parameters
        ----------
        base : ndarray of shape (N, m)
            The sample after rounding to the search space.
        drawn : ndarray of shape (N, m)
            The sample before rounding to the search space.
        donor : ndarray of shape (N, m)
            The sample that provides the new columns, before rounding.
        columns : list of int
            Indices of the columns to replace.

        Returns
        -------
        changed : ndarray of int
            Indices of the columns that differ from `base` after rounding.
        values : ndarray of shape (N, len(changed))
            New values of these columns, rounded to the search space.
        """
        X = drawn.copy()
        X[:, columns] = donor[:, columns]
        X = self.space.round(X)
        changed = np.flatnonzero((base != X).any(axis=0))
        return changed, X[:, changed]


def principal_slopes(gradients):
    """Return the principal directions of a set of gradients and their relative importance.

    The right singular vectors of the gradients are the eigenvectors of their mean outer product.

    Parameters
    ----------
    gradients : ndarray of shape (n, m)

    Returns
    -------
    directions : ndarray of shape (k, m)
    importance : ndarray of shape (k,)
        Relative importance of each direction. The values are non-negative and sum to 1.
    """
    _, lengths, directions = np.linalg.svd(gradients, full_matrices=False)
    squares = lengths**2
    if not squares.any():
        return directions[:0], squares[:0]
    shares = squares / squares.sum()
    kept = shares > NEGLIGIBLE
    return with_positive_peaks(directions[kept]), shares[kept] / shares[kept].sum()


def _sort_rows(X, y, noise_std):
    """Sort the rows with finite values, whatever their original order."""
    order = np.lexsort([noise_std, y, *X.T[::-1]])
    order = order[np.isfinite(y[order])]
    return X[order], y[order], noise_std[order]


def outlier_limits(values):
    """Return the limits beyond which values count as outliers and are clipped.

    Outliers are more than three interquartile ranges beyond the quartiles (Tukey 1977) and among
    the 5 % lowest or highest values. The second condition keeps the early values of a search that
    has converged, in which most values are close to the minimum and early values are far from it.
    """
    least, lower, upper, most = np.quantile(values, [MAX_OUTLIERS, 0.25, 0.75, 1.0 - MAX_OUTLIERS])
    margin = OUTLIER_RANGES * (upper - lower)
    return min(least, lower - margin), max(most, upper + margin)


def _choose_scale(X, y):
    """Select the transformation of the values by leave-one-out log density.

    A logarithmic scale is only chosen if it is significantly better than the original one.
    """

    def density(warp):
        process = GaussianProcessSurrogate().fit(X, warp(y))
        return process.leave_one_out_log_density() + warp.log_slope(y)

    unscaled, best, best_gain = density(IdentityWarp()), IdentityWarp(), 0.0
    for warp in (HalfLog(), LogAboveLeast()):
        gain = lower_bound_of_gain(density(warp) - unscaled, SCALE_ERRORS)
        if gain > best_gain:
            best, best_gain = warp, gain
    return best


def _cross_validate(X, y, noise):
    """Return the R² of held-out values, and their gains in log density over a constant."""
    predicted, density, constant = np.empty((3, y.size))
    for kept, out in KFold(N_FOLDS, shuffle=True, random_state=0).split(X):
        process = GaussianProcessSurrogate(prior=PRIOR).fit(X[kept], y[kept], noise[kept])
        predicted[out] = process.predict(X[out])[0]
        density[out] = process.log_predictive_density(X[out], y[out])
        constant[out] = constant_log_density(y[kept], y[out])
    r2 = float(1.0 - np.mean((y - predicted) ** 2) / y.var())
    return r2, contaminated_log_density(density, constant) - constant


def _draw_functions(X, y, noise, rng):
    """Draw functions from the posterior, and return them with the scale of their values."""
    process = GaussianProcessSurrogate(prior=PRIOR).fit(X, y, noise)
    sampled = draw_processes(process, N_MODELS, rng)
    draws = [FunctionDraws(sample, N_FUNCTIONS, rng) for sample in sampled]
    return draws, (process.y_mean_, process.y_scale_)


def _stack_draws(blocks):
    """Stack the values of several models' draws, with the average mean as last row."""
    draws = [block[:-1] for block in blocks]
    return np.vstack([*draws, np.mean([block[-1] for block in blocks], axis=0)])


def _evenly_spread(n, p):
    """Return n points of a scrambled Sobol sequence in [0, 1]^p."""
    return qmc.Sobol(p, seed=np.random.default_rng(0)).random(n)


def _interval(values, widening=1.0):
    """Compute credible intervals from the values of posterior draws.

    Parameters
    ----------
    values : ndarray of shape (S + 1, k)
        Values of a quantity in each posterior draw. The last row is the estimate.
    widening : float, default=1.0
        Factor by which the intervals are widened.

    Returns
    -------
    intervals : ndarray of shape (k, 3)
        Estimate, lower bound and upper bound of each quantity.
    """
    levels = [(1.0 - LEVEL) / 2.0, 0.5, (1.0 + LEVEL) / 2.0]
    low, median, high = np.quantile(values[:-1], levels, axis=0)
    low, high = (median + widening * (bound - median) for bound in (low, high))
    estimate = values[-1]
    return np.column_stack([estimate, np.minimum(low, estimate), np.maximum(high, estimate)])


def _share_interval(values, hidden):
    """Return variance shares with intervals that include the sampling error.

    `hidden` is the share of the variance that inputs may explain but the model misses.
    """
    estimate, low, high = _interval(values, WIDENING).T
    low, high = np.clip([low - RESOLUTION, high + RESOLUTION], 0.0, 1.0) * (1.0 - hidden)
    estimate = np.clip(estimate, 0.0, 1.0)
    return np.column_stack([estimate, low, high + hidden])
