"""A union of spaces: conditional parameters, as scikit-learn writes them in a list of dicts."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from skbo_silbo._typing import ArrayLike, FloatArray
from skbo_silbo.space._categories import Category
from skbo_silbo.space._keys import check_cube, first_rows
from skbo_silbo.space._parameters import Categories, is_category
from skbo_silbo.space._space import Space, check_dicts
from skbo_silbo.space._values import among, distinct, find, same, unlike


class SpaceUnion:
    """Several spaces of named parameters seen as one cube; a point belongs to one of them.

    The first columns say to which branch a point belongs, in equal shares. A parameter that
    branches have in common, with the same values, has one column in common, so that what is learnt
    of it in one branch counts in the other. Columns of parameters that a point does not have are 0
    in its canonical form: points do not differ by them.

    Parameters
    ----------
    branches : list of dict or Space
        The spaces. Where they overlap, a point belongs to the first that has it.

    Attributes
    ----------
    n_features_ : int
        Columns m of the encoded cube.
    feature_names_ : list of str
        As in `Space`; those of the choice come first, and a name met before gets its branch. No
        two are alike.
    choice_name : str
        What the choice between branches is called: the first parameter that has one value in every
        branch, another in each; "branch" where there is none, its values being 0, 1, ...
        ("branch (2)" where a parameter is called "branch").
    choice_values : list
        Its value in every branch.
    parameter_names : list of list of str
        The names of every branch's parameters, in order.
    n_points : int or float
        Number of distinct points of all branches; ``math.inf`` if one branch is not finite.
    is_dict : bool
        True: points are dicts.

    Raises
    ------
    ValueError
        If there are fewer than two branches, or one is not a valid space.

    Notes
    -----
    A uniform draw from the cube takes every branch equally often, as RandomizedSearchCV does with
    a list of dicts.

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
                f"branches must be at least two spaces: got {len(self.branches)}. "
                "Use Space for a single one."
            )
        self.parameter_names = [branch.parameter_names for branch in self.branches]
        self._choice = Categories("branch", range(len(self.branches)))
        self.choice_name, self.choice_values = _choice_in_words(self.branches)
        self.feature_names_ = Categories(self.choice_name, self.choice_values).column_names
        self._varying, self._columns = self._assign_columns()
        self.n_features_ = len(self.feature_names_)
        self._earlier = [
            [a for a in range(b) if _may_meet(self.branches[a], branch)]
            for b, branch in enumerate(self.branches)
        ]
        infinite = any(math.isinf(branch.n_points) for branch in self.branches)
        self.n_points = math.inf if infinite else _count(list(map(_values, self.branches)))

    def __repr__(self):
        return f"SpaceUnion({', '.join(map(repr, self.branches))})"

    def encode(self, points: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Map points to the cube.

        Parameters
        ----------
        points : list of n dicts
            Each with a value for every parameter of one branch, and no other.

        Returns
        -------
        X : ndarray of shape (n, m)
            The canonical points of [-1, 1]^m.

        Raises
        ------
        ValueError
            If no branch has a point's parameters, or none of those that do has its values.
        """
        rows = [self._of_branch(*self._find(point)) for point in check_dicts(points)]
        return np.vstack([np.empty((0, self.n_features_)), *rows])

    def decode(self, X: ArrayLike) -> list[dict[str, Any]]:
        """Map points of the cube, (n, m), to parameters of their branch, as `Space.decode` does."""
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
        """Return the points of the cube that X, (n, m), stands for, as `Space.round` does."""
        X = check_cube(X, self.n_features_)
        rounded, chosen = np.zeros_like(X), self._branch(X)
        for b, branch in enumerate(self.branches):
            rows = np.flatnonzero(chosen == b)
            own = X[np.ix_(rows, self._columns[b])]
            rounded[rows] = self._of_branch(b, branch.round(own))
            points = branch.decode(own) if self._earlier[b] else []
            earlier = [self.branches[a] for a in self._earlier[b]]
            shared = [i for i, p in enumerate(points) if any(e.holds(p) for e in earlier)]
            if shared:
                rounded[rows[shared]] = self.encode([points[i] for i in shared])
        return rounded

    def every_point(self) -> FloatArray:
        """Return all points of a finite space as points of the cube, each once, (n_points, m)."""
        owns = enumerate(branch.every_point() for branch in self.branches)
        X = self.round(np.vstack([self._of_branch(b, own) for b, own in owns]))
        return X[first_rows(X)]

    def pinned(self, fixed: Mapping[str, Any]) -> "SpaceUnion | Space":
        """Return the part of the branches in which parameters have the values of a dict.

        Returns
        -------
        part : SpaceUnion or Space
            Of the branches that have all these parameters, with these values.

        Raises
        ------
        ValueError
            If no branch has them.
        """
        by_branch, reasons = self._pinned_branches(fixed)
        if not by_branch:
            raise ValueError(
                f"fixed must be possible in one branch (one dict of the list) at least: got "
                f"{dict(fixed)!r}. {' '.join(reasons)}"
            )
        parts = list(by_branch.values())
        return SpaceUnion(parts) if len(parts) > 1 else parts[0]

    def _pinned_branches(self, fixed):
        """Return the parts of branches by their number, and why others have none."""
        parts, reasons = {}, []
        for b, branch in enumerate(self.branches):
            try:
                parts[b] = branch.pinned(fixed)
            except ValueError as error:
                reasons.append(f"Branch {b}: {error}")
        return parts, reasons

    def spread(self, U: FloatArray) -> FloatArray:
        """Return points of the cube from uniform numbers, as `Space.spread` does.

        Parameters
        ----------
        U : ndarray of shape (n, p)
            In [0, 1]: for the choice, and for each of the other p - 1 parameters that are not
            constant; one that branches have with other values counts in each.

        Returns
        -------
        X : ndarray of shape (n, m)
            A value in every column, whether the point's branch has it or not.
        """
        return np.hstack([p.spread(u) for p, u in zip(self._varying, U.T, strict=True)])

    def coordinates(self) -> list[list[int]]:
        """Return which columns each of the numbers that `spread` takes sets."""
        ends = np.cumsum([0, *(p.n_columns for p in self._varying)]).tolist()
        return [list(range(*pair)) for pair in pairwise(ends)]

    def with_value(self, X: FloatArray, name: str, value: Any) -> FloatArray:
        """Return points of the cube with another value of a parameter.

        Parameters
        ----------
        X : ndarray of shape (n, m)
            Not rounded, so that every column has a value, or of points that have the parameter.
        name : str
        value : object

        Returns
        -------
        X : ndarray of shape (k, m)
            Of those of the n points in whose branch the parameter can have this value. Of the
            choice: all points, in the branch of this value.
        """
        if name == self.choice_name:
            X = X.copy()
            X[:, : self._choice.n_columns] = self._choice.encode([find(value, self.choice_values)])
            return X
        blocks, chosen = [X[:0]], self._branch(X)
        for b, branch in enumerate(self.branches):
            block, own = X[chosen == b], self._columns[b]
            if name in branch.parameter_names:
                try:
                    block[:, own] = branch.with_value(block[:, own], name, value)
                except ValueError:  # not in this branch
                    continue
                blocks.append(block)
        return np.concatenate(blocks)

    def with_values(self, X: FloatArray, values: Mapping[str, Any]) -> FloatArray:
        """Return points of the cube, (n, m), with other values of parameters.

        Points are moved to a branch that has all of these, where theirs has not.
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

    def choices(self, X: FloatArray) -> list[Any]:
        """Return the value of the choice, of `choice_values`, at points of the cube, (n, m)."""
        return [self.choice_values[b] for b in self._branch(X)]

    def column_groups(self) -> dict[str, list[int]]:
        """Return which columns each parameter has in any branch; the choice comes first."""
        groups = {self.choice_name: set(range(self._choice.n_columns))}
        for branch, columns in zip(self.branches, self._columns, strict=True):
            for name, own in branch.column_groups().items():
                groups.setdefault(name, set()).update(columns[own].tolist())
        return {name: sorted(columns) for name, columns in groups.items()}

    def categories(self) -> list[Category]:
        """Return the categories of all branches; the choice between them comes first."""
        choice, *own = [
            Category(p.name, p.values, columns, p.encode(p.values))
            for p, columns in zip(self._varying, self.coordinates(), strict=True)
            if is_category(p)
        ]
        return [choice._replace(name=self.choice_name, values=self.choice_values), *own]

    def _assign_columns(self):
        """Name the columns, and return what they are of and, for every branch, which it has."""
        taken: list[tuple[Any, int]] = []  # parameters, each with its first column
        columns = []
        for b, branch in enumerate(self.branches):
            places: list[int] = []
            for parameter in branch.parameters:
                first = next((c for other, c in taken if _is_same(other, parameter)), None)
                if first is None:
                    old, own = self.feature_names_, parameter.column_names
                    first = len(old)
                    taken.append((parameter, first))
                    own = [f"{name} (branch {b})" if name in old else name for name in own]
                    self.feature_names_ = old + unlike(own, taken=old)
                places += range(first, first + parameter.n_columns)
            columns.append(np.array(places, dtype=int))
        return [self._choice, *(p for p, _ in taken if p.n_columns)], columns

    def _branch(self, X):
        return np.array(self._choice.decode(X[:, : self._choice.n_columns]), dtype=int)

    def _of_branch(self, b, own):
        """Return the points, (n, m), with columns of branch b, (n, k)."""
        X = np.zeros((len(own), self.n_features_))
        X[:, : self._choice.n_columns] = self._choice.encode([b])
        X[:, self._columns[b]] = own
        return X

    def _find(self, point):
        """Return the first branch that has a point, and its columns there, (1, k)."""
        fitting = [b for b, names in enumerate(self.parameter_names) if set(names) == point.keys()]
        if not fitting:
            raise ValueError(
                "points must have exactly the parameters of one branch, of "
                f"{self.parameter_names}: got {list(point)}. Add or remove parameters."
            )
        # Exact types first: 1 and 1.0 may be values of two branches.
        exact = [b for b in fitting if self.branches[b].holds(point)]
        for b in exact or fitting:
            try:
                own = self.branches[b].encode([point])
            except ValueError as error:
                reason = error
                continue
            if self._earlier[b]:  # what b makes of the value can fall, by rounding, to one of these
                [point] = self.branches[b].decode(own)
                if any(self.branches[a].holds(point) for a in self._earlier[b]):
                    return self._find(point)
            return b, own
        raise reason


def branches_of(space: SpaceUnion | Space) -> list[Space]:
    """Return the branches of a union; of another space itself."""
    return space.branches if isinstance(space, SpaceUnion) else [space]


def _choice_in_words(branches):
    """Return the name of the choice between branches, and its value in each."""
    for name in branches[0].parameter_names:
        values = [_only_value(branch, name) for branch in branches]
        if None not in values and len(distinct([value for [value] in values])) == len(branches):
            return name, [value for [value] in values]
    taken = {name for branch in branches for name in branch.parameter_names}
    return unlike(["branch"], taken)[0], list(range(len(branches)))


def _only_value(branch, name):
    """Return the value, in a list, of a parameter that is constant in a branch; None if not."""
    return next((p.values for p in branch.parameters if p.name == name and p.n_values == 1), None)


def _is_same(one, other):
    """Whether two parameters can share columns."""
    if one.name != other.name or type(one) is not type(other):
        return False
    a, b = one.summary(), other.summary()
    return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)


def _may_meet(one, other):
    """Whether two spaces can have a point in common; True if that is not known."""
    a, b = ({p.name: p for p in space.parameters} for space in (one, other))
    return a.keys() == b.keys() and all(
        a[name].values is None or b[name].values is None or among(a[name].values, b[name].values)
        for name in a
    )


def _values(space):
    return {p.name: p.values for p in space.parameters}


def _count(boxes):
    """Return how many points a union of finite spaces has, each a dict of names to values.

    Those of the first, and of the rest, less those counted twice.
    """
    if not boxes:
        return 0
    first, *rest = boxes
    common = [
        {name: among(values, other[name]) for name, values in first.items()}
        for other in rest
        if other.keys() == first.keys()
    ]
    size = math.prod(map(len, first.values()))
    return size + _count(rest) - _count([box for box in common if all(box.values())])
