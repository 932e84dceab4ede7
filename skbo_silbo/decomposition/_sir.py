"""Sliced inverse regression, of rows, of chunks, and of the blocks of a Dask array."""

from typing import Any, Self

import numpy as np

from .._checks import check_choice, check_integer, check_nonnegative, check_switch
from .._numerics._pencil import cholesky_basis
from .._numerics._solvers import DENSE_MAX_FEATURES
from .._typing import ArrayLike, LegacyRandomState
from ._projection import SupervisedProjection
from ._sir_problem import (
    MomentsProblem,
    RowsProblem,
    check_sir_identified,
    chi_square_is_valid,
    depends_on_units,
    sir_directions,
    warn_of_unidentified,
)
from .rows._columns import check_a_column_varies, varying_part
from .rows._dask_arrays import is_dask_array
from .rows._elliptical import elliptical_weights
from .rows._labels import KINDS, check_labels, target_type, warn_of_classes
from .rows._moments import SliceMoments
from .rows._reading import read_blocks, read_chunk, read_rows
from .selection._n_components import COMPONENT_WORDS, TESTED_WORDS
from .significance._direction_errors import direction_errors
from .significance._linearity import is_by_value, look_at_curvature, rows_to_look_at
from .significance._sequential_tests import SIGNIFICANCE
from .significance._variance_tests import warn_of_none, warn_of_unseen
from .slicing._chunks import SeenRows, SliceCoding, seen_in_blocks
from .slicing._slices import slice_response, slice_within

SOLVERS = ("auto", "dense", "dual", "iterative", "randomized")
# means up to this many standard deviations are taken off the scatter without loss of digits
HARMLESS_MEAN = 1.0


STREAMED = {"n_local_neighbors": (None,), "reweight": (None,), "solver": ("auto", "dense")}


