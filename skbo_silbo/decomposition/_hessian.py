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
from ._projection import SupervisedProjection
from .rows._labels import response_targets
from .selection._n_components import INDEPENDENT, check_identified
from .significance._hessian_tests import can_be_tested, hessian_tests, wild_bootstrap
from .significance._linearity import kept_by_moments
from .significance._sequential_tests import SIGNIFICANCE, dimension_by_tests
from .significance._variance_tests import warn_of_unseen
from .slicing._whitened_rows import WhitenedRows

EXACT_FIT = 1e-24  # share of the variance of y below which residuals are rounding


class PrincipalHessianDirections(SupervisedProjection):
    """Directions along which the regression of y on X curves most (pHd).

    Eigenvectors, by absolute eigenvalue, of the average of ``e (x - mean)(x - mean)'`` against the
    variance of X [1]_ [2]_. Here e is the residual of a linear regression ("residuals", pHdres)
    or y about its mean ("response", pHdy). For normal X that average is the mean Hessian. It sees
    symmetric responses, which sliced inverse regression cannot, and with residuals no linear
    trend at all: use it beside the regression, not in its place.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        "auto" tests at level .05, by the wild bootstrap, whether 0, 1, ... directions suffice, and
        keeps those before the first along which mean or variance of other scores changes, with a
        warning. It can find none: `n_components_` is 0 then, `components_` keeps one direction, and
        a warning says so. With ``on="response"``, where no test is valid, it takes the steepest
        fall of the squared eigenvalues, at least 1.
    on : {"residuals", "response"}, default="residuals"
        What weighs the rows, e above: "residuals" leaves linear trends out.
    response : {"value", "rank"}, default="value"
        "rank" takes the ranks of y, of variance 1, in place of its values: for heavy tails.

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
        "n_components", "statistic", "df", "p_value" and "p_value_normal" of the tests that k
        directions suffice, for residuals, as R's ``dr`` prints them: the statistic is
        ``n sum lambda_j^2 / (2 var e)`` over the eigenvalues left out. "p_value" is that of a
        weighted sum of chi-squares [2]_, valid in large samples whatever X is, and cautious;
        "p_value_normal" is right for normal X with residuals of constant variance alone [1]_.
        Only of "auto"; left out where ``n^2 q`` is above 2e10, unless ``q^3`` is at most n.
    bootstrap_tests_ : dict of ndarray
        "n_components", "statistic", "p_value", "n_permutations" of the wild bootstrap [3]_, to the
        first k accepted; where they chose.
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

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
        self, n_components: int | str = "auto", *, on: str = "residuals", response: str = "value"
    ) -> None:
        self.n_components = n_components
        self.on = on
        self.response = response

    def _check_parameters(self):
        check_choice("on", self.on, ["residuals", "response"])
        check_choice("response", self.response, ["value", "rank"])

    def _learn(self, data, slices):
        rows = WhitenedRows.of(data, slices)
        self.mean_, Z, n = rows.mean, rows.Z, slices.n_rows
        y = data.y - np.average(data.y, weights=data.weights)
        if self.response == "rank":
            y = response_targets(data.y, data.weights)[:, 0]
        w = np.ones(len(y)) if data.weights is None else data.weights
        e = y - Z @ (Z.T @ (w * y)) / n if self.on == "residuals" else y
        e = np.where(w @ e**2 <= EXACT_FIT * (w @ y**2), 0.0, e)
        eigenvalues, V = linalg.eigh((Z.T * (w * e)) @ Z / n)
        order = np.argsort(-np.abs(eigenvalues), kind="stable")
        check_identified(self.n_components, len(order), INDEPENDENT)
        self.eigenvalues_, V = eigenvalues[order], V[:, order]
        self.n_components_ = self._choose_n_components(Z @ V, e, slices)
        if self.n_components == "auto" and self.n_components_:
            tests = "bootstrap_tests_" if self.on == "residuals" else "eigenvalues_"
            self.n_components_ = kept_by_moments(Z @ V, self.n_components_, slices, tests)
        self.components_ = rows.components(V[:, : max(self.n_components_, 1)])
        if not self.n_components_:
            sees = "directions along which the mean of y bends"
            why = f"no bend of y beyond its linear trend, by tests at level {SIGNIFICANCE}"
            said = {"sees_means": True, "why": why, "remedy": "Label more rows"}
            warn_of_unseen(Z, data.y, data.weights, sees, **said)

    def _choose_n_components(self, S, e, slices):
        if self.n_components != "auto":
            return int(self.n_components)
        if self.on == "residuals" and can_be_tested(S):
            weights = np.ones(len(e)) if slices.weights is None else slices.weights
            self.dimension_tests_ = hessian_tests(self.eigenvalues_, S, e, weights, slices.n_rows)
        if self.on == "response":
            squares = self.eigenvalues_**2
            falls = squares[:-1] / np.maximum(squares[1:], 1e-3 * squares[0])
            return 1 + int(np.argmax(falls)) if len(squares) > 1 else 1
        self.bootstrap_tests_ = wild_bootstrap(S, e, slices)
        return dimension_by_tests(self.bootstrap_tests_)
