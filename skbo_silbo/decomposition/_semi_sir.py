"""Semi-supervised, localised sliced inverse regression."""

import warnings
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from .._checks import check_choice, check_integer, check_nonnegative
from .._numerics._pencil import Pencil
from .._numerics._solvers import (
    DenseSolver,
    DualSolver,
    IterativeSolver,
    RandomizedSolver,
    solve_moments,
)
from .._numerics._whitening import whitening_basis
from ._checks import check_n_components
from ._dimension import (
    dimension_by_criterion,
    dimension_by_tests,
    excess_over_noise,
    sequential_tests,
)
from ._labels import check_labelled_chunk, split_labelled
from ._moments import SliceMoments
from ._paper import pairwise_membership, paper_directions
from ._projection import LinearProjection, with_positive_peaks
from ._scatter import center_on_labels, graph_penalty, local_membership
from ._slices import check_n_slices, slice_response

SOLVERS = ("auto", "dense", "dual", "iterative", "randomized", "paper")
NEIGHBORS = ("auto", "brute", "pynndescent")

# Measured by `python -m skbo_silbo.benchmarks run solvers`, see doc/benchmarks/sdr.rst.
DENSE_MAX_FEATURES = 8000
"""Features up to which "auto" forms T (d x d) when there are more rows than features.

A limit of memory (3 d^2 doubles, 1.5 GiB), not of speed: conjugate gradients were slower at every
size measured, to d = 4000, and the more so the more correlated the columns.
"""
DUAL_MAX_ROWS = 8000
"""Rows up to which "auto" forms X X' (n x n) when there are more features than rows; likewise."""
RANDOMIZED_MIN_COLUMNS = 1000
"""Columns of a localised Omega above which "auto" seeks the leading directions alone.

Faster at every size measured; below this the exact solver takes 13 ms (at 200 features) and knows
all eigenvalues.
"""
DEFAULT_RIDGE = 1e-3
"""What ridge="auto" takes where the labelled rows cannot identify the directions by themselves."""
MAX_AUTO_COMPONENTS = 20
"""Most directions that n_components="auto" considers when slices are localised."""


def _has_edges(estimator):
    if isinstance(estimator.n_slices, Integral):
        raise AttributeError(
            "partial_fit needs n_slices to be an array of slice edges: got "
            f"{estimator.n_slices!r}. Quantiles of a first sample of y will do."
        )
    return True


