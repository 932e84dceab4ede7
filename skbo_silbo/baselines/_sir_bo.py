"""SIR-BO: Bayesian optimisation in the span of sliced inverse regression."""

from dataclasses import dataclass

from skbo_silbo._checks import check_count
from skbo_silbo._typing import Auto
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition._climb import Climb
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.embedding._learners import choose_embedding
from skbo_silbo.mapping._top_down import TopDown
from skbo_silbo.optimizers import Configuration
from skbo_silbo.optimizers._configuration import DESIGNS, make_acquisition
from skbo_silbo.surrogate import GaussianProcessSurrogate


@dataclass(eq=False, repr=False, kw_only=True)
class SIRBO(Baseline):
    """Bayesian optimisation in the span of sliced inverse regression, learnt once.

    The directions come from the first points; from then on the acquisition is maximised over x.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Coordinates of the embedding; "auto" leaves it to the spectrum.
    acquisition : {"ei", "ucb"}, default="ei"
        What is maximised.
    n_initial : int, default=50
        Points before the directions are learnt, observed ones included.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`.

    References
    ----------
    Zhang, Li and Su (2019), "High Dimensional Bayesian Optimization via Supervised Dimension
    Reduction" (there with its kernel extension, which is not here).

    Examples
    --------
    >>> from skbo_silbo.baselines import SIRBO
    >>> SIRBO([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """

    n_components: int | Auto = "auto"
    acquisition: str | AcquisitionFunction = "ei"
    n_initial: int | Auto = 50

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
        return Configuration(
            learner=choose_embedding("sir", self.n_components, d).learner,
            mapping=TopDown(),
            search=Climb(),
            acquisition=make_acquisition(self.acquisition),
            design=DESIGNS["random"],
            surrogate=GaussianProcessSurrogate(),
            n_initial=check_count("n_initial", self.n_initial),
        )
