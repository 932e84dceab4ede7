"""Sliced inverse regression of arrays in memory and of Dask arrays."""

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from skbo_silbo._checks import warn_user
from skbo_silbo._numerics.pencil import RANGE_TOLERANCE, CholeskyBasis, Pencil, whitening_basis
from skbo_silbo._numerics.solvers import choose_solver
from skbo_silbo._sklearn import StrOptions, validate_parameters
from skbo_silbo._typing import ArrayLike, LegacyRandomState
from skbo_silbo.decomposition._projection import AT_LEAST_TWO, COUNT, SupervisedProjection
from skbo_silbo.decomposition._sir_problem import MomentsProblem, RowsProblem
from skbo_silbo.decomposition.rows._columns import (
    check_some_column_varies,
    column_scales,
    with_positive_peaks,
)
from skbo_silbo.decomposition.rows._elliptical import elliptical_weights
from skbo_silbo.decomposition.rows._moments import SliceMoments, moments_of_blocks
from skbo_silbo.decomposition.rows._reading import LabelledData, is_dask_array, read_blocks
from skbo_silbo.decomposition.rows._response import KINDS, check_labels, target_type
from skbo_silbo.decomposition.selection._n_components import (
    COMPONENT_WORDS,
    MAX_AUTO_COMPONENTS,
    TESTED_WORDS,
    check_identified,
    dimension_by_criterion,
    excess_over_noise,
)
from skbo_silbo.decomposition.selection._ridge import (
    ROWS_PER_FEATURE,
    choose_ridge,
    choose_ridge_from_moments,
    slice_targets,
)
from skbo_silbo.decomposition.significance._linearity import check_linearity, has_slice_per_value
from skbo_silbo.decomposition.significance._sequential_tests import (
    ROWS_PER_FEATURE_TESTED,
    SIGNIFICANCE,
    dimension_by_tests,
    sequential_tests,
    slices_are_large,
)
from skbo_silbo.decomposition.significance._variance_tests import (
    warn_if_dependence_unseen,
    warn_no_direction,
)
from skbo_silbo.decomposition.slicing._slices import (
    MAX_ROWS,
    Slices,
    local_membership,
    slice_response,
)

SOLVERS = ("auto", "dense", "dual", "randomized")
# The only parameter values that Dask arrays support.
STREAMED = {"n_local_neighbors": (None,), "reweight": (None,), "solver": ("auto", "dense")}