class SemiSlicedInverseRegression(LinearProjection):
    """Directions along which X varies with y, learnt from labelled and unlabelled rows.

    Labelled rows are sliced by their response; the components solve ``Gamma b = lambda T b``, with
    Gamma the scatter of the (local) slice means and T the scatter of the labelled rows plus, when
    there are unlabelled rows, the roughness of the scores along a nearest-neighbour graph over all
    rows [1]_. With neither localisation nor unlabelled rows this is sliced inverse regression as
    in R's ``dr`` [2]_; with categories for y its space is that of linear discriminant analysis.

    Unlabelled rows help when the active structure is locally smooth and labels are few; they do
    not help in general. `alpha` = 0 ignores them, and `alpha` is worth a cross-validation.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of directions. "auto" takes Li's sequential chi-square test at level .05 where it
        is valid (plain slices, no unlabelled rows, no ridge, at least three rows a feature), and
        an information criterion of the spectrum [4]_ elsewhere.
    n_slices : int or array-like of increasing edges, default=10
        Slices aimed at (`n_slices_` tells how many R's rule gave), or the values at which to cut.
    n_local_neighbors : int or None, default=None
        Localises the slices [3]_: each row is replaced by the mean of that many nearest rows of
        its slice, itself included. None, or any number not below the size of every slice, gives
        plain slices.
    alpha : float, default=1.0
        Weight of the unlabelled rows: the penalty is alpha n_l times the mean squared difference
        of the scores along an edge. Not used when every row is labelled.
    n_neighbors : int, default=7
        Neighbours of each row in the graph.
    ridge : "auto" or float, default="auto"
        Added to T, relative to ``tr(T) / n_features``. "auto" is 0 where the labelled rows
        outnumber the features, else 1e-3. ``solver="paper"`` adds it bare to ``M = I + alpha L``,
        which "auto" does not.
    solver : {"auto", "dense", "dual", "iterative", "randomized", "paper"}, default="auto"
        "dense" forms T, "dual" the Gram matrix of the rows; both are exact. "iterative" uses
        conjugate gradients and forms neither. "randomized" finds the leading directions of
        localised slices by Lanczos iteration. "paper" is Algorithm 2 of [1]_ as printed,
        which cannot use the unlabelled rows; kept to reproduce the paper.
    neighbors : {"auto", "brute", "pynndescent"}, default="auto"
        How neighbours are found; "auto" takes pynndescent (approximate) above 80 000 rows.
    random_state : int, RandomState instance or None, default=None
        Used by pynndescent and by the solvers "iterative", "randomized" and "paper".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions b scaled so that ``b'Tb`` is the number of labelled rows: without penalty and
        ridge the labelled scores have unit variance. The largest entry of each is positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled rows (of all rows with ``solver="paper"``).
    eigenvalues_ : ndarray of shape (p,)
        All eigenvalues that the solver knows, falling; in [0, 1] for plain slices without penalty,
        at least 0 otherwise.
    n_components_ : int
    n_slices_ : int
    ridge_ : float
        The relative ridge used.
    solver_ : str
        The solver used.
    dimension_tests_ : dict of ndarray
        "n_components", "statistic", "df", "p_value" of Li's tests; only where they are valid.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter outside its range, fewer than two labels, a constant or
        infinite y, or an explicit `n_components` above the number of directions identified.

    Notes
    -----
    Everything is computed in double precision; float32 input is converted.

    References
    ----------
    .. [1] Chen, Zhu, Yuan and Huang, "Semi-supervised Embedding Learning for High-dimensional
       Bayesian Optimization", arXiv 2005.14601, section 4.2.
    .. [2] Li, "Sliced Inverse Regression for Dimension Reduction", JASA 86, 1991.
    .. [3] Wu, Liang and Mukherjee, "Localized Sliced Inverse Regression", JCGS 19, 2010.
    .. [4] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SemiSlicedInverseRegression
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = np.exp(X[:, 0] + X[:, 3])
    >>> sir = SemiSlicedInverseRegression().fit(X, y)
    >>> sir.n_components_
    1
    >>> (sir.components_ / np.linalg.norm(sir.components_)).round(2)
    array([[ 0.72, -0.  ,  0.  ,  0.69,  0.01,  0.02]])
    """

    def __init__(
        self,
        n_components="auto",
        *,
        n_slices=10,
        n_local_neighbors=None,
        alpha=1.0,
        n_neighbors=7,
        ridge="auto",
        solver="auto",
        neighbors="auto",
        random_state=None,
    ):
        self.n_components = n_components
        self.n_slices = n_slices
        self.n_local_neighbors = n_local_neighbors
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.solver = solver
        self.neighbors = neighbors
        self.random_state = random_state

    def fit(self, X, y, X_unlabeled=None):
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            Numbers, NaN marking an unlabelled row; or categories (strings, booleans), None or NaN
            marking an unlabelled row.
        X_unlabeled : array-like of shape (n_u, n_features), default=None
            Further unlabelled rows.

        Returns
        -------
        self
        """
        self._check_parameters()
        data = split_labelled(self, X, y, X_unlabeled, allow_categories=True)
        check_n_components(self.n_components, self.n_features_in_)
        slices = slice_response(data.y, self.n_slices)
        self.n_slices_ = slices.n_slices
        self._moments = None
        random_state = check_random_state(self.random_state)
        search = {"method": self.neighbors, "random_state": random_state}
        if self.solver == "paper":
            return self._fit_paper(data, slices, search)
        pencil, self.mean_ = self._build_pencil(data, slices, search)
        self.solver_ = self._choose_solver(pencil)
        solver = _make_solver(self.solver_, random_state)
        spectrum = solver.solve(pencil, self._n_wanted(pencil.omega.shape[1]))
        penalised = pencil.penalty is not None
        self._store(spectrum, len(data.y), plain=self._is_plain(slices), penalised=penalised)
        return self

    @available_if(_has_edges)
    def partial_fit(self, X, y):
        """Take in a chunk of labelled rows; after the last chunk the result is that of ``fit``.

        Only the mean, the scatter (n_features x n_features) and the slice means are kept, so that
        data need not fit in memory. Slices are plain, and their edges must be given beforehand.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            Every row labelled.

        Returns
        -------
        self
            With `components_` as soon as the rows seen identify `n_components`.

        Raises
        ------
        ValueError
            If `n_local_neighbors` is set, the solver is neither "auto" nor "dense", or y holds NaN:
            each needs all rows at once. The moments are then unchanged.
        AttributeError
            If `n_slices` is not an array of edges: the method is not there.
        """
        self._check_parameters()
        self._check_streamable()
        edges = check_n_slices(self.n_slices)
        first = getattr(self, "_moments", None) is None
        X, y = check_labelled_chunk(self, X, y, reset=first)
        check_n_components(self.n_components, self.n_features_in_)
        self._check_identified(len(edges))
        chunk = SliceMoments.of(X, np.searchsorted(edges, y, side="right"), len(edges) + 1)
        self._moments = chunk if first else self._moments.merged(chunk)
        self.n_slices_ = int((self._moments.counts > 0).sum())
        if self.n_slices_ > 1:
            self._solve_moments()
        return self

    def _solve_moments(self):
        """Set the attributes of ``fit``, once the rows seen identify `n_components`."""
        moments = self._moments.without_constant_columns()
        self.mean_, self.solver_ = moments.mean, "dense"
        self.ridge_ = self._resolve_ridge(moments.n, penalised=False)
        T = moments.scatter.copy()
        T[np.diag_indices_from(T)] += self.ridge_ * np.diag(T).mean()
        N, n_wanted = moments.slice_sums(), self._n_wanted(self.n_slices_)
        spectrum = solve_moments(N, whitening_basis(T), n_wanted)
        limit = self._n_identified(spectrum.eigenvalues, plain=True)
        if self.n_components == "auto" or self.n_components <= limit:
            self._store(spectrum, moments.n, plain=True, penalised=False)

    def _check_streamable(self):
        if self.n_local_neighbors is not None:
            raise ValueError(
                "n_local_neighbors must be None for partial_fit: neighbours need all rows at once, "
                f"got {self.n_local_neighbors}. Use fit."
            )
        if self.solver not in ("auto", "dense"):
            raise ValueError(
                f"solver must be 'auto' or 'dense' for partial_fit: got {self.solver!r}. Use fit."
            )

    def _check_parameters(self):
        check_n_slices(self.n_slices)
        check_nonnegative("alpha", self.alpha)
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("neighbors", self.neighbors, NEIGHBORS)
        if self.ridge != "auto":
            check_nonnegative("ridge", self.ridge, special="'auto'")
        if self.n_local_neighbors is not None:
            check_integer("n_local_neighbors", self.n_local_neighbors, 2, special="None")

    def _build_pencil(self, data, slices, search):
        X, mean = center_on_labels(data)
        n_labeled = len(data.y)
        omega = self._omega(X[:n_labeled], slices, search)
        penalty = graph_penalty(X, n_labeled, self.alpha, self.n_neighbors, **search)
        if penalty is None:
            X = X[:n_labeled]
        self.ridge_ = self._resolve_ridge(n_labeled, penalised=penalty is not None)
        return Pencil(X, n_labeled, omega, penalty).with_relative_ridge(self.ridge_), mean

    def _omega(self, X_labeled, slices, search):
        if self._is_plain(slices):
            return slices.membership()
        return local_membership(X_labeled, slices, self.n_local_neighbors, **search)

    def _is_plain(self, slices):
        return self.n_local_neighbors is None or self.n_local_neighbors >= slices.counts.max()

    def _resolve_ridge(self, n_labeled, penalised):
        identified = n_labeled - 1 > self.n_features_in_
        if self.ridge == "auto":
            return 0.0 if identified else DEFAULT_RIDGE
        if self.ridge == 0 and not identified and not penalised:
            warnings.warn(
                f"{n_labeled} labelled rows do not identify directions among "
                f"{self.n_features_in_} features when ridge=0 and no unlabelled row is used: "
                "every eigenvalue is 1 and any split of y is fitted exactly. Use ridge='auto', or "
                "unlabelled rows with alpha > 0.",
                UserWarning,
                stacklevel=4,
            )
        return float(self.ridge)

    def _choose_solver(self, pencil):
        if self.solver != "auto":
            return self.solver
        n, d = pencil.X.shape
        if (d <= n and d > DENSE_MAX_FEATURES) or (d > n and n > DUAL_MAX_ROWS):
            return "iterative"
        if pencil.omega.shape[1] > RANDOMIZED_MIN_COLUMNS and self.n_components != "auto":
            return "randomized"
        return "dense" if d <= n else "dual"

    def _n_wanted(self, n_columns):
        if self.n_components == "auto":
            return min(n_columns, MAX_AUTO_COMPONENTS, self.n_features_in_)
        return int(self.n_components)

    def _store(self, spectrum, n_labeled, *, plain, penalised):
        limit = self._n_identified(spectrum.eigenvalues, plain)
        self._check_identified(limit)
        self.eigenvalues_ = spectrum.eigenvalues[:limit]
        self.__dict__.pop("dimension_tests_", None)
        if plain and not penalised and not self.ridge_:
            self.dimension_tests_ = sequential_tests(
                self.eigenvalues_, n_labeled, self.n_features_in_, self.n_slices_
            )
        self.n_components_ = self._choose_n_components(n_labeled, plain)
        directions = np.sqrt(n_labeled) * spectrum.directions[:, : self.n_components_]
        self.components_ = with_positive_peaks(directions.T)

    def _n_identified(self, eigenvalues, plain):
        nonzero = int((eigenvalues > 1e-12 * eigenvalues[0]).sum())
        return min(len(eigenvalues), self.n_slices_ - 1) if plain else max(nonzero, 1)

    def _check_identified(self, limit):
        if self.n_components != "auto" and self.n_components > limit:
            raise ValueError(
                f"n_components must be at most {limit}, the number of directions identified by the "
                f"slices: got {self.n_components}. Use n_components='auto', more slices, or "
                "n_local_neighbors."
            )

    def _choose_n_components(self, n_labeled, plain):
        if self.n_components != "auto":
            return int(self.n_components)
        tested = hasattr(self, "dimension_tests_") and n_labeled >= 3 * self.n_features_in_
        if tested:
            return dimension_by_tests(self.dimension_tests_)
        spectrum = self.eigenvalues_ if plain else excess_over_noise(self.eigenvalues_)
        return dimension_by_criterion(spectrum[:MAX_AUTO_COMPONENTS], n_labeled)

    def _fit_paper(self, data, slices, search):
        X = np.concatenate([data.X_labeled, data.X_unlabeled])
        self.mean_ = X.mean(axis=0)
        self.solver_, self.ridge_ = "paper", 0.0 if self.ridge == "auto" else float(self.ridge)
        limit = min(slices.n_slices - 1, self.n_features_in_)
        self._check_identified(limit)
        omega = self._omega(data.X_labeled, slices, search)
        if not self._is_plain(slices):
            omega = pairwise_membership(omega, slices)
        self.eigenvalues_, B = paper_directions(
            X - self.mean_,
            omega,
            alpha=self.alpha,
            n_neighbors=self.n_neighbors,
            rank=limit if self.n_components == "auto" else int(self.n_components),
            ridge=self.ridge_,
            **search,
        )
        self._check_identified(B.shape[1])
        self.n_components_ = B.shape[1]
        self.components_ = with_positive_peaks(B.T)
        return self


def _make_solver(name, random_state):
    return {
        "dense": DenseSolver(),
        "dual": DualSolver(),
        "iterative": IterativeSolver(random_state),
        "randomized": RandomizedSolver(random_state),
    }[name]
