"""Outer product of gradients, refined by minimum average variance estimation (MAVE)."""

from numbers import Real
from typing import Self

import numpy as np
from scipy import linalg
from scipy.stats import rankdata

from skbo_silbo._typing import ArrayLike

from .._checks import check_choice, check_integer
from .._numerics._local_linear import local_predictions, local_slopes, mave_step
from ._component_checks import check_n_components
from ._frame import Frame
from ._labels import split_labelled
from ._projection import LinearProjection
from ._second_moments import check_enough_rows

FIRST_RIDGE = 1e-2
RIDGE = 1e-3
"""Relative ridges of the local regressions, in all features at first, then along few."""
N_OUTER_STEPS = 10
N_FOLDS = 5
MAX_AUTO_COMPONENTS = 6
"""Most directions that n_components="auto" tries."""


class OuterProductGradients(LinearProjection):
    """Directions along which local linear regressions of y are steepest (OPG and MAVE).

    A local linear regression at every row gives a gradient; the leading eigenvectors of the average
    of their outer products are the directions, and neighbourhoods are then taken anew along them,
    narrower each time (OPG). MAVE goes on from there: slopes along the directions, and the
    directions that fit best with these slopes, in turn [1]_. Like `ActiveSubspace` it finds
    directions in which the response is even; it is much faster for many rows, needs several times
    more rows than features, and has no prior for sparse directions.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of directions. "auto" tries 1, 2, ... up to 6 and stops as soon as a further one does
        not lower the five-fold cross-validated error of a local linear regression on the scores by
        a standard error.
    refinement : {"mave", "opg"}, default="mave"
        "opg" leaves out the steps of MAVE: faster, a little less exact.
    bandwidth : float, default=1.0
        Times the rule ``n^(-1 / (k + 4))`` for k directions, in standard deviations.
    max_iter : int, default=50
        Most steps of MAVE.
    tol : float, default=1e-3
        MAVE stops when a step turns the subspace by an angle with a smaller sine.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, steepest first; the entry of largest magnitude in each is positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled rows.
    eigenvalues_ : ndarray of shape (q,)
        Of the average outer product of gradients, for features of unit standard deviation, in
        squared units of y, falling; q the number of features that vary.
    n_components_, n_features_in_ : int
    n_iter_ : int
        Steps of MAVE.
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

    Notes
    -----
    Time is O(n^2 d^2) a step, memory O(n d^2), for n labelled rows and d features.

    References
    ----------
    .. [1] Y. Xia, H. Tong, W. Li, L.-X. Zhu, "An adaptive estimation of dimension reduction space",
       J. R. Stat. Soc. B 64 (2002), sections 2 (MAVE) and 3.2 (outer product of gradients).

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

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        refinement="mave",
        bandwidth=1.0,
        max_iter=50,
        tol=1e-3,
    ) -> None:
        self.n_components = n_components
        self.refinement = refinement
        self.bandwidth = bandwidth
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            More labelled rows than features; several times more are better.
        y : array-like of shape (n,)
            Numbers; NaN marks a row without a label, which is left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter outside its range, too few labelled rows, a constant y, rows that are
            all the same, or an `n_components` above the number of features that vary.
        """
        self._check_parameters()
        data = split_labelled(self, X, y).labelled_only()
        check_n_components(self.n_components, self.n_features_in_)
        check_enough_rows(type(self).__name__, *data.X_labeled.shape)
        frame = Frame.from_labelled(data.X_labeled, data.y)
        U, t = frame.standardise(data.X_labeled), (data.y - frame.y_mean) / frame.y_scale
        self._check_rank(U.shape[1])
        if self.n_components == "auto":
            B, eigenvalues = self._grow(U, t)
        else:
            B, eigenvalues = self._fit_directions(U, t, int(self.n_components))
        self.mean_, self.n_components_ = frame.mean, B.shape[1]
        self.eigenvalues_ = frame.y_scale**2 * np.clip(eigenvalues, 0, None)
        self.components_ = frame.rows_in_features(B.T)
        return self

    def _fit_directions(self, U, t, r):
        B, eigenvalues = self._outer_products(U, t, r)
        self.n_iter_ = 1
        if self.refinement == "opg" or r == U.shape[1]:
            return B, eigenvalues
        h = self._bandwidth(len(t), r)
        for step in range(self.max_iter):
            previous, B = B, mave_step(U, t, B, h, RIDGE)
            self.n_iter_ = step + 1
            if np.linalg.norm(B - previous @ (previous.T @ B), 2) < self.tol:
                break
        slopes = local_slopes(U @ B, t, U @ B, h, RIDGE)
        return B @ linalg.svd(slopes, full_matrices=False)[2].T, eigenvalues

    def _outer_products(self, U, t, r):
        """OPG: k falls from all features to r as the neighbourhoods become narrower."""
        n, d = U.shape
        k = max(d, 3)
        h, shrinkage = self.bandwidth * n ** (-1 / (k + 6)), n ** (-1 / (2 * (k + 6)))
        V, ridge, width = U, FIRST_RIDGE, h * np.sqrt(max(1.0, d / 3))
        for step in range(N_OUTER_STEPS):
            slopes = local_slopes(U, t, V, width, ridge)
            _, singular, directions = linalg.svd(slopes, full_matrices=False)
            kept = max(r, d // 2 ** (step + 1))
            V, ridge = U @ directions[:kept].T, RIDGE
            h = width = max(shrinkage * h, self._bandwidth(n, r))
        return directions[:r].T, singular**2 / n

    def _bandwidth(self, n, r):
        return self.bandwidth * n ** (-1 / (r + 4))

    def _grow(self, U, t):
        """Directions while a further one lowers the held-out error by a standard error."""
        folds = rankdata(t, method="ordinal") % N_FOLDS
        errors = self._held_out_errors(U, t, folds, 1)
        best = 1
        for r in range(2, min(U.shape[1], MAX_AUTO_COMPONENTS) + 1):
            fresh = self._held_out_errors(U, t, folds, r)
            gain = errors - fresh
            if gain.mean() <= gain.std(ddof=1) / np.sqrt(len(t)):
                break
            errors, best = fresh, r
        return self._fit_directions(U, t, best)

    def _held_out_errors(self, U, t, folds, r):
        """Squared errors (n,) along r directions, learnt anew without each fold."""
        errors = np.empty(len(t))
        for fold in range(N_FOLDS):
            out, kept = folds == fold, folds != fold
            B, _ = self._fit_directions(U[kept], t[kept], r)
            h = self._bandwidth(kept.sum(), r)
            values = local_predictions(U[kept] @ B, t[kept], U[out] @ B, h, RIDGE)
            errors[out] = (t[out] - values) ** 2
        return errors

    def _check_parameters(self):
        check_choice("refinement", self.refinement, ["mave", "opg"])
        check_integer("max_iter", self.max_iter, 1)
        for name, value in (("bandwidth", self.bandwidth), ("tol", self.tol)):
            if not isinstance(value, Real) or not 0 < value < np.inf:
                raise ValueError(f"{name} must be a finite number > 0: got {value!r}.")

    def _check_rank(self, rank):
        if self.n_components != "auto" and self.n_components > rank:
            raise ValueError(
                f"n_components must be at most {rank}, the number of features that vary: got "
                f"{self.n_components}. Use n_components='auto'."
            )
