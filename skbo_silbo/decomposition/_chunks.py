"""Sliced inverse regression of chunks, or of the blocks of a Dask array, by their moments."""

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from .._numerics._pencil import Pencil
from .._numerics._solvers import solve_moments
from .._numerics._whitening import whitening_basis
from .rows._extremes import check_extremes
from .rows._labels import check_block_response, check_labelled_chunk, warn_of_classes
from .rows._moments import SliceMoments
from .selection._n_components import COMPONENT_WORDS, TESTED_WORDS, check_n_components
from .selection._ridge import choose_ridge_from_moments
from .significance._linearity import rows_to_look_at
from .significance._nothing_found import warn_of_none
from .significance._permutation import permutation_tests
from .significance._rotation import N_ROTATIONS, MeanRotations
from .slicing._blocks import LabelledBlocks, moments_of_blocks
from .slicing._slice_coding import SliceCoding
from .slicing._slices import slice_response

SOLVED = (
    *("components_", "mean_", "eigenvalues_", "n_components_"),
    *("ridge_", "solver_", "dimension_tests_", "rotation_tests_"),
)  # attributes of ``fit`` that chunks leave to be computed when one of them is first read


def _needs_all_rows(estimator):
    """Say which parameter needs all rows at once; None where moments will do."""
    if estimator.n_local_neighbors is not None:
        return (
            "n_local_neighbors must be None where rows come in chunks, because neighbours need all "
            f"of them: got {estimator.n_local_neighbors}. Use plain slices"
        )
    if estimator.reweight is not None:
        return (
            "reweight must be None where rows come in chunks, because it looks at all of them: got "
            f"{estimator.reweight!r}. Use reweight=None"
        )
    if estimator.solver not in ("auto", "dense"):
        return (
            "solver must be 'auto' or 'dense' where rows come in chunks: got "
            f"{estimator.solver!r}. Use 'auto'"
        )
    return None


def _is_streamable(estimator):
    if (remedy := _needs_all_rows(estimator)) is not None:
        raise AttributeError(f"{remedy}, or fit.")
    return True