class SlicedInverseRegression(SupervisedProjection):
    """Directions along which the mean of X given y moves (SIR).

    `SemiSlicedInverseRegression` without unlabelled rows, which are left out. It finds directions
    of the central subspace where the mean of X is linear in the scores (the linearity condition,
    true for elliptical X). It finds all of them where every one moves that mean (the coverage
    condition) [1]_. Warnings name these conditions where they fail. Given a category of each row,
    it finds the directions that y needs beside it (partial inverse regression [2]_).

    Parameters
    ----------
    n_components, n_slices, n_local_neighbors, ridge, scale, categorical, solver, reweight, \
random_state
        As in `SemiSlicedInverseRegression`. ``ridge=0`` gives the digits of R's ``dr``.

    Attributes
    ----------
    components_, mean_, eigenvalues_, n_components_, n_slices_, slice_sizes_, target_type_, \
ridge_, solver_, dimension_tests_, permutation_tests_, curvature_, \
n_features_in_, feature_names_in_
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
    _words = COMPONENT_WORDS
    _solvers: tuple[str, ...] = SOLVERS
    _coding: Any
    _seen: Any = None  # of the chunks
    _keys: Any
    _dtype: Any
    alpha: Any = 0.0  # those of SemiSlicedInverseRegression, where nothing is unlabelled
    n_neighbors = 7
    neighbors = "auto"

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int | ArrayLike = 10,
        n_local_neighbors: int | None = None,
        ridge: float | str = "auto",
        scale: Any = "auto",
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
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or Dask array
        y : array-like of shape (n,) or (n, q)
            As in `SemiSlicedInverseRegression`; rows without a label are left out.
        sample_weight : array-like of shape (n,), default=None
            As in `SemiSlicedInverseRegression`; with `group`, counts alone.
        group : array-like of shape (n,), default=None
            Categories of a further predictor, such as sex: partial inverse regression finds
            the directions that y needs given the category. Rows are taken about the mean of their
            category, y is cut within each (in `n_slices` slices), and tests shuffle within each.
            The variance of X is to be the same in all. It goes with neither `reweight` nor
            ``solver="paper"`` nor a Dask array.

        Returns
        -------
        self
        """
        return self._fit(X, y, None, sample_weight, group)

    def _fit(self, X, y, X_unlabeled, sample_weight, group=None):
        self._check_parameters()
        if group is not None and (self.reweight is not None or is_dask_array(X)):
            raise ValueError(
                "group must be None with reweight and Dask arrays, which know no groups: got "
                f"{self!r}. Use reweight=None, and rows in memory."
            )
        if is_dask_array(X):
            return self._fit_blocks(X, y, X_unlabeled, sample_weight)
        data = read_rows(self, X, y, X_unlabeled, sample_weight)
        data = self._varying(self._usable(data), group)
        self._check_shape(*data.X_labeled.shape)
        self._forget()
        self._seen = None
        self.target_type_ = target_type(data.y)
        self._learn(data, self._cut(data))
        self._store_in_features(data.columns, data.X_labeled.dtype)
        return self

    def _learn(self, data, slices):
        problem = self._moments_problem(data, slices) or RowsProblem.of(self, data, slices)
        by_value = is_by_value(data.y, slices)
        self._find(problem, data.X_labeled, slices, by_value, data.columns)
        first = vars(self).get("dimension_tests_", {"p_value": [0.0]})["p_value"][0]
        asked = not isinstance(self.n_components, str)  # and the test of none sees nothing
        if not self.n_components_ or (asked and first > SIGNIFICANCE):
            rows = data.X_labeled, data.y, data.weights
            sees = "directions along which the mean of X given y moves"
            warn_of_unseen(*rows, sees, found=self.n_components_, sees_means=True)

    def _moments_problem(self, data, slices):
        """Problem of the moments of the rows, where they do: they need not be centred.

        Plain slices of many rows need no more, unless T is too ill-conditioned to be formed.
        """
        n, d = data.X_labeled.shape
        valid = chi_square_is_valid(self.n_components, n, d, slices.counts)
        tested = self.n_components not in TESTED_WORDS or valid
        beside = data.weights is not None or slices.groups is not None
        if depends_on_units(self, data, slices) or beside or not tested or n <= d + 1:
            return None
        if self.solver == "auto" and d > DENSE_MAX_FEATURES:
            return None
        rows = data.X_labeled, slices.codes, slices.n_slices
        moments = SliceMoments.of(*rows, safe_mean=HARMLESS_MEAN)
        return MomentsProblem.of(self, moments, whiten=cholesky_basis)

    def _solve(self, problem):
        """Set the attributes of a problem and of the directions found, in columns that vary."""
        is_ordered = self.target_type_ == "numeric" and problem.n_groups == 1
        settings = {"random_state": self.random_state, "is_ordered": is_ordered}
        vars(self).update(sir_directions(problem, self.n_components, **settings))
        self.mean_, self.solver_ = problem.mean, problem.solver
        self.ridge_, self.alpha_ = problem.ridge, problem.alpha
        if problem.alpha_scores is not None:
            self.alpha_scores_ = problem.alpha_scores

    def _find(self, problem, X, slices, by_value, columns):
        """Solve a problem, and set `curvature_` where tests chose the number of directions."""
        if self.ridge != "auto":
            warn_of_unidentified(problem)
        self._solve(problem)
        if self.n_components in TESTED_WORDS:
            places = rows_to_look_at(*X.shape, slices.weights)
            names = vars(self).get("feature_names_in_")
            rows = X[places].astype(np.float64, copy=False)
            found = self.components_, self.n_components_
            kind = by_value, self.target_type_ == "categorical"
            self.curvature_ = look_at_curvature(
                rows, *found, slices.codes[places], *kind, columns, names
            )

    def _fit_blocks(self, X, y, X_unlabeled, sample_weight):
        """Fit to a Dask array block by block; y is read whole."""
        self._check_streamed("compute the Dask array first")
        y, labelled, weights = read_blocks(self, X, y, X_unlabeled, sample_weight)
        self._check_shape(*X.shape)
        slices = slice_response(y, self.n_slices, sample_weight=weights)
        self._forget()
        self.target_type_, self._seen, self._n_groups = target_type(y), None, 1
        self.n_slices_, self.slice_sizes_ = slices.n_slices, slices.counts
        problem, columns = self._problem_of(seen_in_blocks(X, labelled, slices))
        self._find(problem, *problem.sample, is_by_value(y, slices), columns)
        if not self.n_components_:
            warn_of_none()
        self._store_in_features(columns, np.result_type(X.dtype, np.float32))
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Take in a chunk of labelled rows; after the last chunk the result is that of ``fit``.

        Only the mean, the scatter (n_features x n_features), the slice means and 2000 rows are
        kept, so that data need not fit in memory; the directions are those of the rows seen so far.
        Slices are plain and fixed by the first chunk: by the edges given as `n_slices`, by
        `classes`, or, where `n_slices` is an integer, by the slices of the first chunk. The edges
        that ``fit`` would take are those of `slice_edges` on all of y, a first pass over y alone.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            Every row labelled.
        classes : array-like of shape (H,), default=None
            All categories that y can take, where it holds categories; read at the first call.
        sample_weight : array-like of shape (n,), default=None
            As in ``fit``: integers, in all chunks, are counts, others relative.

        Returns
        -------
        self
            With `components_` as soon as the rows seen identify `n_components`. No warning says
            that none was found (`n_components_` is 0), since more rows may come. Where Li's test is
            not valid, "auto" shuffles a random sample of 2000 rows. There is no `curvature_`: look
            at some of the rows by ``fit``.

        Raises
        ------
        ValueError
            If ``categorical=True`` and the first call has no `classes`, or has them although
            ``categorical=False``; if y holds NaN or a category that is not in `classes`, or a
            weight is negative: the moments are then unchanged. If `n_slices` is not that of the
            first call. If `n_local_neighbors` or `reweight` is set, or the solver is neither "auto"
            nor "dense", which need all rows at once.

        Warns
        -----
        UserWarning
            Once a slice cut from the first chunk holds most samples of the later ones, as happens
            when the chunks are sorted by y.
        """
        self._check_parameters()
        self._check_streamed("use fit")
        first = self._seen is None
        if first:
            self._check_classes(classes)
        categories = classes is not None if first else self._coding.edges is None
        rows, labels, weights = read_chunk(
            self, X, y, sample_weight, reset=first, categories=categories
        )
        self._check_shape(*rows.shape)
        if not first:
            coding = self._coding
            coding.check_unchanged(self.n_slices)
        else:
            if classes is None and self.categorical == "auto":
                warn_of_classes(labels, self.n_slices, remedy="all of them as `classes`")
            coding = SliceCoding.of_first_chunk(labels, self.n_slices, classes, weights)
        check_sir_identified(self.n_components, coding.n_slices - 1)
        codes = coding.codes(labels)  # a chunk that is refused draws no keys
        if first:
            self._keys = np.random.RandomState(0)
        keys = self._keys.random_sample(len(rows))
        seen = SeenRows.of(rows, codes, coding.n_slices, keys, weights)
        before = None if first else self._seen.moments.counts
        dtype = rows.dtype if first else np.result_type(self._dtype, rows.dtype)
        seen = seen if first else self._seen.merged(seen)
        self._forget()
        self._coding, self._dtype, self._seen = coding, dtype, seen
        self.target_type_ = "numeric" if coding.classes is None else "categorical"
        counts = seen.moments.as_numbers_of_rows().counts
        self.slice_sizes_ = counts[counts > 0]
        self.n_slices_, self._n_groups = len(self.slice_sizes_), 1
        self._solve_chunks()
        coding.warn_if_uneven(seen.moments.counts, before)
        return self

    def _problem_of(self, seen):
        """Return the `MomentsProblem` of `SeenRows`, and their columns; None where none varies."""
        moments, columns = seen.moments.varying_part()
        if self._seen is None:
            check_a_column_varies(columns)
        return MomentsProblem.of(self, moments, sample=seen.sample(columns)), columns

    def _solve_chunks(self):
        """Set the attributes of ``fit`` where the rows seen identify as many directions."""
        least = 1 if isinstance(self.n_components, str) else self.n_components
        if self.n_slices_ <= least or not self._seen.moments.varying_part()[1].n_varying:
            return
        problem, columns = self._problem_of(self._seen)
        if problem.n_identified >= least:
            self._solve(problem)
            self._store_in_features(columns, self._dtype)

    def _check_streamed(self, remedy):
        """Refuse parameters that need all rows at once: moments do not do."""
        for name, allowed in STREAMED.items():
            if (value := getattr(self, name)) not in allowed:
                words = " or ".join(map(repr, allowed))
                raise ValueError(
                    f"{name} must be {words} where rows come in chunks: got {value!r}. Use "
                    f"{allowed[0]!r}, or {remedy}."
                )

    def _check_classes(self, classes):
        if self.categorical is True and classes is None:
            raise ValueError(
                "classes must be given at the first call of partial_fit where categorical=True: "
                "got None. Pass all categories that y can take."
            )
        if self.categorical is False and classes is not None:
            raise ValueError(
                f"classes must be None where categorical=False: got {classes!r}. Pass "
                "categorical='auto'."
            )

    def _usable(self, data):
        """Leave out the rows that the estimator makes no use of, and weigh the others."""
        if self.alpha == 0 and self.solver != "paper":
            data = data.labelled_only()
        if (obstacle := self._no_weights_because()) is not None:
            data = data.without_weights(obstacle)
        if self.reweight == "elliptical":
            X = data.X_labeled.astype(np.float64, copy=False)
            data = data.reweighted(elliptical_weights(X, self.random_state))
            check_labels(data.y, len(X))
        return data

    def _no_weights_because(self):
        """Say which parameter weights cannot go with, and the remedy; None where they can."""
        if self.solver == "paper":
            return "with solver='paper', which knows no weights. Use solver='auto'."
        if self.n_local_neighbors is not None:
            return (
                "with n_local_neighbors: a row's weight moves no neighbour. Use "
                "n_local_neighbors=None."
            )
        return None

    def _standard_errors(self, rows):
        if not hasattr(self, "dimension_tests_") or self.reweight is not None:
            return None
        slices = slice_within(rows.y, rows.groups, self.n_slices, sample_weight=rows.weights)
        if not slices.is_counted or not np.array_equal(slices.counts, self.slice_sizes_):
            return None
        rows = varying_part(rows)
        errors = direction_errors(rows.X_labeled, slices, len(self.components_))
        return None if errors is None else rows.columns.spread(errors)

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("solver", self.solver, self._solvers)
        check_nonnegative("ridge", self.ridge, special="'auto'")
        check_switch("scale", self.scale)
        check_choice("reweight", self.reweight, [None, "elliptical"])
        if self.reweight is not None and (obstacle := self._no_weights_because()) is not None:
            raise ValueError(f"reweight must be None {obstacle} Got {self.reweight!r}.")
        check_integer("n_local_neighbors", self.n_local_neighbors, 2, special="None")
