"""Conditional search spaces: unions of branches, given as a list of dicts."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from skbo_silbo._checks import brief
from skbo_silbo._typing import ArrayLike, FloatArray, IntArray
from skbo_silbo.space._parameters import Categories, is_category
from skbo_silbo.space._space import Space, check_dicts
from skbo_silbo.space.categories import Category
from skbo_silbo.space.keys import check_cube, first_rows
from skbo_silbo.space.values import Positions, distinct, unique_names

MOST_COUNTED = 2**16  # points of overlapping branches that are counted exactly


class SpaceUnion:
    """Conditional search space: each point belongs to one of several branches.

    The first columns of the cube encode the branch. A parameter that has the same values in several
    branches shares its columns, so that a surrogate learns about it from all these branches. The
    columns of parameters that a point does not have are set to 0.

    Parameters
    ----------
    branches : list of dict or Space
        The branches of the space. A point that belongs to several branches is assigned to the first
        one.

    Attributes
    ----------
    n_features_ : int
        Number m of encoded columns.
    feature_names_ : list of str
        Unique name of each column, as in `Space`. The columns of the branch come first.
    choice_name : str
        Name of the parameter that selects a branch. It is the first parameter that has a single
        value in each branch, all of them different. If there is none, it is "branch".
    choice_values : list
        Value of the choice in each branch. If `choice_name` is "branch", the values are 0, 1, ...
    parameter_names : list of list of str
        Names of the parameters of each branch.
    n_points : int or float
        Number of distinct points in all branches, or ``math.inf`` if a branch is not finite. If
        there are more than 65536 points, a point in several branches is counted several times.
    is_dict : bool
        Always True, because points are dicts.

    Raises
    ------
    ValueError
        If there are fewer than two branches, or a branch is not a valid space.

    Notes
    -----
    A uniform draw from the cube takes each branch with the same probability, like
    :class:`~sklearn.model_selection.RandomizedSearchCV` for a list of dicts.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from skbo_silbo.space import SpaceUnion
    >>> C = loguniform(1e-3, 1e3)
    >>> space = SpaceUnion([
    ...     {"kernel": ["linear"], "C": C},
    ...     {"kernel": ["poly"], "C": C, "degree": [2, 3]},
    ... ])
    >>> space.feature_names_
    ['kernel=poly', 'C', 'degree']
    >>> space.round([[-0.7, 0.5, 0.9], [0.2, 0.5, 0.9]])
    array([[-1. ,  0.5,  0. ],
           [ 1. ,  0.5,  0.5]])
    >>> space.decode([[1.0, 0.0, 0.5]])[0]["degree"]
    3
    """

    is_dict = True

    def __init__(self, branches: Sequence[Mapping[str, Any] | Space]) -> None:
        self.branches = [b if isinstance(b, Space) else Space(b) for b in branches]
        if len(self.branches) < 2:
            raise ValueError(
                f"`branches` must contain at least two spaces, got {len(self.branches)}. "
                "Use Space for a single one."
            )
        self.parameter_names = [branch.parameter_names for branch in self.branches]
        self._choice = Categories("branch", range(len(self.branches)))
        self.choice_name, self.choice_values = _find_choice(self.branches)
        self._positions = Positions(self.choice_values)
        self.feature_names_ = Categories(self.choice_name, self.choice_values).column_names
        self._varying, self._columns = self._assign_columns()
        self.n_features_ = len(self.feature_names_)
        self._earlier = [
            [a for a in range(b) if _may_meet(self.branches[a], branch)]
            for b, branch in enumerate(self.branches)
        ]
        self.n_points = sum(branch.n_points for branch in self.branches)
        if any(self._earlier) and self.n_points <= MOST_COUNTED:
            self.n_points = len(self.every_point())

    def __repr__(self) -> str:
        return f"SpaceUnion({', '.join(map(repr, self.branches))})"

    def encode(self, points: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Encode points as points of the cube [-1, 1]^m.

        Parameters
        ----------
        points : list of n dicts
            Points as dicts with the values of all parameters of one branch.

        Returns
        -------
        X : ndarray of shape (n, m)
            The encoded points in [-1, 1]^m.

        Raises
        ------
        ValueError
            If a point does not belong to any branch.
        """
        rows = [self._join(*self._find(point)) for point in check_dicts(points)]
        return np.vstack([np.empty((0, self.n_features_)), *rows])

    def decode(self, X: ArrayLike) -> list[dict[str, Any]]:
        """Decode points of the cube to the parameters of their branch, as in `Space.decode`."""
        X = self.round(X)
        chosen = self._branch(X)
        points: dict[int, dict[str, Any]] = {}
        for b, branch in enumerate(self.branches):
            rows = np.flatnonzero(chosen == b)
            if rows.size:
                block = branch.decode(X[np.ix_(rows, self._columns[b])])
                points |= zip(rows.tolist(), block, strict=True)
        return [points[row] for row in range(len(X))]

    def round(self, X: ArrayLike) -> FloatArray:
        """Round encoded points to valid parameter values, as in `Space.round`."""
        X = check_cube(X, self.n_features_)
        rounded, chosen = np.zeros_like(X), self._branch(X)
        for b, branch in enumerate(self.branches):
            rows = np.flatnonzero(chosen == b)
            own = X[np.ix_(rows, self._columns[b])]
            rounded[rows] = self._join(b, branch.round(own))
            points = branch.decode(own) if self._earlier[b] else []
            earlier = [self.branches[a] for a in self._earlier[b]]
            shared = [i for i, p in enumerate(points) if any(e.holds(p) for e in earlier)]
            if shared:
                rounded[rows[shared]] = self.encode([points[i] for i in shared])
        return rounded

    def every_point(self) -> FloatArray:
        """Return the encodings of all distinct points of a finite search space."""
        owns = enumerate(branch.every_point() for branch in self.branches)
        X = self.round(np.vstack([self._join(b, own) for b, own in owns]))
        return X[first_rows(X)]

    def pinned(self, fixed: Mapping[str, Any]) -> "SpaceUnion | Space":
        """Return this space with some parameters fixed to given values.

        Parameters
        ----------
        fixed : dict
            Values of the fixed parameters, by name.

        Returns
        -------
        space : SpaceUnion or Space
            Space of the branches that have all these parameters and values.

        Raises
        ------
        ValueError
            If no branch has all these parameters and values.
        """
        by_branch, reasons = self._pinned_branches(fixed)
        if not by_branch:
            raise ValueError(
                f"`fixed` must be possible in at least one branch of the space, got "
                f"{brief(dict(fixed))}. {' '.join(reasons)}"
            )
        branches = list(by_branch.values())
        return SpaceUnion(branches) if len(branches) > 1 else branches[0]

    def _pinned_branches(self, fixed: Mapping[str, Any]) -> tuple[dict[int, Space], list[str]]:
        """Fix parameters in each branch, and return the resulting branches and errors by index."""
        pinned, reasons = {}, []
        for b, branch in enumerate(self.branches):
            try:
                pinned[b] = branch.pinned(fixed)
            except ValueError as error:
                reasons.append(f"Branch {b}: {error}")
        return pinned, reasons

    def spread(self, U: FloatArray) -> FloatArray:
        """Convert uniform samples to encoded points, as in `Space.spread`.

        Parameters
        ----------
        U : ndarray of shape (n, p)
            Samples from [0, 1], one for the branch and one for each of the p - 1 parameters that
            are not constant. A parameter with different values in two branches is counted twice.

        Returns
        -------
        X : ndarray of shape (n, m)
            Points with a value in every column, including columns of other branches.
        """
        return np.hstack([p.spread(u) for p, u in zip(self._varying, U.T, strict=True)])

    def coordinates(self) -> list[list[int]]:
        """Return the encoded columns that depend on each column of the samples for `spread`."""
        ends = np.cumsum([0, *(p.n_columns for p in self._varying)]).tolist()
        return [list(range(*pair)) for pair in pairwise(ends)]

    def with_value(self, X: FloatArray, name: str, value: Any) -> FloatArray:
        """Return a copy of the encoded points X with one parameter set to a value.

        Parameters
        ----------
        X : ndarray of shape (n, m)
            Encoded points that have the parameter, or have not been rounded yet.
        name : str
            Name of a parameter or of the choice between branches.
        value : object
            The new value of the parameter or of the choice.

        Returns
        -------
        X : ndarray of shape (k, m)
            The points whose branch allows this value. If `name` is the choice, all points are
            moved to the branch of this value.
        """
        if name == self.choice_name:
            X = X.copy()
            X[:, : self._choice.n_columns] = self._choice.encode([self._positions.find(value)])
            return X
        blocks, chosen = [X[:0]], self._branch(X)
        for b, branch in enumerate(self.branches):
            block, own = X[chosen == b], self._columns[b]
            if name in branch.parameter_names:
                try:
                    block[:, own] = branch.with_value(block[:, own], name, value)
                except ValueError:  # this branch does not allow the value
                    continue
                blocks.append(block)
        return np.concatenate(blocks)

    def with_values(self, X: FloatArray, values: Mapping[str, Any]) -> FloatArray:
        """Return a copy of the encoded points X with several parameters set to values.

        Points whose branch does not allow these values are moved to another branch.
        """
        X, chosen = X.copy(), self._branch(X)
        fitting = list(self._pinned_branches(values)[0])
        for b in set(chosen.tolist()):
            target = b if b in fitting else fitting[b % len(fitting)]
            rows, own = np.flatnonzero(chosen == b), self._columns[target]
            X[rows, : self._choice.n_columns] = self._choice.encode([target])
            block = X[np.ix_(rows, own)]
            X[np.ix_(rows, own)] = self.branches[target].with_values(block, values)
        return X

    def own(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the values of a point to the types that `decode` returns, as in `Space.own`."""
        return self.branches[self._find(point)[0]].own(point)

    def choices(self, X: FloatArray) -> list[Any]:
        """Return the branch of each encoded point, as an element of `choice_values`."""
        return [self.choice_values[b] for b in self._branch(X)]

    def column_groups(self) -> dict[str, list[int]]:
        """Return the encoded columns of the branch choice and of each parameter."""
        groups = {self.choice_name: set(range(self._choice.n_columns))}
        for branch, columns in zip(self.branches, self._columns, strict=True):
            for name, own in branch.column_groups().items():
                groups.setdefault(name, set()).update(columns[own].tolist())
        return {name: sorted(columns) for name, columns in groups.items()}

    def categories(self) -> list[Category]:
        """Return the branch choice and the categorical parameters of all branches."""
        choice, *own = [
            Category(p.name, p.values, columns, p.encode(p.values))
            for p, columns in zip(self._varying, self.coordinates(), strict=True)
            if is_category(p)
        ]
        return [choice._replace(name=self.choice_name, values=self.choice_values), *own]

    def _assign_columns(self) -> tuple[list[Any], list[IntArray]]:
        """Assign encoded columns to the parameters of all branches.

        Return the parameters that are not constant, and the columns of each branch.
        """
        taken: list[tuple[Any, int]] = []  # parameters, each with its first column
        columns = []
        for b, branch in enumerate(self.branches):
            own_columns: list[int] = []
            for parameter in branch.parameters:
                first = next((c for other, c in taken if _is_same(other, parameter)), None)
                if first is None:
                    old, own = self.feature_names_, parameter.column_names
                    first = len(old)
                    taken.append((parameter, first))
                    own = [f"{name} (branch {b})" if name in old else name for name in own]
                    self.feature_names_ = old + unique_names(own, taken=old)
                own_columns += range(first, first + parameter.n_columns)
            columns.append(np.array(own_columns, dtype=int))
        return [self._choice, *(p for p, _ in taken if p.n_columns)], columns

    def _branch(self, X: FloatArray) -> IntArray:
        return np.array(self._choice.decode(X[:, : self._choice.n_columns]), dtype=int)

    def _join(self, b: int, own: FloatArray) -> FloatArray:
        """Return encoded points of branch b from the encoded columns of its parameters."""
        X = np.zeros((len(own), self.n_features_))
        X[:, : self._choice.n_columns] = self._choice.encode([b])
        X[:, self._columns[b]] = own
        return X

    def _find(self, point: Mapping[str, Any]) -> tuple[int, FloatArray]:
        """Return the index of the first branch that contains a point, and the encoded point."""
        fitting = [b for b, names in enumerate(self.parameter_names) if set(names) == point.keys()]
        if not fitting:
            raise ValueError(
                "Each point must have exactly the parameters of one of the branches, "
                f"{self.parameter_names}, got {list(point)}. Add or remove parameters."
            )
        # Prefer exact types, because 1 and 1.0 may be values of different branches.
        exact = [b for b in fitting if self.branches[b].holds(point)]
        for b in exact or fitting:
            try:
                own = self.branches[b].encode([point])
            except ValueError as error:
                reason = ValueError(f"Branch {b}: {error}")
                continue
            if self._earlier[b]:  # rounding may have moved the point into an earlier branch
                [point] = self.branches[b].decode(own)
                if any(self.branches[a].holds(point) for a in self._earlier[b]):
                    return self._find(point)
            return b, own
        raise reason


def _find_choice(branches: list[Space]) -> tuple[str, list[Any]]:
    """Return the parameter that selects the branch, and its value in each branch."""
    for name in branches[0].parameter_names:
        held = [p for b in branches for p in b.parameters if p.name == name and p.n_values == 1]
        values = [value for p in held for value in p.values]
        if len(values) == len(distinct(values)) == len(branches):
            return name, values
    taken = {name for branch in branches for name in branch.parameter_names}
    return unique_names(["branch"], taken)[0], list(range(len(branches)))


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two parameters have equal encodings and can share columns."""
    if one.name != other.name or type(one) is not type(other):
        return False
    return json.dumps(one.describe()) == json.dumps(other.describe())  # 1 is not 1.0 or True


def _may_meet(one: Any, other: Any) -> bool:
    """Return whether two search spaces may have points in common."""
    a, b = ({p.name: p for p in space.parameters} for space in (one, other))
    return a.keys() == b.keys() and all(
        a[name].values is None
        or b[name].values is None
        or any(map(Positions(b[name].values).holds, a[name].values))
        for name in a
    )