class SlicedInverseRegression(SupervisedProjection):
    """Sliced inverse regression (SIR).

    Find the linear combinations of the features along which the mean of X changes with y.
    Unlabelled samples are ignored; `SemiSlicedInverseRegression` uses them.

    SIR finds directions of the central subspace if the mean of X is linear in the scores (the
    linearity condition, which holds for elliptical X). SIR finds all directions of this subspace if
    each of them affects the mean of X given y (the coverage condition) [1]_. A warning is raised if
    one of these conditions appears to fail. Given a categorical predictor as `group`, ``fit`` finds
    the directions that y depends on in addition to it (partial inverse regression [2]_).

    Parameters
    ----------
    n_components, n_slices, n_local_neighbors, ridge, scale, categorical, solver, reweight, \
    random_state
        As in `SemiSlicedInverseRegression`. With ``ridge=0``, the results agree with R's ``dr``.

    Attributes
    ----------
    components_, mean_, eigenvalues_, n_components_, n_slices_, slice_sizes_, target_type_, \
    ridge_, solver_, dimension_tests_, permutation_tests_, curvature_, n_features_in_, \
    feature_names_in_
        As in `SemiSlicedInverseRegression`.

    References
    ----------
    .. [1] Li, "Sliced Inverse Regression for Dimension Reduction", JASA 86, 1991.
    .. [2] Chiaromonte, Cook and Li, "Sufficient Dimension Reduction in Regressions with Categorical
       Predictors", Ann. Statist. 30, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SlicedInverseRegression
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> sir = SlicedInverseRegression().fit(X, np.exp(X[:, 0] + X[:, 3]))
    >>> sir.n_components_
    1
    """

    _takes = KINDS
    _parameter_constraints: ClassVar = {
        **SupervisedProjection._parameter_constraints,
        "n_components": [COUNT, StrOptions(set(COMPONENT_WORDS))],
        "n_local_neighbors": [AT_LEAST_TWO, None],
        "scale": ["boolean"],
        "solver": [StrOptions(set(SOLVERS))],
        "reweight": [StrOptions({"elliptical"}), None],
    }
    alpha: Any = 0.0  # parameters of SemiSlicedInverseRegression, without unlabelled samples
    n_neighbors = 7
    neighbors = "auto"

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int = 10,
        n_local_neighbors: int | None = None,
        ridge: float | str = "auto",
        scale: bool = True,
        categorical: bool | str = "auto",
        solver: str = "auto",
        reweight: str | None = None,
        random_state: LegacyRandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.n_local_neighbors = n_local_neighbors
        self.ridge = ridge
        self.scale = scale
        self.categorical = categorical
        self.solver = solver
        self.reweight = reweight
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or Dask array
            Training data. A Dask array is processed block by block.
        y : array-like of shape (n,) or (n, q)
            Response, as in `SemiSlicedInverseRegression`. Samples without a label are ignored,
            with a warning.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples, as in `SemiSlicedInverseRegression`. They cannot be combined
            with `group`.
        group : array-like of shape (n,), default=None
            Categorical predictor to adjust for, such as sex. X is centred and y is sliced within
            each category, and permutation tests permute within categories. The covariance of X
            should be the same in all categories. Cannot be combined with `reweight`,
            ``solver="paper"`` or a Dask array.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y, None, sample_weight, group)

    def _fit(self, X, y, X_unlabeled, sample_weight, group=None, **given):
        if group is not None and (self.reweight is not None or is_dask_array(X)):
            raise ValueError(
                "group must be None with `reweight` or a Dask array, "
                f"got {self!r}. Use reweight=None and an array in memory."
            )
        if is_dask_array(X):
            return self._fit_blocks(X, y, X_unlabeled, sample_weight)
        return super()._fit(X, y, X_unlabeled, sample_weight, group)

    def _learn(self, data):
        slices = self._slice_response(data)
        self.target_type_ = target_type(data.y)
        problem = self._problem_without_rows(data, slices) or self._problem_from_rows(data, slices)
        self._warn_if_unidentified(problem, len(data.y))
        self._solve(problem)
        if self.n_components in TESTED_WORDS:
            by_value = has_slice_per_value(data.y, slices)
            self._check_linearity(data.X_labeled, slices, by_value, data.columns)
        first = vars(self).get("dimension_tests_", {"p_value": [0.0]})["p_value"][0]
        is_fixed = not isinstance(self.n_components, str)
        if not self.n_components_ or (is_fixed and first > SIGNIFICANCE):
            rows = data.X_labeled, data.y, data.weights
            sees = "changes in the mean of X given y"
            warn_if_dependence_unseen(*rows, sees, found=self.n_components_, sees_means=True)

    def _problem_without_rows(self, data, slices):
        """Set up SIR's eigenvalue problem from moments, or return None if that is not possible.

        Moments are sufficient for many samples in slices without localisation if T is well
        conditioned. They avoid a centred copy of X.
        """
        (n, d), words = data.X_labeled.shape, TESTED_WORDS
        is_special = data.weights is not None or slices.groups is not None
        shuffles = self.n_components in words and not self._has_chi_square(n, d, slices.counts)
        if self._depends_on_units(data, slices) or is_special or shuffles or n <= d + 1:
            return None
        moments = SliceMoments.from_rows(data.X_labeled, slices.codes, slices.n_slices)
        problem = self._problem_from_moments(moments)
        return problem if isinstance(problem.basis, CholeskyBasis) else None

    def _problem_from_moments(self, moments, sample=None):
        """Set up SIR's eigenvalue problem from the slice means and the scatter matrix.

        `sample` holds a random sample of the rows and their slices, for permutation tests.
        """
        counts, self.alpha_ = moments.counts, 0.0
        scale = np.sqrt(np.diag(moments.scatter) / moments.n) if self.scale else 1.0
        scatter = moments.scatter / np.multiply.outer(scale, scale)
        sums, mean_scatter = moments.slice_sums() / scale, np.diag(scatter).mean()
        if self.ridge == "auto":
            is_ordered = self.target_type_ == "numeric"
            rho = choose_ridge_from_moments(scatter, sums, counts, not is_ordered)
        else:
            rho = self.ridge * mean_scatter
        scatter[np.diag_indices_from(scatter)] += rho
        return MomentsProblem(
            counts=counts,
            mean=moments.mean,
            scale=scale,
            ridge=float(rho / mean_scatter),
            sums=sums,
            basis=whitening_basis(scatter),
            rho=rho,
            sample=sample,
        )

    def _problem_from_rows(self, data: LabelledData, slices: Slices) -> RowsProblem:
        """Set up SIR's eigenvalue problem from samples, with its ridge, alpha and solver."""
        n, random_state = len(data.y), check_random_state(self.random_state)
        search = {"method": self.neighbors, "random_state": random_state}
        X, mean = data.center_on_labels()
        X = slices.weighted(X)
        near, omega, scale = None, slices.membership(), 1.0
        if self._is_local(slices):
            near = X[:n].copy()
            omega = local_membership(near, slices, self.n_local_neighbors, **search)
        if self.scale and self._depends_on_units(data, slices):
            scale = column_scales(X, slices)
            X /= scale
        pencil = self._pencil(X, omega, slices, search)
        if self.ridge == "auto":
            ridge = float(pencil.ridge / pencil.mean_scatter()) if pencil.ridge else 0.0
        else:
            ridge = float(self.ridge)
        return RowsProblem(
            counts=slices.counts,
            n_groups=slices.n_groups,
            is_plain=near is None,
            is_penalised=pencil.penalty is not None,
            mean=mean,
            scale=scale,
            ridge=ridge,
            solver=self._choose_solver(pencil, ridge),
            pencil=pencil,
            slices=slices,
            random_state=random_state,
            near=near,
            n_local_neighbors=self.n_local_neighbors,
        )

    def _pencil(self, X, omega, slices, search):
        """Return the pencil of centred samples, and choose its ridge and graph penalty."""
        n, is_ordered, rho = len(slices.codes), self.target_type_ == "numeric", None
        if self.ridge == "auto":
            rho = choose_ridge(X[:n], slices, not is_ordered or slices.groups is not None)

        def ridge_of(trace):
            return self.ridge * trace / X.shape[1] if rho is None else rho

        points = slices.unweighted(X)
        if self.scale and len(X) > n:  # distances in the graph do not depend on units
            spread = points.std(axis=0)
            points = points / np.where(spread > 0, spread, 1.0)
        penalty = self._choose_penalty(points, X, slices, ridge_of, is_ordered, search)
        rows = X[:n] if penalty is None else X
        pencil = Pencil(rows, n, omega, penalty, root_weights=slices.root_weights)
        return pencil.with_relative_ridge(self.ridge) if rho is None else replace(pencil, ridge=rho)

    def _choose_solver(self, pencil, ridge):
        """Return the name of the solver."""
        n, d = pencil.X.shape
        if self.solver == "auto":
            counted = isinstance(self.n_components, Integral)
            return choose_solver(pencil, relative_ridge=ridge, counted=counted)
        # with as many samples as features, T is the smaller matrix
        return "dense" if self.solver == "dual" and n >= d else self.solver

    def _solve(self, problem: RowsProblem | MomentsProblem) -> None:
        """Solve SIR's eigenvalue problem and select the number of directions."""
        n, d, r = problem.counts.sum(), len(problem.mean), self.n_components
        spectrum = problem.solve(min(MAX_AUTO_COMPONENTS, d) if isinstance(r, str) else int(r))
        limit = min(len(spectrum.eigenvalues), len(problem.counts) - problem.n_groups)
        if not problem.is_plain:
            limit = max(np.sum(spectrum.eigenvalues > RANGE_TOLERANCE * spectrum.eigenvalues[0]), 1)
        check_sir_identified(r, limit)
        self.eigenvalues_ = spectrum.eigenvalues[:limit]
        if problem.is_exact:
            shape = n, d, len(problem.counts), problem.n_groups
            self.dimension_tests_ = sequential_tests(self.eigenvalues_, *shape)
        r = self._select_n_components(problem)
        B = np.sqrt(n) * spectrum.directions[:, : max(r, 1)]
        components = with_positive_peaks(B.T / problem.scale)
        if self.target_type_ == "numeric" and problem.n_groups == 1:
            ranks = np.sqrt(problem.counts) * slice_targets(problem.counts, False)[:, 0]
            if (problem.slice_sums().T @ ranks) @ (problem.scale * components[0]) < 0:
                components[0] *= -1  # the first score increases with y
        self.n_components_, self.components_, self.mean_ = int(r), components, problem.mean
        self.ridge_, self.solver_ = problem.ridge, problem.solver

    def _select_n_components(self, problem):
        """Return the number of directions, and set `permutation_tests_` if they are needed."""
        n, values, r = problem.counts.sum(), self.eigenvalues_, self.n_components
        if r == "criterion":
            values = values if problem.is_plain else excess_over_noise(values)
            return dimension_by_criterion(values[:MAX_AUTO_COMPONENTS], n)
        if r not in TESTED_WORDS:
            return r
        if problem.is_exact and self._has_chi_square(n, len(problem.mean), problem.counts):
            tests = self.dimension_tests_
        else:
            seed = 0 if self.random_state is None else self.random_state
            most = min(len(values), MAX_AUTO_COMPONENTS)
            tests = self.permutation_tests_ = problem.permutation_tests(most, seed)
        return min(dimension_by_tests(tests), len(values))

    def _has_chi_square(self, n: float, d: int, counts: np.ndarray) -> bool:
        """Return whether chi-square tests are valid: no localisation, and enough samples."""
        enough = n >= ROWS_PER_FEATURE_TESTED * max(d, len(counts)) and slices_are_large(counts)
        return self.n_components != "permutation" and enough

    def _is_local(self, slices: Slices) -> bool:
        """Return whether the slices are localised."""
        return self.n_local_neighbors is not None and self.n_local_neighbors < slices.counts.max()

    def _depends_on_units(self, data: LabelledData, slices: Slices) -> bool:
        """Return whether the directions depend on the units in which the features are measured."""
        d = data.X_labeled.shape[1]
        ridged = self.ridge != 0 and (self.ridge != "auto" or slices.n_rows < ROWS_PER_FEATURE * d)
        exact = self.solver in ("auto", "dense", "dual") and slices.n_rows > d
        return ridged or not exact or self._is_local(slices) or len(data.X_unlabeled) > 0

    def _warn_if_unidentified(self, problem: RowsProblem | MomentsProblem, n: float) -> None:
        """Warn if there are too few labelled samples to identify a direction."""
        d = len(problem.mean)
        if self.ridge == 0 and n - 1 <= d and not problem.is_penalised:
            warn_user(
                f"{n:g} labelled samples do not identify directions of {d} features with ridge=0 "
                "and without unlabelled samples: every eigenvalue is 1 and any response is fitted "
                "exactly. Use ridge='auto', or unlabelled samples with alpha > 0."
            )

    def _check_linearity(self, X, slices, by_value, columns):
        """Check the linearity condition of SIR, set `curvature_`, and warn of a violation."""
        categorical, names = self.target_type_ == "categorical", vars(self).get("feature_names_in_")
        found = self.components_, self.n_components_
        self.curvature_ = check_linearity(X, slices, *found, by_value, categorical, columns, names)

    def _fit_blocks(self, X, y, X_unlabeled, sample_weight):
        """Fit the model to a Dask array, one block at a time."""
        validate_parameters(self)
        for name, allowed in STREAMED.items():
            if (value := getattr(self, name)) not in allowed:
                raise ValueError(
                    f"{name} must be {' or '.join(map(repr, allowed))} for a Dask array, got "
                    f"{value!r}. Use {allowed[0]!r}, or pass a NumPy array."
                )
        y, labelled, weights, has_unlabelled = read_blocks(
            self, X, y, X_unlabeled, sample_weight, **self._reading()
        )
        if self.alpha != 0 and has_unlabelled:
            raise ValueError(
                "alpha must be 0 for a Dask array with unlabelled samples, since the graph needs "
                f"all samples in memory, got alpha={self.alpha!r}. Use alpha=0, or pass a "
                "subsample as a NumPy array."
            )
        self._check_shape(*X.shape)
        slices = slice_response(y, self.n_slices, sample_weight=weights)
        self._reset()
        self.target_type_ = target_type(y)
        self.n_slices_, self.slice_sizes_ = slices.n_slices, slices.counts
        drawn = np.zeros(len(y), dtype=bool)  # of the rows that tests use
        drawn[np.random.RandomState(0).random_sample(len(y)).argsort()[:MAX_ROWS]] = True
        moments, rows = moments_of_blocks(X, labelled, slices, drawn)
        moments, columns = moments.drop_constant_columns()
        check_some_column_varies(columns)
        rows, drawn = columns.select(rows), slices.select_effective(drawn)
        problem = self._problem_from_moments(moments, (rows, drawn))
        self._warn_if_unidentified(problem, problem.counts.sum())
        self._solve(problem)
        if self.n_components in TESTED_WORDS:
            self._check_linearity(rows, drawn, has_slice_per_value(y, slices), columns)
        if not self.n_components_:
            warn_no_direction()
        dtype = np.result_type(X.dtype, np.float32)
        self._store(columns, dtype)
        return self

    def _select_samples(self, data):
        """Drop the samples that are not used, and apply the option `reweight`."""
        if self.alpha == 0 and self.solver != "paper":
            data = data.labelled_only()
        if self.solver == "paper" or self.n_local_neighbors is not None:
            option = "solver='paper'" if self.solver == "paper" else "n_local_neighbors"
            if self.reweight is not None:
                raise ValueError(f"reweight must be None with {option}, got {self.reweight!r}.")
            data = data.without_weights(f"with {option}.")
        elif self.reweight is not None:
            X = data.X_labeled.astype(np.float64, copy=False)
            data = data.reweighted(elliptical_weights(X, self.random_state))
            check_labels(data.y, len(X))
        return data


def check_sir_identified(n_components: int | str, limit: int) -> None:
    """Raise a ValueError if more directions are requested than the slices identify."""
    check_identified(
        n_components,
        limit,
        remedy=", or more slices if y is numeric; if y holds categories, DirectionalRegression can "
        "find more directions",
    )
