"""Outer product of gradients (OPG) and minimum average variance estimation (MAVE)."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import linalg
from scipy.stats import rankdata

from skbo_silbo._numerics.local_linear import local_predictions, local_slopes, mave_step
from skbo_silbo._sklearn import StrOptions
from skbo_silbo.decomposition._projection import SupervisedProjection
from skbo_silbo.decomposition.rows._columns import Frame, mean_and_error
from skbo_silbo.decomposition.rows._response import response_targets
from skbo_silbo.decomposition.rows._weights import copies
from skbo_silbo.decomposition.selection._n_components import check_identified
from skbo_silbo.decomposition.significance._variance_tests import warn_if_dependence_unseen
from skbo_silbo.decomposition.slicing._slices import slice_response

FIRST_RIDGE = 1e-2
RIDGE = 1e-3  # relative ridge of the local regressions
N_OUTER_STEPS = 10
MAX_STEPS = 50  # iterations of MAVE
N_CENTRAL_SLICES = 10  # slices of y with target="central"
N_FOLDS = 5
# MAVE stops if the sine of the angle between successive subspaces falls below the first value in
# `fit`, and below the second one in cross-validation.
TOLERANCE, COARSE_TOLERANCE = 1e-3, 1e-2
MAX_AUTO_COMPONENTS = 6  # largest number of directions that n_components="auto" tries


class OuterProductGradients(SupervisedProjection):
    """Outer product of gradients (OPG).

    Find the directions along which local linear regressions of y are steepest: the leading
    eigenvectors of the average outer product of their slopes. The neighbourhoods are then
    recomputed along these directions, narrower in each step [1]_. `MAVE` refines the result.

    Like `ActiveSubspace`, OPG finds directions in which y is symmetric and does not need the
    linearity condition. It is much faster for many samples, but needs several times more samples
    than features and does not favour sparse directions.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of components. "auto" adds directions, up to 6, as long as each reduces the five-fold
        cross-validation error of a local linear regression on the scores by at least one standard
        error. If the scores predict no better than the mean, a warning is raised, `n_components_`
        is 0, and `components_` holds the leading direction. Duplicated samples are held out
        together.
    target : {"mean", "central"}, default="mean"
        Subspace to estimate. "mean": the central mean subspace, which determines the mean of y.
        "central": the central subspace, which determines the distribution of y. It replaces y by
        the indicators of ten slices [2]_, as R's ``MAVE`` does by default (csOPG, csMAVE). It also
        finds changes in the variance of y and is robust to outliers in y, but needs more samples.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, the steepest first. The entry of largest magnitude in each row is
        positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples.
    eigenvalues_ : ndarray of shape (q,)
        Eigenvalues of the average outer product of gradients in decreasing order, for features of
        unit standard deviation and in squared units of the response; q is the number of
        non-constant features.
    n_components_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    Notes
    -----
    Each step takes O(n^2 d^2) time and O(n d^2) memory for n labelled samples and d features. A fit
    takes ten steps, and "auto" at least eleven fits: minutes for 400 samples of 210 features. A
    warning is raised from ``n d = 70,000`` on. R's ``MAVE`` screens features first; here, select
    features beforehand if needed.

    References
    ----------
    .. [1] Y. Xia, H. Tong, W. Li, L.-X. Zhu, "An adaptive estimation of dimension reduction space",
       J. R. Stat. Soc. B 64 (2002), section 3.2.
    .. [2] H. Wang, Y. Xia, "Sliced regression for dimension reduction", JASA 103 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import OuterProductGradients
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = (X[:, 2] - X[:, 5]) ** 2
    >>> opg = OuterProductGradients().fit(X, y)
    >>> np.abs(opg.components_.round(1))
    array([[0. , 0. , 0.7, 0. , 0. , 0.7]])
    """

    _by_value = _forms_pairs = _needs_rows = True
    _parameter_constraints: ClassVar = {
        **SupervisedProjection._parameter_constraints,
        "target": [StrOptions({"mean", "central"})],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        target: str = "mean",
    ) -> None:
        self.n_components = n_components
        self.target = target

    def _learn(self, data):
        frame = Frame.from_labelled(data.X_labeled, data.y, data.weights)
        U = frame.standardise(data.X_labeled)
        check_identified(self.n_components, U.shape[1], "features that vary")
        targets, scale = self._targets(data, frame)
        weights = np.ones(len(U)) if data.weights is None else data.weights.astype(np.float64)
        rows = _Rows(U, targets, weights)
        auto = self.n_components == "auto"
        found = self._choose_n_components(rows, data.y) if auto else int(self.n_components)
        if not found:
            sees = "changes in the mean of y, not in its variance"
            central = self.target == "central"
            why = "the scores predict held-out samples no better than the mean"
            details = {"sees_means": central, "sees_variances": central, "why": why}
            warn_if_dependence_unseen(
                U, data.y, data.weights, sees, remedy="Label more samples", **details
            )
        B, eigenvalues = self._fit_directions(rows, max(found, 1))
        self.mean_, self.n_components_ = frame.mean, found
        self.eigenvalues_ = scale**2 * np.clip(eigenvalues, 0, None)
        self.components_ = frame.rows_in_features(B.T)

    def _targets(self, data, frame):
        """Return targets of total variance 1, and the factor by which y was divided."""
        if self.target == "central":
            codes = slice_response(data.y, N_CENTRAL_SLICES, sample_weight=data.weights).codes
            return response_targets(codes.astype(str), data.weights), 1.0
        return ((data.y - frame.y_mean) / frame.y_scale)[:, None], frame.y_scale

    def _fit_directions(self, rows, r, tolerance=TOLERANCE):
        """Estimate directions by OPG; each step narrows neighbourhoods and drops directions.

        The result of the first steps is cached, because it does not depend on r.
        """
        n, d = rows.weights.sum(), rows.U.shape[1]
        k = max(d, 3)
        h, shrinkage = n ** (-1 / (k + 6)), n ** (-1 / (2 * (k + 6)))
        V, ridge, width, path = rows.U, FIRST_RIDGE, h * np.sqrt(max(1.0, d / 3)), ()
        for step in range(N_OUTER_STEPS):
            path = *path, V.shape[1], width
            if path not in rows.steps:
                rows.steps[path] = rows.leading_slopes(V, width, ridge)
            singular, directions = rows.steps[path]
            kept = max(r, d // 2 ** (step + 1))
            V, ridge = rows.U @ directions[:kept].T, RIDGE
            h = width = max(shrinkage * h, self._bandwidth(n, r))
        return directions[:r].T, singular**2 / n

    def _bandwidth(self, n, r):
        return n ** (-1 / (r + 4))

    def _choose_n_components(self, rows, y):
        """Select the number of directions by the error of predictions for held-out samples."""
        firsts, sets = copies(rows.U, y)
        folds = (rankdata(y[firsts], method="ordinal") % min(N_FOLDS, len(firsts)))[sets]
        parts = [
            (out, rows.subset(out), rows.subset(~out)) for out in np.unique(folds)[:, None] == folds
        ]
        errors, best = self._held_out_errors(parts, 1), 1
        for r in range(2, min(rows.U.shape[1], MAX_AUTO_COMPONENTS) + 1):
            fresh = self._held_out_errors(parts, r)
            gain, error = mean_and_error(errors - fresh, rows.weights)
            if gain <= error:
                break
            errors, best = fresh, r
        gain, error = mean_and_error(self._held_out_errors(parts, 0) - errors, rows.weights)
        return best if gain > error else 0

    def _held_out_errors(self, parts, r):
        """Return the squared prediction error of each held-out sample.

        With r = 0, the prediction is the mean of the training samples.
        """
        errors = np.empty(len(parts[0][0]))
        for places, out, kept in parts:
            if r:
                B, _ = self._fit_directions(kept, r, COARSE_TOLERANCE)
                h, near = self._bandwidth(kept.weights.sum(), r), (kept.U @ B, kept.t, out.U @ B)
                values = local_predictions(*near, h, RIDGE, kept.weights)
            else:
                values = np.average(kept.t, axis=0, weights=kept.weights)
            errors[places] = np.sum((out.t - values) ** 2, axis=1)
        return errors


class MAVE(OuterProductGradients):
    """Minimum average variance estimation (MAVE).

    Starting from the directions of `OuterProductGradients`, alternate between the local slopes
    along the directions and the directions that fit best given the slopes [1]_. MAVE is slightly
    more accurate than OPG, and slower.

    Parameters
    ----------
    n_components, target
        As in `OuterProductGradients`. R's ``MAVE`` uses "central" by default (csMAVE); "mean" is
        its meanMAVE.

    Attributes
    ----------
    components_, mean_, eigenvalues_, n_components_, n_features_in_, feature_names_in_
        As in `OuterProductGradients`.
    n_iter_ : int
        Number of iterations until convergence. It is 1 if there are as many directions as features.

    References
    ----------
    .. [1] Y. Xia, H. Tong, W. Li, L.-X. Zhu, "An adaptive estimation of dimension reduction space",
       J. R. Stat. Soc. B 64 (2002), section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import MAVE
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = np.exp(X[:, 1]) * rng.normal(size=300)  # no mean, but a scale
    >>> mave = MAVE(1, target="central").fit(X, y)
    >>> int(np.abs(mave.components_).argmax())
    1
    """

    def _fit_directions(self, rows, r, tolerance=TOLERANCE):
        B, eigenvalues = super()._fit_directions(rows, r)
        self.n_iter_ = 1
        if r == rows.U.shape[1]:
            return B, eigenvalues
        h = self._bandwidth(rows.weights.sum(), r)
        for step in range(MAX_STEPS):
            previous, B = B, mave_step(rows.U, rows.t, B, h, RIDGE, rows.weights)
            self.n_iter_ = step + 1
            if np.linalg.norm(B - previous @ (previous.T @ B), 2) < tolerance:
                break
        along = _Rows(rows.U @ B, rows.t, rows.weights)
        return B @ along.leading_slopes(along.U, h, RIDGE)[1].T, eigenvalues


@dataclass(frozen=True, eq=False)
class _Rows:
    """Standardised samples with their targets and optional sample weights.

    `steps` caches the results of the first OPG steps.
    """

    U: np.ndarray
    t: np.ndarray
    weights: np.ndarray
    steps: dict = field(default_factory=dict)

    def subset(self, kept):
        """Return the samples that a mask selects."""
        return _Rows(self.U[kept], self.t[kept], self.weights[kept])

    def leading_slopes(self, V, bandwidth, ridge):
        """Return the singular values and right singular vectors of all local slopes.

        Neighbours are weighted by their distance along the directions V.
        """
        slopes = local_slopes(self.U, self.t, V, bandwidth, ridge, self.weights)
        slopes *= np.sqrt(self.weights)[:, None, None]
        slopes = slopes.transpose(0, 2, 1).reshape(-1, self.U.shape[1])
        return linalg.svd(slopes, full_matrices=False)[1:]
