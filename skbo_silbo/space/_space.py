"""The space of named parameters, as scikit-learn's searches take them."""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from skbo_silbo._checks import brief
from skbo_silbo._typing import ArrayLike, FloatArray
from skbo_silbo.space._categories import Category
from skbo_silbo.space._keys import check_cube
from skbo_silbo.space._parameters import Categories, is_category, read_parameter
from skbo_silbo.space._values import range_in_words, unlike


class Space:
    """Named parameters of mixed kinds, mapped to the cube [-1, 1]^m.

    A uniform draw from the cube decodes to a draw from the distributions, and what the optimiser
    sees is what the distribution says: a log-uniform parameter is linear in its logarithm.

    Parameters
    ----------
    parameters : dict of str to list or distribution
        For every parameter one of

        - a frozen scipy.stats distribution, continuous or of integers, used through its quantiles
          (equal probability is equal length). Integers take equal shares of probability. A side
          without bound is searched up to a tail probability of 2^-14. A discrete distribution for
          which scipy has no formula for the quantiles, such as ``zipf``, must reach that within
          65536 integers;
        - any object with only ``rvs(random_state=...)``, used through the quantiles of 1024 draws
          with a fixed seed;
        - a list, tuple or array of at least two numbers in strictly increasing or decreasing
          order: an ordered parameter, its levels equally spaced. A tuple of two is warned of, as
          it can be meant as an interval: write the list, or ``scipy.stats.uniform(low, width)``;
        - such numbers and None: the numbers keep their order. None comes after the largest one if
          it means "no limit", as for ``max_depth``; otherwise a column of its own says whether the
          value is None;
        - any other list, tuple or array: a categorical parameter, one column a value (one column
          for two values). Values may be of any type, also estimators, tuples and None;
        - a list of one value: a constant without a column.

        Repeated values in a list count once.

    Attributes
    ----------
    n_features_ : int
        Columns m of the encoded cube.
    feature_names_ : list of str
        The parameter's name for every column, ``name=value`` for columns of categories.
    n_points : int or float
        Number of distinct points, ``math.inf`` if a parameter is continuous (or has more than
        65536 integers).
    parameters : list
        What was read for each of them.
    parameter_names : list of str
        Their names, in order.
    is_dict : bool
        True: points are dicts.

    Raises
    ------
    ValueError
        If there is no parameter, a name is not a string, or a parameter is neither a list nor a
        distribution, or is empty, not frozen or too heavy-tailed.

    Notes
    -----
    `decode` rounds: to the integers, levels and categories, and continuous parameters to
    multiples of 2^-30 in probability. ``encode(decode(X))`` is the rounded point, and decoding
    that gives the same values to the last bit.

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
                "parameters must be a dict, not empty, of names (strings) to lists or "
                f"distributions: got {brief(parameters)}. Write for example "
                'Space({"C": loguniform(1e-3, 1e3)}), bounds for arrays, or SpaceUnion for a list '
                "of dicts."
            )
        self._arrange([read_parameter(name, values) for name, values in parameters.items()])

    def _arrange(self, parameters):
        self.parameters = parameters
        self.parameter_names = [p.name for p in parameters]
        self._splits = np.cumsum([p.n_columns for p in self.parameters])
        self.n_features_ = int(self._splits[-1])
        self.feature_names_ = unlike(c for p in self.parameters for c in p.column_names)
        self.n_points = math.prod(p.n_values for p in self.parameters)

    def __repr__(self):
        return f"Space({'; '.join(map(range_in_words, self.parameters))})"

    def encode(self, points: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Map points to the cube.

        Parameters
        ----------
        points : list of n dicts
            A value for every parameter. A number may be of another numeric type than its list's.

        Returns
        -------
        X : ndarray of shape (n, m)
            The canonical points of [-1, 1]^m.

        Raises
        ------
        ValueError
            If parameters are missing or unknown, or a value is not in its list or distribution.
        """
        points = self._check_points(points)
        blocks = [p.encode([point[p.name] for point in points]) for p in self.parameters]
        return np.concatenate(blocks, axis=1)

    def decode(self, X: ArrayLike) -> list[dict[str, Any]]:
        """Map points of the cube to parameters.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Points of [-1, 1]^m.

        Returns
        -------
        points : list of n dicts
            One value per parameter, in the order of the space; list members are given themselves.

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
        """Return the points of the cube that X stands for: ``encode(decode(X))``, but fast.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Points of [-1, 1]^m.

        Returns
        -------
        X : ndarray of shape (n, m)
            Canonical points.

        Raises
        ------
        ValueError
            If the shape is wrong or a value lies outside [-1, 1].
        """
        return np.concatenate([p.round(block) for p, block in self._blocks(X)], axis=1)

    def every_point(self) -> FloatArray:
        """Return all points of a finite space as points of the cube, (n_points, m)."""
        blocks = [p.encode(p.values) for p in self.parameters]
        places = np.indices([len(block) for block in blocks]).reshape(len(blocks), -1)
        return np.hstack([block[at] for block, at in zip(blocks, places, strict=True)])

    def pinned(self, fixed: Mapping[str, Any]) -> Self:
        """Return the part of this space in which parameters have the values of a dict.

        Raises
        ------
        ValueError
            If a parameter is unknown, or a value is not in its list or distribution.
        """
        unknown = [name for name in fixed if name not in self.parameter_names]
        if unknown:
            raise ValueError(
                f"fixed must name parameters of the space, {self.parameter_names}: got {unknown}. "
                "Rename or remove them."
            )
        held = {p.name: p for p in self.parameters}
        for name, value in fixed.items():
            held[name].encode([value])  # raises
            held[name] = Categories(name, [held[name].own(value)])
        part = copy.copy(self)
        part._arrange(list(held.values()))
        return part

    def spread(self, U: FloatArray) -> FloatArray:
        """Return points of the cube from uniform numbers, one a parameter.

        Evenly spread numbers give evenly spread points, categories included.

        Parameters
        ----------
        U : ndarray of shape (n, p)
            In [0, 1], for each of the p parameters that are not constant.

        Returns
        -------
        X : ndarray of shape (n, m)
        """
        varying = [p for p in self.parameters if p.n_columns]
        return np.hstack([p.spread(u) for p, u in zip(varying, U.T, strict=True)])

    def coordinates(self) -> list[list[int]]:
        """Return which columns each of the numbers that `spread` takes sets."""
        return [columns for columns in self.column_groups().values() if columns]

    def with_value(self, X: FloatArray, name: str, value: Any) -> FloatArray:
        """Return points of the cube, (n, m), with another value of a parameter.

        Raises
        ------
        ValueError
            If the parameter cannot have the value.
        """
        parameter = self.parameters[self.parameter_names.index(name)]
        X = X.copy()
        X[:, self.column_groups()[name]] = parameter.encode([value])
        return X

    def with_values(self, X: FloatArray, values: Mapping[str, Any]) -> FloatArray:
        """Return points of the cube, (n, m), with other values of parameters."""
        for name, value in values.items():
            X = self.with_value(X, name, value)
        return X

    def column_groups(self) -> dict[str, list[int]]:
        """Return which columns each parameter has: dict of str to list of int."""
        ends = [0, *map(int, self._splits)]
        return {p.name: list(range(*ends[i : i + 2])) for i, p in enumerate(self.parameters)}

    def categories(self) -> list[Category]:
        """Return the categorical parameters of at least two levels."""
        own = self.column_groups()
        chosen = filter(is_category, self.parameters)
        return [Category(p.name, p.values, own[p.name], p.encode(p.values)) for p in chosen]

    def holds(self, point: Mapping[str, Any]) -> bool:
        """Return whether a dict is a point of this space, numbers being of the right kind."""
        if point.keys() != set(self.parameter_names):
            return False
        return all(p.holds(point[p.name]) for p in self.parameters)

    def _blocks(self, X):
        """Pair every parameter with its columns of X."""
        blocks = np.split(check_cube(X, self.n_features_), self._splits[:-1], axis=1)
        return zip(self.parameters, blocks, strict=True)

    def _check_points(self, points):
        points = check_dicts(points)
        names = self.parameter_names
        for i, point in enumerate(points):
            if differing := sorted(point.keys() ^ set(names), key=str):
                raise ValueError(
                    f"points must have exactly the parameters {names}: point {i} lacks, or has "
                    f"besides, {differing}. Add or remove these."
                )
        return points


def check_dicts(points):
    """Return points as a list after refusing what is not a list of dicts."""
    if isinstance(points, Mapping) or not all(isinstance(p, Mapping) for p in points):
        raise ValueError(
            "points must be a list of dicts, one per point: "
            f"got {points!r}. Write [point] for one point."
        )
    return list(points)
