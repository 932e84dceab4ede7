"""Plots of a finished search: convergence, important inputs and comparison with other searches."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

from numpy.typing import NDArray

from skbo_silbo._checks import check_choice
from skbo_silbo._typing import FloatArray
from skbo_silbo.inspection._evaluations import (
    Dependence,
    Evaluations,
    ResultLike,
    read_evaluations,
    read_values_like,
)
from skbo_silbo.inspection._panels import AxesLike, PanelDisplay, draw_text
from skbo_silbo.inspection._search_panels import (
    LONGEST_AXIS_NAME,
    draw_convergence,
    draw_shares,
    draw_values,
)
from skbo_silbo.inspection._value_axis import ValueAxis, shorten_distinct
from skbo_silbo.sensitivity import InputShares
from skbo_silbo.space import ParameterDomain, parameter_domains

KINDS = ("all", "convergence", "dependence", "shares")
N_DEPENDENCES = 2
MAX_PARAMETERS = 10  # most important inputs, in the panel "shares"


@dataclass(eq=False, repr=False, kw_only=True)
class SearchDisplay(PanelDisplay):
    """Plots of a finished search: convergence, importance and effects of the inputs.

    It is recommended to use :meth:`from_result` to create a `SearchDisplay`. All parameters are
    stored as attributes.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Observed values in the order of evaluation. Failed evaluations are NaN.
    parameters : dict of str to sequence of length n
        Values of each input. Masked entries mark candidates that do not have the input.
    shares : InputShares
        Share of the variance of the observed values explained by each input, as in
        ``subspace_.shares``.
    dependences : dict of str to Dependence, default=None
        Partial dependence of the model on inputs, by name. The dict is empty if the model is not
        informative.
    n_initial : int, default=0
        Number of evaluations before the first model was fitted.
    random_values : ndarray of shape (k,), default=None
        Values of randomly drawn points, see `ConvergenceDisplay`.
    value_name : str, default="value"
        Name of the observed values.
    greater_is_better : bool, default=False
        Whether the values are maximised.
    domains : dict of str to ParameterDomain, default=None
        Domain of each input, as returned by `skbo_silbo.space.parameter_domains`. It determines the
        range and scale of the axis and the order of categories. If None, the domains are inferred
        from the values.
    label : str, default="this search"
        Label of the curve that shows the best value so far.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure containing the panels, set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        Axes of the panels in the order in which they are drawn.

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
    n_initial: int = 0
    random_values: FloatArray | None = None
    value_name: str = "value"
    greater_is_better: bool = False
    domains: Mapping[str, ParameterDomain] | None = None
    label: str = "this search"

    @classmethod
    def from_result(
        cls,
        result: ResultLike,
        *,
        random_search: ResultLike | None = None,
        kind: str = "all",
        ax: AxesLike | None = None,
    ) -> Self:
        """Plot a search, an optimiser, a result of `minimize` or an Optuna study.

        Parameters
        ----------
        result : fitted SILBOSearchCV, optimiser such as SILBO, OptimizeResult, or optuna.Study
            The result to plot. If a study has another sampler than `SILBOSampler`, the default
            model is fitted to its trials.
        random_search : fitted RandomizedSearchCV, optimiser or OptimizeResult, default=None
            Random search of the same objective, used to estimate the expected performance of random
            search. If None, it is estimated from the initial points, and its curve ends after as
            many evaluations.
        kind : {"all", "convergence", "dependence", "shares"} or str, default="all"
            Which panels to draw, see :meth:`plot`.
        ax : matplotlib Axes or array of Axes, default=None
            Axes to draw on, see :meth:`plot`.

        Returns
        -------
        display : SearchDisplay
            The display, already plotted.

        Raises
        ------
        TypeError
            If the result is of an unsupported type.
        ValueError
            If the values of `random_search` and `result` cannot be compared.
        NotFittedError
            If the search is not fitted.
        ImportError
            If matplotlib is not installed.
        """
        evaluations = read_evaluations(result)
        display = cls.from_evaluations(evaluations, [kind], random_search)
        return display.plot(kind=kind, ax=ax)

    @classmethod
    def from_evaluations(
        cls,
        evaluations: Evaluations,
        inputs: Sequence[str] = (),
        random_search: ResultLike | None = None,
    ) -> Self:
        """Create a display of a search without drawing it.

        The dependence is computed on `inputs` and on the most important inputs.
        """
        model, parameters = evaluations.optimizer.input_model_, evaluations.parameters
        names = [name for name in model.shares.ranked if name in parameters][:N_DEPENDENCES]
        names += [name for name in inputs if name in parameters and name in model.shares.names]
        drawn = dict.fromkeys(names) if model.is_informative else ()
        return cls(
            values=evaluations.values,
            parameters=parameters,
            shares=model.shares,
            dependences={name: evaluations.dependence(name) for name in drawn},
            n_initial=evaluations.n_initial,
            random_values=random_search_values(evaluations, random_search),
            value_name=evaluations.name,
            greater_is_better=evaluations.greater_is_better,
            domains=parameter_domains(evaluations.optimizer.space_),
            label=evaluations.label,
        )

    def plot(self, *, kind: str = "all", ax: AxesLike | None = None) -> Self:
        """Draw the plots of the display.

        If a constant predicts held-out values as well as the model, the panels show no model and a
        message explains why.

        Parameters
        ----------
        kind : {"all", "convergence", "dependence", "shares"} or str, default="all"
            Which panels to draw.

            - "convergence": the best value so far, compared with the expected performance of random
              search.
            - "dependence": the observed values along the two most important inputs. The curve is
              the partial dependence of the model with its 90 % interval. Markers of initial points
              are hollow.
            - "shares": the share of the variance explained by each input.
            - The name of an input: the observed values along it. The partial dependence is included
              if the display was created with this `kind` or the input is one of the two most
              important.
            - "all": the first three kinds.
        ax : matplotlib Axes or array of Axes, default=None
            Axes to draw on, one per panel. If None, a new figure is created.

        Returns
        -------
        self : object
            The display itself.
        """
        check_choice("kind", kind, [*KINDS, *self.parameters])
        panels = self._panels(kind)
        return self._draw(panels, ax, 4.1 * len(panels), 3.6)

    def _panels(self, kind):
        if kind not in KINDS:
            return [partial(self._draw_values, value_axis=self._value_axis(kind))]
        ranked = (self.shares.ranked or list(self.shares.names))[:MAX_PARAMETERS]
        along = [self._value_axis(name) for name in ranked if name in self.parameters]
        along = [axis for axis in along if not axis.is_constant][:N_DEPENDENCES]
        panels = {
            "convergence": [self._draw_convergence],
            "dependence": [partial(self._draw_values, value_axis=axis) for axis in along]
            or [partial(draw_text, text="No evaluated input varies.")],
            "shares": [lambda axes: draw_shares(axes, self.shares, ranked)],
        }
        return [panel for name in panels if kind in ("all", name) for panel in panels[name]]

    def _draw_convergence(self, axes):
        drawn = {self.label: self.values}, self.n_initial, self.random_values, self.value_name
        draw_convergence(axes, *drawn, self._sign)

    def _draw_values(self, axes, value_axis):
        names, curve = list(self.parameters), (self.dependences or {}).get(value_axis.name)
        labels = dict(zip(names, shorten_distinct(names, LONGEST_AXIS_NAME), strict=True))
        drawn = self.values, self.n_initial, self.value_name, curve
        draw_values(axes, value_axis, *drawn, labels.get(value_axis.name, ""))

    @property
    def _sign(self):
        return 1 if self.greater_is_better else -1

    def _value_axis(self, name):
        return ValueAxis.from_values(name, self.parameters[name], (self.domains or {}).get(name))


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(PanelDisplay):
    """Plot of the best value so far in one or several searches.

    It is recommended to use :meth:`from_result` to create a `ConvergenceDisplay`. All parameters
    are stored as attributes.

    Parameters
    ----------
    curves : dict of str to ndarray
        Observed values of each search in the order of evaluation. Failed evaluations are NaN. The
        main search comes first.
    n_initial : int, default=0
        Number of evaluations of the main search before its first model was fitted.
    random_values : ndarray of shape (k,), default=None
        Values of randomly drawn points, from which the mean and the 10 % and 90 % quantiles of the
        best of 1, ..., k random points are computed.
    value_name : str, default="value"
        Name of the observed values.
    greater_is_better : bool, default=False
        Whether the values are maximised.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure containing the curves, set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        The single Axes of the figure, in an array.

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
        name: str | None = None,
        others: Mapping[str, ResultLike] | None = None,
        ax: AxesLike | None = None,
    ) -> Self:
        """Plot the convergence of a search, an optimiser or a result of `minimize`.

        For a search with successive halving, such as `HalvingRandomSearchCV`, only the candidates
        with the largest resource are drawn, because scores with different resources cannot be
        compared.

        Parameters
        ----------
        result : fitted SILBOSearchCV, optimiser such as SILBO, or OptimizeResult
            The main result. Any fitted search of scikit-learn is accepted as well.
        name : str, default=None
            Label of the main result. The default is the name of the class of `result`.
        others : dict of str to result, default=None
            Further results to compare with, by label.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        display : ConvergenceDisplay
            The display, already plotted.

        Raises
        ------
        TypeError
            If a result is of an unsupported type.
        ValueError
            If a search is compared with an optimiser or with a search that uses another `scoring`,
            or if `others` is not a dict or contains `name`.
        NotFittedError
            If a search is not fitted.
        ImportError
            If matplotlib is not installed.
        """
        evaluations = read_evaluations(result, any_search=True)
        name, others = name or evaluations.label, {} if others is None else others
        if not isinstance(others, Mapping) or name in others:
            raise ValueError(
                f"others must be a dict of results whose keys differ from name={name!r}, got "
                f"{list(others) if isinstance(others, Mapping) else type(others).__name__}. Use "
                'for example others={"random": search}.'
            )
        curves = {name: evaluations.values}
        for other, other_result in others.items():
            curves[other] = read_values_like(evaluations, other_result, f"others[{other!r}]")
        return cls(
            curves,
            n_initial=evaluations.n_initial,
            random_values=random_search_values(evaluations),
            value_name=evaluations.name,
            greater_is_better=evaluations.greater_is_better,
        ).plot(ax=ax)

    def plot(self, *, ax: AxesLike | None = None) -> Self:
        """Draw the convergence curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        self : object
            The display itself.
        """
        sign = 1 if self.greater_is_better else -1
        drawn = self.curves, self.n_initial, self.random_values, self.value_name, sign
        return self._draw([lambda axes: draw_convergence(axes, *drawn)], ax, 5.2, 3.6)


def random_search_values(evaluations, random_search=None):
    """Return the values of random candidates, from a random search or the initial design."""
    if random_search is None:
        values, n = evaluations.values, evaluations.n_initial
        return values[:n] if n < len(values) else None
    return read_values_like(evaluations, random_search, "random_search")
