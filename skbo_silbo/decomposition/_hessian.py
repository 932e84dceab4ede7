"""Principal Hessian directions: where a quadratic fit of y curves most.

=========  ========  ======================================================================
symbol     shape     meaning
=========  ========  ======================================================================
Z          (n, q)    whitened labelled rows: mean 0, variance I
e          (n,)      responses about their mean, or residuals of the regression on Z
M          (q, q)    ``Z' diag(e) Z / n``
=========  ========  ======================================================================
"""

import numpy as np
from scipy import linalg

from .._checks import check_choice
from ._supervised import SupervisedProjection
from .selection._n_components import INDEPENDENT, check_identified
from .significance._hessian_tests import hessian_tests
from .significance._sequential_tests import SIGNIFICANCE
from .slicing._whitened_rows import WhitenedRows

EXACT_FIT = 1e-24
"""Share of the variance of y below which residuals are rounding."""


class PrincipalHessianDirections(SupervisedProjection):
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

    _takes_categories = False
    _whitens = True
    _passing = ("dimension_tests_",)

    def __init__(self, n_components: int | str = "auto", *, on: str = "residuals") -> None:
        self.n_components = n_components
        self.on = on

    def _check_parameters(self):
        check_choice("on", self.on, ["residuals", "response"])

    def _learn(self, data, slices):
        rows = WhitenedRows.of(data, slices)
        self.mean_, Z = rows.mean, rows.Z
        e = data.y - np.average(data.y, weights=data.weights)
        w = np.full(len(e), 1 / len(e)) if data.weights is None else data.weights / slices.n_rows
        if self.on == "residuals":
            e = e - Z @ (Z.T @ (w * e))
        eigenvalues, V = linalg.eigh((Z.T * (w * e)) @ Z)
        order = np.argsort(-np.abs(eigenvalues), kind="stable")
        check_identified(self.n_components, len(order), INDEPENDENT)
        self.eigenvalues_ = eigenvalues[order]
        variance = w @ e**2
        exact = variance <= EXACT_FIT * data.y.var()
        self.n_components_ = self._choose_n_components(slices.n_rows, 0.0 if exact else variance)
        self.components_ = rows.components(V[:, order[: self.n_components_]])

    def _choose_n_components(self, n, variance):
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
