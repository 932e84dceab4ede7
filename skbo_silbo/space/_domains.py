"""What a parameter can be, as an axis of a picture shows it: ends, scale, order of the values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.space._box import Box
from skbo_silbo.space._parameters import Levels, LevelsThenNone, Quantiles
from skbo_silbo.space._read import AnySpace
from skbo_silbo.space._union import SpaceUnion, branches_of
from skbo_silbo.space._values import Positions, distinct, is_number, unlike

ROUNDING = 1e-6  # of the length of an axis
NEAR = 1e-3  # of the length of an axis: a bound that close to the searched range is its end
N_QUANTILES = 9  # that show whether a distribution is even in its logarithm
STRAIGHTER = 0.5  # how uneven logarithms may be beside the values themselves


@dataclass(frozen=True, eq=False)
class ParameterDomain:
    """What a parameter can be, in all branches of its space together.

    Attributes
    ----------
    values : list or None
        All values: numbers by size, others in the order of the space. None where numbers are
        continuous. Of a parameter that is a number in one branch and something else in another,
        what lists have of it.
    low, high : float
        Ends of the numbers that are searched, at the bounds of a distribution where these are as
        good as reached; NaN of anything else.
    is_logarithmic : bool
        Whether it is the logarithms of the numbers that are evenly spread, as of ``loguniform`` or
        of [1, 10, 100].
    is_integer : bool
        Whether only whole numbers are possible.
    """

    values: list[Any] | None
    low: float = np.nan
    high: float = np.nan
    is_logarithmic: bool = False
    is_integer: bool = False

    @classmethod
    def of(cls, values: Iterable[Any]) -> Self:
        """Return the domain that values themselves show: numbers evenly, others as they are met.

        Examples
        --------
        >>> ParameterDomain.of([3.0, 1.0]).high, ParameterDomain.of(["b", "a", "b"]).values
        (3.0, ['b', 'a'])
        """
        values = list(values)
        if values and all(map(is_number, values)):
            return cls(None, float(min(values)), float(max(values)))
        return cls(distinct(values))

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers on one scale."""
        return not np.isnan(self.low)

    @property
    def is_ranked(self) -> bool:
        """Whether listed numbers are shown by rank, since no scale spreads them evenly.

        So the optimiser sees a list.

        Examples
        --------
        >>> ParameterDomain([0, 0.1, 10], 0.0, 10.0).is_ranked
        True
        """
        if self.values is None or not self.is_numeric or self.is_logarithmic:
            return False
        steps = np.diff(np.asarray(self.values, dtype=float))
        return steps.size > 1 and bool(np.ptp(steps) > ROUNDING * (self.high - self.low))

    @property
    def words(self) -> list[str]:
        """A word for each of `values`, no two equal: 1 and "1" are ``1`` and ``'1'``.

        That of an estimator is its class, as long as no other has it.
        """
        values = self.values or []
        brief = [type(v).__name__ if hasattr(v, "get_params") else str(v) for v in values]
        return unlike(
            repr(v) if brief.count(word) > 1 else word
            for v, word in zip(values, brief, strict=True)
        )

    def with_met(self, values: Iterable[Any]) -> Self:
        """Return this domain with those of the values added that it does not list."""
        known = Positions(self.values or ())
        new = [v for v in distinct(values) if known.find(v) is None]
        new = sorted(new) if all(map(is_number, new)) else new
        return type(self)([*(self.values or []), *new])

    def index(self, values: Sequence[Any]) -> FloatArray:
        """Return the positions of values in `values`, (n,); NaN of what it does not list."""
        find = Positions(self.values or ()).find
        return np.array([find(value) for value in values], dtype=float)  # None becomes NaN

    def places(self, n: int) -> list[Any]:
        """Return all values if there are at most n, else n of them, spread evenly from end to end.

        Examples
        --------
        >>> ParameterDomain(None, 0.0, 100.0).places(3)
        [0.0, 50.0, 100.0]
        """
        if self.values is not None and (len(self.values) <= n or not self.is_numeric):
            return self.values
        if self.values is not None and self.is_ranked:
            return [self.values[i] for i in np.linspace(0, len(self.values) - 1, n).astype(int)]
        scale, back = (np.log, np.exp) if self.is_logarithmic else (np.asarray, np.asarray)
        grid = back(np.linspace(scale(self.low), scale(self.high), n))
        grid[[0, -1]] = self.low, self.high
        if self.values is None:
            return np.unique(np.round(grid).astype(int) if self.is_integer else grid).tolist()
        known = np.asarray(self.values, dtype=float)
        return [self.values[i] for i in np.unique(np.abs(known - grid[:, None]).argmin(axis=1))]