class ChunkedSlicing:
    """``partial_fit`` and the fit to a Dask array, for plain slices and the exact solver.

    The estimator it is mixed into checks its parameters, chooses among directions and stores them:
    ``_check_parameters``, ``_begin``, ``_check_identified``, ``_n_wanted``, ``_n_identified``,
    ``_store_spectrum``, ``_choose_n_components``, ``_shuffle``, ``_settings_of_tests``,
    ``_store_components``, ``_given_ridge``, ``_forget_passing``, ``_depends_on_units`` and
    ``_look_at_curvature``.
    """

    @available_if(_is_streamable)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Take in a chunk of labelled rows; after the last chunk the result is that of ``fit``.

        Only the mean, the scatter (n_features x n_features) and the slice means are kept, so that
        data need not fit in memory; the directions are computed when they are first read. Slices
        are plain and fixed by the first chunk: by the edges given as `n_slices`, by `classes`, or,
        where `n_slices` is an integer, by the slices of the first chunk. The edges that ``fit``
        would take are those of `slice_edges` on all of y, a first pass over y alone.

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
            With `components_` as soon as the rows seen identify `n_components`; before, reading it
            raises NotFittedError. No rows are kept to be shuffled: where Li's test is not valid,
            "auto" draws random rotations of the moments in place of permutations
            (`rotation_tests_`), which holds its level for normal X. Curved features cannot be found
            from moments: there is no `curvature_`, so look at a sample of the rows by ``fit``.

        Raises
        ------
        ValueError
            If ``categorical=True`` and the first call has no `classes`, or has them although
            ``categorical=False``; if y holds NaN or a category that is not in `classes`, or a
            weight is negative: the moments are then unchanged.
        AttributeError
            If `n_local_neighbors` is set or the solver is neither "auto" nor "dense": both need all
            rows at once, and the method is not there.
        """
        self._check_parameters()
        first = getattr(self, "_moments", None) is None
        if first:
            self._check_classes(classes)
        categories = classes is not None if first else self._coding.edges is None
        X, y, weights = check_labelled_chunk(
            self, X, y, sample_weight, reset=first, allow_categories=categories
        )
        check_extremes(X, names=self._given_names())
        check_n_components(self.n_components, self.n_features_in_, COMPONENT_WORDS)
        if first:
            if classes is None and self.categorical == "auto":
                warn_of_classes(y, self.n_slices, remedy="all of them as `classes`")
            coding = SliceCoding.of_first_chunk(y, self.n_slices, classes, weights)
        else:
            coding = self._coding
        self._check_identified(coding.n_slices - 1)
        chunk = SliceMoments.of(X, coding.codes(y), coding.n_slices, weights=weights)
        self._coding = coding
        self._dtype = X.dtype if first else np.result_type(self._dtype, X.dtype)
        self.target_type_ = "numeric" if coding.classes is None else "categorical"
        self._moments = chunk if first else self._moments.merged(chunk)
        self._forget_passing()
        for name in SOLVED:
            vars(self).pop(name, None)
        self._is_solved = False
        counts = self._moments.as_numbers_of_rows().counts
        self.slice_sizes_ = counts[counts > 0]
        self.n_slices_, self._n_groups = len(self.slice_sizes_), 1
        return self

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

    def _fit_blocks(self, X, y, X_unlabeled, sample_weight):
        """Fit to a Dask array block by block; y is read whole."""
        self._check_parameters()
        if (remedy := _needs_all_rows(self)) is not None:
            raise ValueError(f"{remedy}, or compute the Dask array first.")
        y, labelled, unlabelled, weights = check_block_response(
            self, X, y, X_unlabeled, sample_weight
        )
        check_n_components(self.n_components, self.n_features_in_, COMPONENT_WORDS)
        if self.alpha != 0 and (X_unlabeled is not None or unlabelled.any()):
            raise ValueError(
                "alpha must be 0 for a Dask array with unlabelled rows: the graph needs all rows "
                f"in memory, got alpha={self.alpha!r}. Pass alpha=0, or a sample of the rows as a "
                "NumPy array."
            )
        slices = slice_response(y[labelled], self.n_slices, sample_weight=weights)
        self._forget_passing()
        self._begin(y, slices, None)
        self._dtype = np.result_type(X.dtype, np.float32)
        rows = LabelledBlocks(X, labelled, slices)
        looked_at = rows_to_look_at(len(slices.codes), X.shape[1], slices.weights)
        if self.n_components not in TESTED_WORDS:
            looked_at = looked_at[:0]
        moments, sample = moments_of_blocks(rows, looked_at)
        moments, self._columns = moments.varying_part()
        rows = rows.of_columns(self._columns)
        if not self._solve_moments(moments, rows=rows):
            raise ValueError(
                f"X must identify n_components={self.n_components!r} directions: its labelled rows "
                "do not. Label rows that differ, or use n_components='auto'."
            )
        self._warn_if_none()
        if self.n_components in TESTED_WORDS:
            seen, y = self._columns.part(sample), y[labelled]
            self._look_at_curvature(seen, self.components_, y, slices, looked_at)
        self._store_in_features(self._columns)
        return self

    def _solve_moments(self, moments, whiten=whitening_basis, rows=None):
        """Set the attributes of ``fit``, where the rows seen identify `n_components`.

        False where they do not, or where `whiten` finds no basis. Where the rows, `LabelledBlocks`,
        can be read again, "auto" may shuffle some; elsewhere it may rotate their moments.
        """
        n_slices = int((moments.counts > 0).sum())
        if n_slices < 2:
            return False
        moments = moments.as_numbers_of_rows()
        self.mean_, self.solver_, self.alpha_ = moments.mean, "dense", 0.0
        if not len(moments.mean):
            return False
        scale = np.sqrt(np.diag(moments.scatter) / moments.n) if self.scale else 1.0
        scatter = moments.scatter / np.multiply.outer(scale, scale)
        N = moments.slice_sums() / scale
        rho = self._ridge_of_moments(scatter, N, moments.counts)
        self.ridge_ = float(rho / np.diag(scatter).mean())
        scatter[np.diag_indices_from(scatter)] += rho
        basis = whiten(scatter)
        if basis is None:
            return False
        spectrum = solve_moments(N, basis, self._n_wanted(n_slices))
        limit = self._n_identified(spectrum.eigenvalues, plain=True)
        if not isinstance(self.n_components, str) and self.n_components > limit:
            return False
        self._store_spectrum(spectrum, moments.n, plain=True, penalised=False)
        held = moments.counts[moments.counts > 0]

        def draw_tests():
            if rows is not None:
                return self._shuffle_blocks(rows, moments.mean, scale, rho)
            return self._rotate(MeanRotations.of_moments(N, basis, rho, held))

        self.n_components_ = self._choose_n_components(moments.n, True, draw_tests)
        self._store_components(spectrum, moments.n, scale)
        return True

    def __getattr__(self, name):
        """Solve the moments of chunks when an attribute that they leave open is first read."""
        if name not in SOLVED or vars(self).get("_is_solved", True):
            return super().__getattribute__(name)  # which says that there is none
        self._is_solved = True  # what is read meanwhile is not there
        moments, self._columns = self._moments.varying_part()
        self._is_solved = self._solve_moments(moments)
        if self._is_solved:
            self._store_in_features(self._columns)
            self._warn_if_none()
        if self._is_solved or name in vars(self):
            return getattr(self, name)
        raise NotFittedError(
            f"{name} is not known yet: the {self._moments.n:.12g} rows seen lie in "
            f"{self.n_slices_} slices, too few for n_components={self.n_components!r}. Pass more "
            "rows to partial_fit."
        )

    def _warn_if_none(self):
        if not self.n_components_:
            warn_of_none()

    def _shuffle_blocks(self, rows, mean, scale, rho):
        """Set and return the permutation tests of ``fit``."""
        if not self._depends_on_units(rows.slices, n_unlabeled=0):
            scale = 1.0
        X, slices = rows.shuffled(mean, scale)
        pencil = Pencil(
            slices.weighted(X),
            len(X),
            slices.membership(),
            ridge=rho,
            root_weights=slices.root_weights,
        )
        return self._shuffle(pencil, slices)

    def _rotate(self, problem):
        self.rotation_tests_ = permutation_tests(
            problem, n_permutations=N_ROTATIONS, **self._settings_of_tests()
        )
        return self.rotation_tests_

    def _ridge_of_moments(self, scatter, N, counts):
        if self.ridge == "auto":
            unordered = self.target_type_ != "numeric"
            return choose_ridge_from_moments(scatter, N, counts[counts > 0], unordered)
        return self._given_ridge(counts.sum(), penalised=False) * np.diag(scatter).mean()
