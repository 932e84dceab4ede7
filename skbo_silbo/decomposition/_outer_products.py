"""Outer product of gradients and MAVE, of the mean of y or of its whole distribution."""

from dataclasses import dataclass, field

import numpy as np
from scipy import linalg
from scipy.stats import rankdata

from .._checks import check_choice
from .._numerics._local_linear import local_predictions, local_slopes, mave_step
from ._projection import SupervisedProjection
from .rows._centering import Frame, mean_and_error
from .rows._labels import response_targets
from .rows._weights import copies
from .selection._n_components import check_identified
from .significance._variance_tests import warn_of_unseen
from .slicing._slices import slice_response

FIRST_RIDGE = 1e-2
RIDGE = 1e-3  # relative ridges of the local regressions, in all features at first, then along few
N_OUTER_STEPS = 10
MAX_STEPS = 50  # of MAVE
N_CENTRAL_SLICES = 10  # slices whose indicators stand for the distribution of y
N_FOLDS = 5
# sines of the angle of a step of MAVE below which it stops: in a fit, and in one that a fold judges
TOLERANCE, COARSE_TOLERANCE = 1e-3, 1e-2
MAX_AUTO_COMPONENTS = 6  # most directions that n_components="auto" tries


class OuterProductGradients(SupervisedProjection):
    """Directions along which local linear regressions of y are steepest (OPG).

    A local linear regression at every row gives a gradient; the leading eigenvectors of the average
    of their outer products are the directions, and neighbourhoods are then taken anew along them,
    narrower each time [1]_. `MAVE` goes on from there. Like `ActiveSubspace` it finds directions in
    which the response is even; it is much faster for many rows, needs several times more rows than
    features, and has no prior for sparse directions. It needs no linearity condition.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of directions. "auto" tries 1, 2, ... up to 6 and stops as soon as a further one does
        not lower the five-fold cross-validated error of a local linear regression on the scores by
        a standard error. Where the scores predict no better than the mean does it is 0:
        `components_` keeps one direction, and a warning says so. Copies of a row are held out
        together.
    target : {"mean", "central"}, default="mean"
        "mean" seeks the central mean subspace, directions that the mean of y depends on. "central"
        seeks the central subspace, those that its distribution depends on: the responses are the
        indicators of ten slices of y, all at once [2]_. R's ``MAVE`` does so by default (csOPG,
        csMAVE). It sees scales, and outliers in y do no harm; it needs more rows.
    response : {"value", "rank"}, default="value"
        "rank" takes the ranks of y in place of its values, for heavy tails; with "central" they are
        the same.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, steepest first; the entry of largest magnitude in each is positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled rows.
    eigenvalues_ : ndarray of shape (q,)
        Of the average outer product of gradients, for features of unit standard deviation, in
        squared units of what stands for y, falling; q the number of features that vary.
    n_components_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

    Notes
    -----
    Time is O(n^2 d^2) a step, memory O(n d^2), for n labelled rows and d features. Ten steps make a
    fit, and "auto" takes at least eleven fits: minutes for 400 rows of 210 features. A warning says
    so from ``n d = 70,000`` on. R's ``MAVE`` screens the features first; here that is the user's.

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

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        target: str = "mean",
        response: str = "value",
    ) -> None:
        self.n_components = n_components
        self.target = target
        self.response = response

    def _learn(self, data, slices):
        frame = Frame.from_labelled(data.X_labeled, data.y, data.weights)
        U = frame.standardise(data.X_labeled)
        check_identified(self.n_components, U.shape[1], "features that vary")
        targets, scale = self._targets(data, frame)
        rows = _Rows(U, targets, data.weights)
        found = int(self.n_components) if self.n_components != "auto" else self._grow(rows, data.y)
        if not found:
            sees = "directions along which the mean of y changes, not its scale"
            central = self.target == "central"
            why = "the scores predict no better than the mean on rows held out"
            said = {"sees_means": central, "sees_variances": central, "why": why}
            warn_of_unseen(U, data.y, data.weights, sees, remedy="Label more rows", **said)
        B, eigenvalues = self._fit_directions(rows, max(found, 1))
        self.mean_, self.n_components_ = frame.mean, found
        self.eigenvalues_ = scale**2 * np.clip(eigenvalues, 0, None)
        self.components_ = frame.rows_in_features(B.T)

    def _targets(self, data, frame):
        """Return what stands for y, (n, t) of total variance 1, and its unit in that of y."""
        if self.target == "central":
            codes = slice_response(data.y, N_CENTRAL_SLICES, sample_weight=data.weights).codes
            return response_targets(codes.astype(str), data.weights), 1.0
        if self.response == "rank":
            return response_targets(data.y, data.weights), 1.0
        return ((data.y - frame.y_mean) / frame.y_scale)[:, None], frame.y_scale

    def _fit_directions(self, rows, r, tolerance=TOLERANCE):
        return self._outer_products(rows, r)

    def _outer_products(self, rows, r):
        """OPG: k falls from all features to r as the neighbourhoods become narrower.

        The first steps are the same for several r.
        """
        n, d = rows.n, rows.U.shape[1]
        k = max(d, 3)
        h, shrinkage = n ** (-1 / (k + 6)), n ** (-1 / (2 * (k + 6)))
        V, ridge, width, path = rows.U, FIRST_RIDGE, h * np.sqrt(max(1.0, d / 3)), ()
        for step in range(N_OUTER_STEPS):
            path = *path, V.shape[1], width
            if path not in rows.steps:
                rows.steps[path] = rows.steepest(V, width, ridge)
            singular, directions = rows.steps[path]
            kept = max(r, d // 2 ** (step + 1))
            V, ridge = rows.U @ directions[:kept].T, RIDGE
            h = width = max(shrinkage * h, self._bandwidth(n, r))
        return directions[:r].T, singular**2 / n

    def _bandwidth(self, n, r):
        return n ** (-1 / (r + 4))

    def _grow(self, rows, y):
        """Return how many directions: one more while the held-out error falls by its own error."""
        firsts, sets = copies(rows.U, y)
        folds = (rankdata(y[firsts], method="ordinal") % min(N_FOLDS, len(firsts)))[sets]
        parts = [(out, rows.of(out), rows.of(~out)) for out in np.unique(folds)[:, None] == folds]
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
        """Squared errors (n,) along r directions, learnt anew without each part; 0 is the mean."""
        errors = np.empty(len(parts[0][0]))
        for places, out, kept in parts:
            if r:
                B, _ = self._fit_directions(kept, r, COARSE_TOLERANCE)
                h, near = self._bandwidth(kept.n, r), (kept.U @ B, kept.t, out.U @ B)
                values = local_predictions(*near, h, RIDGE, row_weights=kept.weights)
            else:
                values = np.average(kept.t, axis=0, weights=kept.weights)
            errors[places] = np.sum((out.t - values) ** 2, axis=1)
        return errors

    def _check_parameters(self):
        check_choice("target", self.target, ["mean", "central"])
        check_choice("response", self.response, ["value", "rank"])


class MAVE(OuterProductGradients):
    """Minimum average variance estimation (MAVE).

    From where `OuterProductGradients` ends: slopes along the directions, and the directions that
    fit best with these slopes, in turn [1]_. A little more exact, and slower.

    Parameters
    ----------
    n_components, target, response
        As in `OuterProductGradients`. R's ``MAVE`` has "central" for its default (csMAVE); "mean"
        is its meanMAVE.

    Attributes
    ----------
    components_, mean_, eigenvalues_, n_components_, n_features_in_, feature_names_in_
        As in `OuterProductGradients`.
    n_iter_ : int
        Steps; 1 where there are none, with as many directions as features.

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
        B, eigenvalues = self._outer_products(rows, r)
        self.n_iter_ = 1
        if r == rows.U.shape[1]:
            return B, eigenvalues
        h = self._bandwidth(rows.n, r)
        for step in range(MAX_STEPS):
            previous, B = B, mave_step(rows.U, rows.t, B, h, RIDGE, row_weights=rows.weights)
            self.n_iter_ = step + 1
            if np.linalg.norm(B - previous @ (previous.T @ B), 2) < tolerance:
                break
        along = _Rows(rows.U @ B, rows.t, rows.weights)
        return B @ along.steepest(along.U, h, RIDGE)[1].T, eigenvalues


@dataclass(frozen=True, eq=False)
class _Rows:
    """Standardised rows U (n, d), what stands for y, t (n, m), and weights (n,) or None.

    `steps` keeps what was found along them, by what it depends on.
    """

    U: np.ndarray
    t: np.ndarray
    weights: np.ndarray | None
    steps: dict = field(default_factory=dict)

    @property
    def n(self):
        """Number of rows, or the sum of their weights."""
        return len(self.t) if self.weights is None else self.weights.sum()

    def of(self, kept):
        """Return the rows of a mask alone."""
        weights = None if self.weights is None else self.weights[kept]
        return _Rows(self.U[kept], self.t[kept], weights)

    def steepest(self, V, bandwidth, ridge):
        """Singular values (q,) and right vectors (q, d) of the slopes, for near rows in V."""
        slopes = local_slopes(self.U, self.t, V, bandwidth, ridge, row_weights=self.weights)
        if self.weights is not None:
            slopes *= np.sqrt(self.weights)[:, None, None]
        slopes = slopes.transpose(0, 2, 1).reshape(-1, self.U.shape[1])
        return linalg.svd(slopes, full_matrices=False)[1:]
