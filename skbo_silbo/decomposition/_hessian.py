"""Principal Hessian directions (pHd).

=========  ========  ======================================================================
symbol     shape     meaning
=========  ========  ======================================================================
Z          (n, q)    whitened labelled samples: mean 0, covariance I
e          (n,)      residuals of the linear regression of the responses on Z
M          (q, q)    ``Z' diag(e) Z / n``
=========  ========  ======================================================================

M is the sample version of ``E e z z'``, whose eigenvectors Li (1992) defines as the principal
Hessian directions, with e the residual (pHdres). For normal X it is
the mean Hessian matrix of the regression function in whitened coordinates, by Stein's lemma.
"""

import numpy as np
from scipy import linalg

from skbo_silbo._typing import LegacyRandomState
from skbo_silbo.decomposition._projection import SupervisedProjection
from skbo_silbo.decomposition.selection._n_components import INDEPENDENT, check_identified
from skbo_silbo.decomposition.significance._linearity import n_before_violation
from skbo_silbo.decomposition.significance._sequential_tests import (
    SIGNIFICANCE,
    can_be_tested,
    dimension_by_tests,
    hessian_tests,
)
from skbo_silbo.decomposition.significance._slice_tests import wild_bootstrap
from skbo_silbo.decomposition.significance._variance_tests import warn_if_dependence_unseen
from skbo_silbo.decomposition.slicing._slices import slice_response
from skbo_silbo.decomposition.slicing._whitened_rows import WhitenedRows

EXACT_FIT = 1e-24  # share of the variance of y below which residuals are rounding errors


class PrincipalHessianDirections(SupervisedProjection):
    """Principal Hessian directions (pHd).

    Find directions along which the regression function of y on X has the largest curvature. They
    are eigenvectors of the average of ``e (x - mean)(x - mean)'`` relative to the covariance of X,
    ordered by absolute eigenvalue ([1]_, [2]_). Here e is the residual of a linear regression
    (pHdres). For normal X, the average is the mean Hessian of the regression function.

    pHd finds directions in which y is symmetric, which sliced inverse regression misses. It does
    not find linear trends, so it complements a linear regression rather than replacing it.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of components. "auto" tests by the wild bootstrap, at level .05, whether 0, 1, ...
        directions suffice. A direction is dropped with a warning if the mean or variance of other
        scores changes along it. If no direction is found, a warning is raised, `n_components_` is
        0, and `components_` holds the leading direction.
    random_state : int, RandomState instance or None, default=None
        Seed of the wild bootstrap. None uses a fixed seed.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, scaled so that the scores of the labelled samples have unit variance. The
        entry of largest magnitude in each row is positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples.
    eigenvalues_ : ndarray of shape (q,)
        Signed eigenvalues in decreasing order of absolute value, in units of y. An eigenvalue is
        positive if y is convex along its direction.
    n_components_, n_features_in_ : int
    dimension_tests_ : dict of ndarray
        Chi-square tests of R's ``dr`` that k directions suffice: "n_components", "statistic", "df",
        "p_value" and "p_value_normal". The statistic is ``n sum lambda_j^2 / (2 var e)`` over the
        remaining eigenvalues [1]_. "p_value" uses a weighted sum of chi-squares [2]_, which is
        valid for any X in large samples, but conservative. "p_value_normal" assumes normal X and
        residuals of constant variance. The tests are run for ``n_components="auto"``, unless ``n^2
        q`` exceeds 4e9 and ``q^3`` exceeds n.
    bootstrap_tests_ : dict of ndarray
        Wild bootstrap tests [3]_: "n_components", "statistic", "p_value" and "n_permutations" of
        each test, up to the first hypothesis that is accepted. Defined only if these tests
        determined `n_components_`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    References
    ----------
    .. [1] Li, "On Principal Hessian Directions for Data Visualization and Dimension Reduction:
       Another Application of Stein's Lemma", JASA 87, 1992.
    .. [2] Cook, "Principal Hessian Directions Revisited", JASA 93, 1998.
    .. [3] Wu, "Jackknife, Bootstrap and Other Resampling Methods in Regression Analysis", Ann.
       Statist. 14, 1986.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import PrincipalHessianDirections
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> phd = PrincipalHessianDirections().fit(X, X[:, 0] + X[:, 2] ** 2)
    >>> phd.n_components_, int(np.argmax(np.abs(phd.components_[0])))
    (1, 2)
    """

    _by_value = _needs_rows = True

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        random_state: LegacyRandomState = None,
    ) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def _learn(self, data):
        slices = slice_response(data.y, 2, sample_weight=data.weights)  # for the diagnostics
        rows = WhitenedRows.from_data(data, slices)
        self.mean_, Z, n = rows.mean, rows.Z, slices.n_rows
        y = data.y - np.average(data.y, weights=data.weights)
        w = np.ones(len(y)) if data.weights is None else data.weights
        e = y - Z @ (Z.T @ (w * y)) / n
        e = np.where(w @ e**2 <= EXACT_FIT * (w @ y**2), 0.0, e)
        eigenvalues, V = linalg.eigh((Z.T * (w * e)) @ Z / n)
        order = np.argsort(-np.abs(eigenvalues), kind="stable")
        check_identified(self.n_components, len(order), INDEPENDENT)
        self.eigenvalues_, V = eigenvalues[order], V[:, order]
        self.n_components_ = self._choose_n_components(Z @ V, e, slices, w)
        if self.n_components == "auto" and self.n_components_:
            found = self.n_components_, slices, "bootstrap_tests_"
            self.n_components_ = n_before_violation(Z @ V, *found)
        self.components_ = rows.components(V[:, : max(self.n_components_, 1)])
        if not self.n_components_:
            sees = "curvature of the mean of y"
            why = f"tests at level {SIGNIFICANCE} detect no curvature beyond the linear trend of y"
            details = {"sees_means": True, "why": why, "remedy": "Label more samples"}
            warn_if_dependence_unseen(Z, data.y, data.weights, sees, **details)

    def _choose_n_components(self, S, e, slices, w):
        if self.n_components != "auto":
            return int(self.n_components)
        if can_be_tested(S):
            self.dimension_tests_ = hessian_tests(self.eigenvalues_, S, e, w, slices.n_rows)
        seed = 0 if self.random_state is None else self.random_state
        self.bootstrap_tests_ = wild_bootstrap(S, e, slices, seed)
        return dimension_by_tests(self.bootstrap_tests_)
