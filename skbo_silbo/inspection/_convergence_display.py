"""How fast searches got where, beside what random search is expected to reach."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Self

from .._typing import FloatArray
from ._evaluations import ResultLike, read_evaluations, read_values_like
from ._figures import AxesLike, PanelDisplay, new_figure
from ._search_panels import draw_convergence


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
        random_search: ResultLike | None = None,
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
        random_search : fitted RandomizedSearchCV, optimiser or OptimizeResult, default=None
            Of the same objective, its points drawn at random: draws the expected curve of random
            search. None: of the initial points, which fill the space as random ones do, and only as
            far as these go.
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
            random_values=random_values_of(evaluations, random_search),
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


def random_values_of(evaluations, random_search):
    """Return values of random points: those of a random search, else the initial ones."""
    if random_search is None:
        values, n = evaluations.values, evaluations.n_initial
        return values[:n] if n < len(values) else None
    return read_values_like(evaluations, random_search, "random_search")
