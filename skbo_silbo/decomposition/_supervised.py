"""The order in which every ``fit`` goes: check, part the rows, slice, learn."""

from typing import Any, Self

from .._checks import check_switch
from .._typing import ArrayLike
from ._projection import LinearProjection
from .rows._columns import varying_part
from .rows._extremes import check_extremes
from .rows._groups import about_group_means
from .rows._labels import split_labelled
from .selection._n_components import check_enough_rows, check_n_components
from .slicing._slices import check_n_slices, slice_within


class Supervised:
    """What a ``fit`` does before it learns; the class attributes say what an estimator takes.

    A subclass may have the parameters `n_slices` and `categorical`.
    """

    n_components: Any
    n_features_in_: int
    _takes_responses = False  # whether y may have several columns
    _takes_censored = False  # whether y may be a structured array of events and times
    _takes_categories = True
    _keeps_float32 = True  # whether X of float32 is read as it is, with no copy in double precision
    _reads_values = False  # whether more than the order of a numeric y counts
    _whitens = False  # whether more labelled rows than features are needed
    _component_words: tuple[str, ...] = ("auto",)  # what n_components can be, beside a number
    # of `components_`: float32 where X is, computed in double precision all the same
    _dtype: Any = float
    _passing: tuple[str, ...] = ()  # attributes that one fit may set and the next one may not

    def _rows(self, X, y, X_unlabeled=None, sample_weight=None, group=None):
        """Return the rows as `LabelledData`, and forget what an earlier fit may have left.

        With a category of each row in `group`, rows are about its mean.
        """
        self._check_parameters()
        data = split_labelled(
            self,
            X,
            y,
            X_unlabeled,
            sample_weight=sample_weight,
            allow_categories=self._takes_categories,
            categorical=getattr(self, "categorical", "auto"),
            multivariate=self._takes_responses,
            censored=self._takes_censored,
            n_slices=getattr(self, "n_slices", None),
            keep_float32=self._keeps_float32,
        )
        y = data.y if self._reads_values or data.y.ndim > 1 else None
        check_extremes(data.X_labeled, y, self._given_names())
        self._dtype = data.dtype
        data = self._of_varying_columns(about_group_means(self._usable(data), group))
        self._check_rows(data)
        self._forget_passing()
        return data

    def _part(self, X, y, X_unlabeled=None, sample_weight=None, group=None):
        """Return the rows as `LabelledData`, and the `Slices` of those with a label.

        With a category of each row in `group`, rows are about its mean and slices are within it.
        """
        data = self._rows(X, y, X_unlabeled, sample_weight, group)
        n_slices = getattr(self, "n_slices", 2)
        return data, slice_within(data.y, data.groups, n_slices, sample_weight=data.weights)

    def _of_varying_columns(self, data):
        return varying_part(data, self._given_names())

    def _store_in_features(self, columns):
        """Give fitted attributes, of the columns that vary, the shape of all features."""
        self.mean_ = columns.place(self.mean_)
        components = columns.spread(self.components_)
        self.components_ = components.astype(self._dtype, copy=False)

    def _given_names(self):
        """Names of the features, or None."""
        return vars(self).get("feature_names_in_")

    def _check_parameters(self):
        if hasattr(self, "n_slices"):
            check_n_slices(self.n_slices)
        if hasattr(self, "categorical"):
            check_switch("categorical", self.categorical)

    def _usable(self, data):
        """Leave out the rows that the estimator makes no use of."""
        return data.labelled_only()

    def _check_rows(self, data):
        check_n_components(self.n_components, self.n_features_in_, self._component_words)
        if self._whitens:
            check_enough_rows(type(self).__name__, *data.X_labeled.shape)

    def _forget_passing(self):
        for name in self._passing:
            self.__dict__.pop(name, None)


class SupervisedProjection(Supervised, LinearProjection):
    """A linear transformer that learns from labelled rows alone.

    A subclass has ``_learn(data, slices)``, which sets the fitted attributes.
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,), or (n, q) where the class takes several responses
            Numbers, or what else the class says that it takes. NaN, or None among categories, marks
            a row without a label, which is left out.
        sample_weight : array-like of shape (n,), default=None
            Integers are counts: a row of weight 3 is three rows, for the tests too. Floats are
            relative, and scaled to sum to the effective number ``(sum w)^2 / sum w^2``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter outside its range, fewer labelled rows than the method needs, a constant
            y, columns that are all constant, or an `n_components` above the number of directions
            that can be identified.
        """
        return self._fit_within(X, y, sample_weight)

    def _fit_within(self, X, y, sample_weight=None, group=None):
        data, slices = self._part(X, y, sample_weight=sample_weight, group=group)
        if hasattr(self, "n_slices"):
            self.n_slices_, self.slice_sizes_ = slices.n_slices, slices.counts
        self._n_groups = slices.n_groups
        self._learn(data, slices)
        self._store_in_features(data.columns)
        return self

    def _learn(self, data, slices):
        raise NotImplementedError
