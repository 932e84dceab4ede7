"""Plots of searches: how fast they got where, beside random search, and what mattered."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skbo_silbo.sensitivity import InputShares

from .._checks import check_choice
from .._typing import FloatArray
from ..space import ParameterDomain, parameter_domains
from ._evaluations import (
    Dependence,
    ResultLike,
    read_evaluations,
    read_values_like,
)
from ._panels import AxesLike, PanelDisplay, new_figure
from ._search_panels import (
    LONGEST_AXIS_NAME,
    draw_convergence,
    draw_parallel,
    draw_shares,
    draw_values,
)
from ._value_axis import ValueAxis, short_and_distinct

KINDS = ("all", "convergence", "dependence", "shares", "parallel")
N_DEPENDENCES = 2
MAX_PARAMETERS = 10  # the most important, in the last two panels


@dataclass(eq=False, repr=False, kw_only=True)
class SearchDisplay(PanelDisplay):
    """Convergence, dependence on what matters most, shares of the inputs, parallel coordinates.

    Use :meth:`from_result`; the constructor takes what is drawn, which stay attributes of the same
    name.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Of the evaluations in order; NaN where one failed.
    parameters : dict of str to sequence of n values
        The inputs. Masked members are those that a candidate does not have.
    shares : InputShares
        What every input explains, as ``subspace_.shares`` says it.
    dependences : dict of str to Dependence, default=None
        Of the model, on inputs or directions; empty where the values say nothing.
    directions : dict of str to ndarray of shape (n,), default=None
        The evaluations along the learnt directions; None if all inputs were kept.
    n_initial : int, default=0
        How many evaluations came before the first model.
    random_values : ndarray of shape (k,), default=None
        As in `ConvergenceDisplay`.
    value_name : str, default="value"
    greater_is_better : bool, default=False
    domains : dict of str to ParameterDomain, default=None
        What every input can be (`skbo_silbo.space.parameter_domains`): its axis goes from end to
        end of that, in logarithms or not, listed numbers by rank where neither spreads them evenly,
        its categories in that order. None: as the values show.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        The panels in the order drawn.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from skbo_silbo import SILBOSearchCV
    >>> from skbo_silbo.inspection import SearchDisplay
    >>> search = SILBOSearchCV(SVC(), {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
    >>> search = search.fit(*load_iris(return_X_y=True))
    >>> SearchDisplay.from_result(search)  # doctest: +SKIP
    """

    values: FloatArray
    parameters: Mapping[str, Sequence[Any] | NDArray[Any]]
    shares: InputShares
    dependences: Mapping[str, Dependence] | None = None
    directions: Mapping[str, FloatArray] | None = None
    n_initial: int = 0
    random_values: FloatArray | None = None
    value_name: str = "value"
    greater_is_better: bool = False
    domains: Mapping[str, ParameterDomain] | None = None

    @classmethod
    def from_result(
        cls,
        result: ResultLike,
        *,
        random_search: ResultLike | None = None,
        kind: str = "all",
        ax: AxesLike | None = None,
    ) -> Self:
        """Draw a search, an optimiser, what `minimize` returned, or a study of `SILBOSampler`.

        Parameters
        ----------
        result : fitted SILBOSearchCV, optimiser such as SILBO, OptimizeResult, or optuna.Study
        random_search : fitted RandomizedSearchCV, optimiser or OptimizeResult, default=None
            Of the same objective, its points drawn at random: draws the expected curve of random
            search. None: of the initial points, which fill the space as random ones do, and only as
            far as these go.
        kind, ax
            As in :meth:`plot`.

        Returns
        -------
        SearchDisplay

        Raises
        ------
        TypeError
            When the result is of another kind.
        ValueError
            When `random_search` has no such values.
        NotFittedError
            When the search is not fitted.
        ImportError
            When matplotlib is missing.
        """
        evaluations = read_evaluations(result)
        model = evaluations.optimizer.input_model_
        axes = _directions(evaluations, model)
        return cls(
            values=evaluations.values,
            parameters=evaluations.parameters,
            shares=model.shares,
            dependences=_dependences(evaluations, model, axes, kind),
            directions=None if axes is None else {k: evaluations.X @ b for k, b in axes.items()},
            n_initial=evaluations.n_initial,
            random_values=random_values_of(evaluations, random_search),
            value_name=evaluations.name,
            greater_is_better=evaluations.greater_is_better,
            domains=parameter_domains(evaluations.optimizer.space_),
        ).plot(kind=kind, ax=ax)

    def plot(self, *, kind: str = "all", ax: AxesLike | None = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        kind : {"all", "convergence", "dependence", "shares", "parallel"} or str, default="all"
            Or the name of an input: the values along it, with the mean of the model where the
            display was made with that name or the input is among the two most important.
            "convergence": the best value so far beside the expected one of random search.
            "dependence": the values along the first two learnt directions, or, where all inputs
            were kept, along the two most important ones, initial ones hollow; with the mean of the
            model, all else averaged, and its 90 % interval. "shares": what every input explains of
            the variance, and the verdict; where a constant predicts held-out values as well,
            this in words, and no panel shows anything of the model. "parallel": a line a candidate,
            the best tenth in colour.
        ax : matplotlib Axes or array of Axes, default=None
            One for each panel; None makes a figure.

        Returns
        -------
        self
        """
        check_choice("kind", kind, [*KINDS, *self.parameters])
        ranked = self.shares.ranked or list(self.shares.names)
        panels = self._panels(kind, ranked[:MAX_PARAMETERS])
        wide = kind in ("all", "parallel")
        return self._draw(panels, ax, lambda n: _make_axes(n, wide))

    def _panels(self, kind, ranked):
        if kind not in KINDS:
            place = ValueAxis.of(kind, self.parameters[kind], (self.domains or {}).get(kind))
            return [lambda axes: self._draw_values(axes, place)]
        sign = 1 if self.greater_is_better else -1
        drawn = {"this search": self.values}, self.n_initial, self.random_values, self.value_name
        panels = {
            "convergence": [lambda axes: draw_convergence(axes, *drawn, sign)],
            "dependence": [
                lambda axes, place=place: self._draw_values(axes, place)
                for place in self._dependence_axes(ranked)
            ],
            "shares": [lambda axes: draw_shares(axes, self.shares, ranked)],
            "parallel": [
                lambda axes: draw_parallel(axes, self._all_axes(ranked), self.values, sign)
            ],
        }
        return [panel for name in panels if kind in ("all", name) for panel in panels[name]]

    def _draw_values(self, axes, place):
        dependence = (self.dependences or {}).get(place.name)
        names = list(self.parameters)
        labels = dict(zip(names, short_and_distinct(names, LONGEST_AXIS_NAME), strict=True))
        drawn = self.values, self.n_initial, self.value_name, dependence, labels.get(place.name)
        draw_values(axes, place, *drawn)

    def _dependence_axes(self, ranked):
        if self.directions is None:
            return self._value_axes(ranked)[:N_DEPENDENCES]
        return [ValueAxis.along(name, z) for name, z in self.directions.items()]

    def _value_axes(self, ranked):
        """Return the axes of the inputs in this order; constants are left out."""
        known, domains = [name for name in ranked if name in self.parameters], self.domains or {}
        axes = [ValueAxis.of(name, self.parameters[name], domains.get(name)) for name in known]
        return [axis for axis in axes if not axis.is_constant]

    def _all_axes(self, ranked):
        # What is constant in each branch of a conditional space has no share of its own.
        rest = [name for name in self.parameters if name not in self.shares.names]
        values = np.ma.masked_invalid(self.values)
        return [*self._value_axes([*rest, *ranked]), ValueAxis.of_values(self.value_name, values)]


def _directions(evaluations, model):
    """Return the first learnt directions by name; None if there are none to be trusted."""
    embedding = getattr(evaluations.optimizer, "embedding_", None)
    if embedding is None or embedding.is_identity or not model.is_informative:
        return None
    basis = embedding.project(np.eye(model.X.shape[1])).T
    return {f"direction {k + 1}": b for k, b in enumerate(basis[:N_DEPENDENCES])}


def _dependences(evaluations, model, directions, kind):
    """Return the dependences of the panels, by name; {} without a model."""
    if not model.is_informative:
        return {}
    if directions is None:
        names = [name for name in model.shares.ranked if name in evaluations.parameters]
        directions = {name: name for name in names[:N_DEPENDENCES]}
    if kind in evaluations.parameters and kind in model.shares.names:
        directions = {kind: kind, **directions}
    return {name: evaluations.dependence(along) for name, along in directions.items()}


def _make_axes(n_panels, wide):
    """Panels in a row; below them, if `wide`, the last one across the figure."""
    n_above = n_panels - wide
    height = 3.6 * (n_above > 0) + 3.8 * wide
    figure = new_figure("SearchDisplay", max(4.1 * n_above, 9.0 * wide), height)
    grid = figure.add_gridspec((n_above > 0) + wide, max(n_above, 1))
    axes = [figure.add_subplot(grid[0, i]) for i in range(n_above)]
    return axes + ([figure.add_subplot(grid[-1, :])] if wide else [])


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(PanelDisplay):
    """The best value so far, of one search or of several.

    Use :meth:`from_result`; the constructor takes what is drawn, which stay attributes of the same
    name.

    Parameters
    ----------
    curves : dict of str to ndarray
        For every search its values in order, NaN where an evaluation failed; the search itself
        comes first.
    n_initial : int, default=0
        How many of its evaluations came before the first model.
    random_values : ndarray of shape (k,), default=None
        Values of points drawn at random; from them follows what random search reaches on average
        with 1, ..., k points, and the range of 80 % of such searches.
    value_name : str, default="value"
    greater_is_better : bool, default=False

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by :meth:`plot`.
    axes_ : ndarray of one matplotlib Axes

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> from skbo_silbo.inspection import ConvergenceDisplay
    >>> bounds = [(-5, 10), (0, 15)]
    >>> def bowl(x):
    ...     return (x[0] - 1) ** 2 + (x[1] - 2) ** 2
    >>> ours = minimize(bowl, bounds, n_calls=25, random_state=0)
    >>> random = minimize(bowl, bounds, method="random", n_calls=25, random_state=0)
    >>> ConvergenceDisplay.from_result(ours, others={"random": random})  # doctest: +SKIP
    """

    curves: Mapping[str, FloatArray]
    _: KW_ONLY
    n_initial: int = 0
    random_values: FloatArray | None = None
    value_name: str = "value"
    greater_is_better: bool = False

    @classmethod
    def from_result(
        cls,
        result: ResultLike,
        *,
        name: str = "this search",
        others: Mapping[str, ResultLike] | None = None,
        ax: AxesLike | None = None,
    ) -> Self:
        """Draw a search, an optimiser, or what `minimize` returned.

        Parameters
        ----------
        result : fitted SILBOSearchCV, optimiser such as SILBO, or OptimizeResult
            Or any fitted search of scikit-learn, its candidates in their order. Of a search with a
            resource, as `HalvingRandomSearchCV`, here and in `others`, only those with the largest
            resource that it used: their scores are of that many rows, trees or epochs.
        name : str, default="this search"
            What to call it.
        others : dict of str to result, default=None
            Further ones, each drawn as a curve of its own; any fitted search of scikit-learn among
            them.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        ConvergenceDisplay

        Raises
        ------
        TypeError
            When a result is of another kind.
        ValueError
            When a search is to be compared with an optimiser: of one greater, of the other lower
            values are better; or two searches with different `scoring`. When `others` is no dict,
            or has the name of the first curve.
        NotFittedError
            When a search is not fitted.
        ImportError
            When matplotlib is missing.
        """
        others = {} if others is None else others
        if not isinstance(others, Mapping) or name in others:
            raise ValueError(
                f"others must be a dict of results by names other than name={name!r}: got "
                f"{list(others) if isinstance(others, Mapping) else type(others).__name__}. Write "
                'others={"random": search}.'
            )
        evaluations = read_evaluations(result, any_search=True)
        curves = {name: evaluations.values}
        for other, given in others.items():
            curves[other] = read_values_like(evaluations, given, f"others[{other!r}]")
        return cls(
            curves,
            n_initial=evaluations.n_initial,
            random_values=random_values_of(evaluations),
            value_name=evaluations.name,
            greater_is_better=evaluations.greater_is_better,
        ).plot(ax=ax)

    def plot(self, *, ax: AxesLike | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        self
        """
        sign = 1 if self.greater_is_better else -1
        drawn = self.curves, self.n_initial, self.random_values, self.value_name, sign
        return self._draw(
            [lambda axes: draw_convergence(axes, *drawn)],
            ax,
            lambda n: new_figure("ConvergenceDisplay", 5.2, 3.6).subplots(),
        )


def random_values_of(evaluations, random_search=None):
    """Return values of random points: those of a random search, else the initial ones."""
    if random_search is None:
        values, n = evaluations.values, evaluations.n_initial
        return values[:n] if n < len(values) else None
    return read_values_like(evaluations, random_search, "random_search")
