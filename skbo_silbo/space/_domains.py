"""Values, limits and scale of each parameter, as needed for the axes of a plot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.space._box import Box
from skbo_silbo.space._parameters import is_category
from skbo_silbo.space._union import SpaceUnion
from skbo_silbo.space.any_space import AnySpace, branches_of
from skbo_silbo.space.values import Positions, distinct, is_number, unique_names

ROUNDING = 1e-6  # tolerance, relative to the length of an axis
N_QUANTILES = 9  # used to test whether a distribution is evenly spaced on a log scale
STRAIGHTER = 0.5  # use a log scale if it reduces the unevenness to less than this factor


@dataclass(frozen=True, eq=False)
class ParameterDomain:
    """Set of values that a parameter can take in any branch of a search space.

    Attributes
    ----------
    values : list or None
        All possible values of the parameter, or None for a continuous parameter. Numbers are
        sorted; other values keep the order of the space. For a parameter that is numeric in one
        branch and not in another, only the listed values are included.
    low, high : float
        Smallest and largest number, or NaN if the parameter is not numeric.
    is_logarithmic : bool
        Whether the numbers are evenly spaced on a logarithmic scale, as for ``loguniform`` or [1,
        10, 100].
    is_integer : bool
        Whether all values are integers.
    """

    values: list[Any] | None
    low: float = np.nan
    high: float = np.nan
    is_logarithmic: bool = False
    is_integer: bool = False

    @classmethod
    def from_values(cls, values: Iterable[Any]) -> Self:
        """Infer the domain of a parameter from its observed values.

        Examples
        --------
        >>> ParameterDomain.from_values([3.0, 1.0]).high
        3.0
        >>> ParameterDomain.from_values(["b", "a", "b"]).values
        ['b', 'a']
        """
        values = list(values)
        if values and all(map(is_number, values)):
            return cls(None, float(min(values)), float(max(values)))
        return cls(distinct(values))

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers."""
        return not np.isnan(self.low)

    @property
    def is_ranked(self) -> bool:
        """Whether a plot should space the values evenly by rank rather than by magnitude.

        The optimiser also treats the values of a list as equally spaced.

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
    def labels(self) -> list[str]:
        """Unique tick label of each value of the domain.

        The label is the class name of an estimator and the text of any other value. Values that
        would get the same label, such as 1 and "1", are labelled with their repr.
        """
        values = self.values or []
        short = [type(v).__name__ if hasattr(v, "get_params") else str(v) for v in values]
        return unique_names(
            repr(v) if short.count(label) > 1 else label
            for v, label in zip(values, short, strict=True)
        )

    def with_values(self, values: Iterable[Any]) -> Self:
        """Return a copy of this domain with the given values added if missing."""
        listed = Positions(self.values or ())
        new = [v for v in distinct(values) if listed.find(v) is None]
        new = sorted(new) if all(map(is_number, new)) else new
        return type(self)([*(self.values or []), *new])

    def index(self, values: Sequence[Any]) -> FloatArray:
        """Return the position of each value in the domain, or NaN if it is not listed."""
        find = Positions(self.values or ()).find
        return np.array([find(value) for value in values], dtype=float)  # None becomes NaN

    def grid(self, n: int) -> list[Any]:
        """Return at most n evenly spaced numbers of the domain, or all non-numeric values.

        Examples
        --------
        >>> ParameterDomain(None, 0.0, 100.0).grid(3)
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
        listed = np.asarray(self.values, dtype=float)
        return [self.values[i] for i in np.unique(np.abs(listed - grid[:, None]).argmin(axis=1))]


def parameter_domains(space: AnySpace) -> dict[str, ParameterDomain]:
    """Return the domain of each parameter of a search space.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
        Search space whose parameters are described. The inputs of a box are named x0, x1, ... For a
        union, the choice between branches is included as a parameter.

    Returns
    -------
    domains : dict of str to ParameterDomain

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
    domains = {name: _merge_domains(parameters) for name, parameters in versions.items()}
    if isinstance(space, SpaceUnion):
        return {space.choice_name: ParameterDomain(space.choice_values)} | domains
    return domains


def _merge_domains(parameters: list[Any]) -> ParameterDomain:
    """Merge the domains of parameters of the same name in different branches."""
    listed = [value for p in parameters for value in p.values or ()]
    if not all(map(_is_numeric, parameters)):
        return ParameterDomain(distinct(listed))
    continuous = [p for p in parameters if p.values is None]
    ends = listed + [end for p in continuous for end in p.decode(np.array([[-1.0], [1.0]]))]
    low, high = float(min(ends)), float(max(ends))
    varying = [p for p in parameters if p.n_values > 1]
    logarithmic = low > 0.0 and bool(varying) and all(map(_is_even_in_logarithms, varying))
    values = None if continuous else sorted(dict.fromkeys(listed))
    integer = all(p.integer for p in continuous) and all(isinstance(v, Integral) for v in listed)
    return ParameterDomain(values, low, high, logarithmic, integer)


def _is_numeric(parameter: Any) -> bool:
    is_of_numbers = parameter.values is None or all(map(is_number, parameter.values))
    return is_of_numbers and not is_category(parameter)


def _is_even_in_logarithms(parameter: Any) -> bool:
    """Return whether values are spaced more evenly on a logarithmic than on a linear scale."""
    values = parameter.values
    if values is None:
        x = np.linspace(-1.0, 1.0, N_QUANTILES)
        values = parameter.decode(x[:, None])
    else:
        x = parameter.encode(values)[:, 0]
    values = np.asarray(values, dtype=float)
    return _unevenness(np.log(values), x) < STRAIGHTER * _unevenness(values, x) - ROUNDING


def _unevenness(values: FloatArray, x: FloatArray) -> float:
    """Return how far values are from equal steps: their mean distance to the coordinates x."""
    a, b = (np.sort((v - v.min()) / np.ptp(v)) for v in (values, x))
    return float(np.mean(np.abs(a - b)))
