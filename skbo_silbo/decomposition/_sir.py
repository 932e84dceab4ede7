"""Sliced inverse regression, from labelled rows alone."""

from typing import Any, Self

from .._typing import ArrayLike, LegacyRandomState
from ._semi_sir import SemiSlicedInverseRegression
from .rows._dask_arrays import is_dask_array


class SlicedInverseRegression(SemiSlicedInverseRegression):
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
ridge_, solver_, dimension_tests_, permutation_tests_, rotation_tests_, curvature_, \
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

    alpha = 0.0
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

    def fit(  # type: ignore[override]
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
        if group is None:
            return super().fit(X, y, None, sample_weight)
        self._check_no_obstacle_to_groups(X)
        return self._fit_rows(*self._part(X, y, None, sample_weight, group))

    def _check_no_obstacle_to_groups(self, X):
        if self.reweight is None and self.solver != "paper" and not is_dask_array(X):
            return
        raise ValueError(
            "group must be None with reweight, solver='paper' and Dask arrays, which know no "
            f"groups: got {self!r}. Use reweight=None, solver='auto' and rows in memory."
        )
