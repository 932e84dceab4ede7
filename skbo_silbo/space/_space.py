"""Search spaces of named parameters, as in scikit-learn's hyperparameter searches."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from skbo_silbo._checks import brief
from skbo_silbo._typing import ArrayLike, FloatArray
from skbo_silbo.space._parameters import Categories, is_category, read_parameter
from skbo_silbo.space.categories import Category
from skbo_silbo.space.keys import check_cube
from skbo_silbo.space.values import unique_names


class Space:
    """Search space of named parameters of mixed types, encoded as the cube [-1, 1]^m.

    Parameters are scaled by their distributions, so that a uniform draw from the cube decodes to a
    draw from them. A log-uniform parameter is thus searched on a logarithmic scale.

    Parameters
    ----------
    parameters : dict of str to list or distribution
        The values of each parameter, one of

        - a frozen scipy.stats distribution, continuous or over integers. An unbounded side is
          truncated at a tail probability of 2^-14. A discrete distribution must have a finite mean,
          which ``zipf(1.5)`` does not have;
        - an object that only has a method ``rvs(random_state=...)``, approximated by the quantiles
          of 1024 seeded draws;
        - a list, tuple or array of at least two strictly increasing or decreasing numbers: an
          ordered parameter with equally spaced levels. A tuple of two numbers raises a warning,
          because it may be meant as an interval;
        - such numbers together with None. If None means "no limit", as for ``max_depth``, it
          follows the largest number; otherwise it is encoded by a separate column;
        - any other list, tuple or array: a categorical parameter, one-hot encoded (by one column
          for two values). Values may have any type, including estimators, tuples and None;
        - a list of one value: a constant, which has no column.

        Repeated values in a list are ignored.

    Attributes
    ----------
    n_features_ : int
        Number m of encoded columns.
    feature_names_ : list of str
        Name of each column: the name of the parameter, or ``name=value`` for categories.
    n_points : int or float
        Number of distinct points. It is ``math.inf`` if a parameter is continuous or has more than
        65536 integer values.
    parameters : list
        The parameters with their encodings.
    parameter_names : list of str
        The names of the parameters.
    is_dict : bool
        Always True, because points are dicts.

    Raises
    ------
    ValueError
        If there is no parameter, a name is not a string, or the values of a parameter are not a
        non-empty list or a frozen distribution.

    Notes
    -----
    Continuous parameters are rounded to multiples of 2^-30 in probability. Encoding a decoded
    point returns the rounded point, and decoding it again returns exactly the same values.

    Examples
    --------
    >>> from scipy.stats import loguniform, randint
    >>> from skbo_silbo import Space
    >>> space = Space({"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"],
    ...                "degree": randint(1, 5), "gamma": [0.1, 1, 10]})
    >>> space.feature_names_
    ['C', 'kernel=poly', 'degree', 'gamma']
    >>> space.encode([{"C": 1.0, "kernel": "rbf", "degree": 4, "gamma": 1}])
    array([[ 0.  , -1.  ,  0.75,  0.  ]])
    >>> [point] = space.decode([[0, 0.3, -0.9, 1.0]])
    >>> round(float(point["C"]), 6), point["kernel"], point["degree"], point["gamma"]
    (1.0, 'poly', 1, 10)
    """

    is_dict = True

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        is_dict = isinstance(parameters, Mapping) and len(parameters) > 0
        if not is_dict or not all(isinstance(name, str) for name in parameters):
            raise ValueError(
                "`parameters` must be a non-empty dict of names to lists or distributions, such as "
                f'{{"C": loguniform(1e-3, 1e3)}}, got {brief(parameters)}. Name at least one '
                "parameter, or use Box for bounds and SpaceUnion for a list of dicts (minimize and "
                "SILBO accept both as plain lists)."
            )
        self._arrange([read_parameter(name, values) for name, values in parameters.items()])

    @classmethod
    def from_parameters(cls, parameters: list[Any]) -> Self:
        """Create a space from its `parameters`."""
        space = cls.__new__(cls)
        space._arrange(parameters)
        return space

    def _arrange(self, parameters: list[Any]) -> None:
        self.parameters = parameters
        self.parameter_names = [p.name for p in parameters]
        self._splits = np.cumsum([p.n_columns for p in self.parameters])
        self.n_features_ = int(self._splits[-1])
        self.feature_names_ = unique_names(c for p in self.parameters for c in p.column_names)
        self.n_points = math.prod(p.n_values for p in self.parameters)

    def __repr__(self) -> str:
        return f"Space({'; '.join(f'{p.name}: {p.text}' for p in self.parameters)})"

    def encode(self, points: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Encode points as points of the cube [-1, 1]^m.

        Parameters
        ----------
        points : list of n dicts
            Points as dicts with the value of each parameter. Numbers may have another numeric type
            than in the space.

        Returns
        -------
        X : ndarray of shape (n, m)
            The encoded points in [-1, 1]^m.

        Raises
        ------
        ValueError
            If a parameter is missing or unknown, or a value is not in the space.
        """
        points, names = check_dicts(points), self.parameter_names
        for i, point in enumerate(points):
            if differing := sorted(point.keys() ^ set(names), key=str):
                raise ValueError(
                    f"Each point must have exactly the parameters {names}. For point {i}, "
                    f"{differing} are missing or unknown. Add or remove them."
                )
        blocks = [p.encode([point[p.name] for point in points]) for p in self.parameters]
        return np.concatenate(blocks, axis=1)

    def decode(self, X: ArrayLike) -> list[dict[str, Any]]:
        """Decode points of the cube [-1, 1]^m to dicts of parameter values.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Points of the cube [-1, 1]^m, one per row.

        Returns
        -------
        points : list of n dicts
            Points as dicts with the value of each parameter. Values from a list are returned as the
            same objects.

        Raises
        ------
        ValueError
            If the shape is wrong or a value lies outside [-1, 1].
        """
        columns = [p.decode(block) for p, block in self._blocks(X)]
        return [
            dict(zip(self.parameter_names, row, strict=True)) for row in zip(*columns, strict=True)
        ]

    def round(self, X: ArrayLike) -> FloatArray:
        """Round encoded points to valid parameter values, like ``encode(decode(X))`` but faster.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Points of the cube [-1, 1]^m, one per row.

        Returns
        -------
        X : ndarray of shape (n, m)
            The rounded points of the cube, one per row.

        Raises
        ------
        ValueError
            If the shape is wrong or a value lies outside [-1, 1].
        """
        return np.concatenate([p.round(block) for p, block in self._blocks(X)], axis=1)

    def every_point(self) -> FloatArray:
        """Return the encodings of all points of a finite search space."""
        blocks = [p.encode(p.values) for p in self.parameters]
        indices = np.indices([len(block) for block in blocks]).reshape(len(blocks), -1)
        return np.hstack([block[index] for block, index in zip(blocks, indices, strict=True)])

    def pinned(self, fixed: Mapping[str, Any]) -> Self:
        """Return this space with some parameters fixed to given values.

        Parameters
        ----------
        fixed : dict
            Values of the fixed parameters, by name.

        Returns
        -------
        space : Space

        Raises
        ------
        ValueError
            If a parameter is unknown, or a value is not in the space.
        """
        unknown = [name for name in fixed if name not in self.parameter_names]
        if unknown:
            raise ValueError(
                f"`fixed` must only contain parameters of the space, {self.parameter_names}, got "
                f"{unknown}. Rename or remove them."
            )
        held = {p.name: p for p in self.parameters}
        for name, value in fixed.items():
            held[name].encode([value])  # raises
            held[name] = Categories(name, [held[name].own(value)])
        return self.from_parameters(list(held.values()))

    def spread(self, U: FloatArray) -> FloatArray:
        """Convert uniform samples, one per parameter, to encoded points.

        A space-filling sample gives space-filling points, also for categorical parameters.

        Parameters
        ----------
        U : ndarray of shape (n, p)
            Samples from [0, 1] for the p parameters that are not constant.

        Returns
        -------
        X : ndarray of shape (n, m)
        """
        varying = [p for p in self.parameters if p.n_columns]
        return np.hstack([p.spread(u) for p, u in zip(varying, U.T, strict=True)])

    def coordinates(self) -> list[list[int]]:
        """Return the encoded columns that depend on each column of the samples for `spread`."""
        return [columns for columns in self.column_groups().values() if columns]

    def with_value(self, X: FloatArray, name: str, value: Any) -> FloatArray:
        """Return a copy of the encoded points X with one parameter set to a value.

        Raises
        ------
        ValueError
            If the value is not in the space.
        """
        parameter = self.parameters[self.parameter_names.index(name)]
        X = X.copy()
        X[:, self.column_groups()[name]] = parameter.encode([value])
        return X

    def with_values(self, X: FloatArray, values: Mapping[str, Any]) -> FloatArray:
        """Return a copy of the encoded points X with several parameters set to values."""
        for name, value in values.items():
            X = self.with_value(X, name, value)
        return X

    def column_groups(self) -> dict[str, list[int]]:
        """Return the encoded columns of each parameter."""
        ends = [0, *map(int, self._splits)]
        return {p.name: list(range(*ends[i : i + 2])) for i, p in enumerate(self.parameters)}

    def categories(self) -> list[Category]:
        """Return the categorical parameters with at least two values."""
        own = self.column_groups()
        chosen = filter(is_category, self.parameters)
        return [Category(p.name, p.values, own[p.name], p.encode(p.values)) for p in chosen]

    def own(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the values of a point to the types that `decode` returns.

        A value of another type, such as 1.0 in a list of integers, is kept.
        """
        values = ((p, point[p.name]) for p in self.parameters)
        return {p.name: p.own(value) if p.holds(value) else value for p, value in values}

    def holds(self, point: Mapping[str, Any]) -> bool:
        """Return whether a dict is a point of this space, with ints and floats as declared."""
        if point.keys() != set(self.parameter_names):
            return False
        return all(p.holds(point[p.name]) for p in self.parameters)

    def _blocks(self, X: ArrayLike) -> Iterable[tuple[Any, FloatArray]]:
        """Return pairs of each parameter and its encoded columns of X."""
        blocks = np.split(check_cube(X, self.n_features_), self._splits[:-1], axis=1)
        return zip(self.parameters, blocks, strict=True)


def check_dicts(points: Any) -> list[Any]:
    """Validate that `points` is an iterable of dicts and return it as a list."""
    if isinstance(points, Mapping) or not all(isinstance(p, Mapping) for p in points):
        raise ValueError(
            f"`points` must be a list of dicts, got {brief(points)}. Write [point] for one point."
        )
    return list(points)
