"""Principal Hessian directions: where a quadratic fit of y curves most.

=========  ========  ======================================================================
symbol     shape     meaning
=========  ========  ======================================================================
Z          (n, q)    whitened labelled rows: mean 0, variance I
e          (n,)      responses about their mean, or residuals of the regression on Z
M          (q, q)    ``Z' diag(e) Z / n``
=========  ========  ======================================================================
"""

from typing import Self

import numpy as np
from scipy import linalg

from skbo_silbo._typing import ArrayLike

from .._checks import check_choice
from .._numerics._pencil import Pencil
from .._numerics._solvers import primal_basis
from ._projection import LinearProjection, with_positive_peaks
from .rows._centering import center_on_labels, check_a_column_varies, check_enough_rows
from .rows._labels import split_labelled
from .selection._n_components import check_n_components
from .significance._hessian_tests import hessian_tests
from .significance._sequential_tests import SIGNIFICANCE
from .slicing._slices import slice_response

EXACT_FIT = 1e-24
"""Share of the variance of y below which residuals are rounding."""


class PrincipalHessianDirections(LinearProjection):
    """Directions along which the regression of y on X curves most (pHd).

    Eigenvectors, by absolute eigenvalue, of the average of ``e (x - mean)(x - mean)'`` against the
    variance of X, with e the residual of a linear regression ("residuals", pHdres) or y about its
    mean ("response", pHdy) [1]_ [2]_. For normal X that average is the mean Hessian. It sees
    symmetric responses, which sliced inverse regression cannot, and with residuals no linear
    trend at all: use it beside the regression, not in its place.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        "auto" takes the sequential tests of `dimension_tests_` at level .05, at least 1; with
        ``on="response"``, where they are not valid, the steepest fall of the squared eigenvalues.
    on : {"residuals", "response"}, default="residuals"
        What weighs the rows, e above: "residuals" leaves linear trends out.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The labelled scores have unit variance; the largest entry of each row is positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled rows.
    eigenvalues_ : ndarray of shape (q,)
        Signed, falling in absolute value, in units of y; positive where the response is convex.
    n_components_, n_features_in_ : int
    dimension_tests_ : dict of ndarray
        "n_components", "statistic", "df" and "p_value" of Li's tests that k directions suffice, for
        residuals: ``n sum lambda_j^2 / (2 var e)`` over the eigenvalues left out, chi-square with
        ``(q - k)(q - k + 1) / 2`` degrees of freedom for normal X [1]_ [2]_.
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

    References
    ----------
    .. [1] Li, "On Principal Hessian Directions for Data Visualization and Dimension Reduction:
       Another Application of Stein's Lemma", JASA 87, 1992.
    .. [2] Cook, "Principal Hessian Directions Revisited", JASA 93, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import PrincipalHessianDirections
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> phd = PrincipalHessianDirections().fit(X, X[:, 0] + X[:, 2] ** 2)
    >>> phd.n_components_, int(np.argmax(np.abs(phd.components_[0])))
    (1, 2)
    """

    def __init__(self, n_components: int | str = "auto", *, on: str = "residuals") -> None:
        self.n_components = n_components
        self.on = on

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            At least two labelled rows more than features.
        y : array-like of shape (n,)
            Numbers; NaN marks a row without a label, which is left out.
        sample_weight : array-like of shape (n,), default=None
            Integers are counts: a row of weight 3 is three rows, for the tests too. Floats are
            relative, and scaled to sum to the effective number ``(sum w)^2 / sum w^2``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For fewer labelled rows than the method needs, a constant y, or an `n_components` above
            the number of features that vary.
        """
        check_choice("on", self.on, ["residuals", "response"])
        data = split_labelled(self, X, y, sample_weight=sample_weight, keep_float32=True)
        data = data.labelled_only()
        check_n_components(self.n_components, self.n_features_in_)
        check_enough_rows(type(self).__name__, *data.X_labeled.shape)
        check_a_column_varies(data.X_labeled)
        X, self.mean_ = center_on_labels(data)
        slices = slice_response(data.y, 2, sample_weight=data.weights)
        n, X = slices.n_rows, slices.weighted(X)
        basis = primal_basis(Pencil(X, len(X), slices.membership()))
        Z = np.sqrt(n) * basis.whiten(X)
        e = data.y - np.average(data.y, weights=data.weights)
        if self.on == "residuals":
            e = e - slices.unweighted(Z) @ (Z.T @ slices.weighted(e[:, None])[:, 0]) / n
        eigenvalues, V = linalg.eigh((Z.T * e) @ Z / n)
        order = np.argsort(-np.abs(eigenvalues), kind="stable")
        self._check_rank(len(order))
        self.eigenvalues_ = eigenvalues[order]
        variance = np.average(e**2, weights=data.weights)
        exact = variance <= EXACT_FIT * data.y.var()
        self.n_components_ = self._choose_n_components(n, 0.0 if exact else variance)
        directions = np.sqrt(n) * basis.lift(V[:, order[: self.n_components_]])
        self.components_ = with_positive_peaks(directions.T)
        return self

    def _choose_n_components(self, n, variance):
        self.__dict__.pop("dimension_tests_", None)
        squares = self.eigenvalues_**2
        if self.on == "residuals":
            self.dimension_tests_ = hessian_tests(squares, n, variance)
        if self.n_components != "auto":
            return int(self.n_components)
        if self.on == "response":
            falls = squares[:-1] / np.maximum(squares[1:], 1e-3 * squares[0])
            return 1 + int(np.argmax(falls)) if len(squares) > 1 else 1
        accepted = np.flatnonzero(self.dimension_tests_["p_value"] > SIGNIFICANCE)
        return max(1, int(accepted[0]) if len(accepted) else len(squares))

    def _check_rank(self, rank):
        if self.n_components != "auto" and self.n_components > rank:
            raise ValueError(
                f"n_components must be at most {rank}, the number of features that vary "
                f"independently: got {self.n_components}. Use n_components='auto'."
            )
