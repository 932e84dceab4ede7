"""Minimum average variance estimation."""

from dataclasses import replace

import numpy as np

from .._checks import check_integer
from .._numerics._local_linear import mave_step
from ._outer_products import RIDGE, OuterProductGradients, check_positive


class MAVE(OuterProductGradients):
    """Minimum average variance estimation (MAVE).

    From where `OuterProductGradients` ends: slopes along the directions, and the directions that
    fit best with these slopes, in turn [1]_. A little more exact, and slower.

    Parameters
    ----------
    n_components, target, response, bandwidth
        As in `OuterProductGradients`. R's ``MAVE`` has "central" for its default (csMAVE); "mean"
        is its meanMAVE.
    max_iter : int, default=50
        Most steps.
    tol : float, default=1e-3
        It stops when a step turns the subspace by an angle with a smaller sine.

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

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        target: str = "mean",
        response: str = "value",
        bandwidth: float = 1.0,
        max_iter: int = 50,
        tol: float = 1e-3,
    ) -> None:
        super().__init__(n_components, target=target, response=response, bandwidth=bandwidth)
        self.max_iter = max_iter
        self.tol = tol

    def _fit_directions(self, rows, r):
        B, eigenvalues = self._outer_products(rows, r)
        self.n_iter_ = 1
        if r == rows.U.shape[1]:
            return B, eigenvalues
        h = self._bandwidth(rows.n, r)
        for step in range(self.max_iter):
            previous, B = B, mave_step(rows.U, rows.t, B, h, RIDGE, row_weights=rows.weights)
            self.n_iter_ = step + 1
            if np.linalg.norm(B - previous @ (previous.T @ B), 2) < self.tol:
                break
        along = replace(rows, U=rows.U @ B)
        return B @ along.steepest(along.U, h, RIDGE)[1].T, eigenvalues

    def _check_parameters(self):
        super()._check_parameters()
        check_integer("max_iter", self.max_iter, 1)
        check_positive("tol", self.tol)