def parameter_domains(space: AnySpace) -> dict[str, ParameterDomain]:
    """Return what every parameter of a space can be, by name.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
        The inputs of a box are called x0, x1, ... The choice between branches is among the others.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from skbo_silbo import Space
    >>> space = Space({"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"], "degree": [2, 3]})
    >>> domains = parameter_domains(space)
    >>> domains["C"].is_logarithmic, domains["kernel"].values, domains["degree"].high
    (True, ['rbf', 'poly'], 3.0)
    """
    if isinstance(space, Box):
        columns = (c.tolist() for c in (space.lower, space.upper, space.is_logarithmic))
        inputs = enumerate(zip(*columns, strict=True))
        return {f"x{j}": ParameterDomain(None, *of_input) for j, of_input in inputs}
    versions: dict[str, list[Any]] = {}
    for branch in branches_of(space):
        for parameter in branch.parameters:
            versions.setdefault(parameter.name, []).append(parameter)
    domains = {name: _in_common(parameters) for name, parameters in versions.items()}
    if isinstance(space, SpaceUnion):
        return {space.choice_name: ParameterDomain(space.choice_values)} | domains
    return domains


def _in_common(parameters):
    """Return the domain of the parameters that branches have under one name."""
    listed = [value for p in parameters for value in p.values or ()]
    if not all(map(_is_numeric, parameters)):
        return ParameterDomain(distinct(listed))
    continuous = [p for p in parameters if p.values is None]
    ends = listed + [end for p in continuous for end in p.decode(np.array([[-1.0], [1.0]]))]
    low, high = float(min(ends)), float(max(ends))
    varying = [p for p in parameters if p.n_values > 1]
    logarithmic = low > 0.0 and bool(varying) and all(map(_is_even_in_logarithms, varying))
    if not logarithmic:
        low, high = _at_near_bounds(continuous, low, high)
    values = None if continuous else sorted(dict.fromkeys(listed))
    integer = all(p.integer for p in continuous) and all(isinstance(v, Integral) for v in listed)
    return ParameterDomain(values, low, high, logarithmic, integer)


def _at_near_bounds(continuous, low, high):
    """Return the ends of the searched range, or the bounds of distributions that are near them.

    The range of ``expon()`` begins one grid step above 0, which no axis should say.
    """
    bounds = [float(b) for p in continuous for b in p.distribution.support()]
    near = NEAR * (high - low)
    lower, upper = ([b for b in bounds if abs(b - end) <= near] for end in (low, high))
    return min([low, *lower]), max([high, *upper])


def _is_numeric(parameter):
    constant = parameter.n_values == 1 and is_number(parameter.values[0])
    is_of_numbers = isinstance(parameter, Levels | Quantiles)
    return constant or (is_of_numbers and not isinstance(parameter, LevelsThenNone))


def _is_even_in_logarithms(parameter):
    """Return whether logarithms of the values are spread far more evenly in the cube than these."""
    values = parameter.values
    if values is None:
        x = np.linspace(-1.0, 1.0, N_QUANTILES)
        values = parameter.decode(x[:, None])
    else:
        x = parameter.encode(values)[:, 0]
    values = np.asarray(values, dtype=float)
    return _unevenness(np.log(values), x) < STRAIGHTER * _unevenness(values, x) - ROUNDING


def _unevenness(values, x):
    """Return how far values lie, on average, from where they lie in the cube, both from 0 to 1."""
    a, b = (np.sort((v - v.min()) / np.ptp(v)) for v in (values, x))
    return float(np.mean(np.abs(a - b)))
