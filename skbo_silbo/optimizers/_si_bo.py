"""SI-BO: subspace identification first, Bayesian optimisation in the subspace after."""

from skbo_silbo._checks import check_count
from skbo_silbo._typing import Auto, BoundsLike, RandomState
from skbo_silbo.acquisition import AcquisitionFunction, BoxSearch
from skbo_silbo.embedding import SKETCH_STREAM, DifferenceDesign, DifferenceLearner
from skbo_silbo.mapping import TopDown
from skbo_silbo.optimizers._configuration import Configuration, make_acquisition
from skbo_silbo.optimizers._loop import EmbeddedOptimizer
from skbo_silbo.surrogate import ProcessMaker

N_ROUNDS = 3  # of candidates round the best ones, after the random set


class SIBO(EmbeddedOptimizer):
    """Bayesian optimisation in the span of gradients, recovered from directional differences.

    The first points are a few centres, and points a hundredth of the half-width away from them in
    random directions; the differences of their values determine a matrix of gradients, of rank r
    where the objective acts through r directions. All of them are evaluated, and count.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search; real parameters, since small differences of others are none.
    n_components : int or "auto", default="auto"
        Coordinates r; "auto" keeps nine tenths of the squared gradients.
    n_centres : int, default=5
        Centres m; fewer where `n_initial` is below twice that.
    acquisition : {"ucb", "ei"}, default="ucb"
        What is maximised in the subspace.
    n_initial : int, default=50
        Points before the subspace is learnt, told ones included. The recovery needs somewhat more
        than ``r (d + m - r)`` differences; with fewer the subspace is rougher.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`.

    Raises
    ------
    ValueError
        When the bounds or another argument are invalid.

    References
    ----------
    Djolonga, Krause and Cevher (2013), "High-Dimensional Gaussian Process Bandits", NIPS 26,
    Algorithm 1.

    Examples
    --------
    >>> from skbo_silbo.optimizers import SIBO
    >>> SIBO([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """

    def __init__(
        self,
        bounds: BoundsLike,
        *,
        n_components: int | Auto = "auto",
        n_centres: int = 5,
        acquisition: str | AcquisitionFunction = "ucb",
        n_initial: int = 50,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(bounds, random_state)
        self.n_components = n_components
        self.n_centres = n_centres
        self.acquisition = acquisition
        self.n_initial = n_initial
        self._assemble()

    def _configure(self, d):
        n_initial = check_count("n_initial", self.n_initial)
        n_centres = check_count("n_centres", self.n_centres)
        if self.n_components != "auto":
            check_count("n_components", self.n_components)
        design = DifferenceDesign.draw(n_initial, d, n_centres, self._rng(*SKETCH_STREAM))
        return Configuration(
            learner=DifferenceLearner(design.centres, self.n_components),
            mapping=TopDown("least-squares"),
            search=BoxSearch(n_rounds=N_ROUNDS),
            acquisition=make_acquisition(self.acquisition),
            design=lambda n, d, rng: design.points,
            maker=ProcessMaker(),
            n_initial=n_initial,
            n_unlabeled=0,
            update_every=None,
        )
