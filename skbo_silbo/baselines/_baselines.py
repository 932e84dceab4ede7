"""Optimisers of the literature as configurations of the same loop."""

from functools import partial
from math import log

from skbo_silbo._checks import check_count
from skbo_silbo._typing import Auto, BoundsLike, RandomState
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition._box_search import BoxSearch
from skbo_silbo.acquisition._climb import Climb
from skbo_silbo.acquisition._functions import confidence_gain
from skbo_silbo.baselines._additive_process import AdditiveProcess
from skbo_silbo.baselines._cylindrical_process import CylindricalProcess
from skbo_silbo.baselines._group_search import GroupSearch
from skbo_silbo.baselines._image_process import ImageProcess
from skbo_silbo.baselines._images import clipped_image, warped_image
from skbo_silbo.embedding._count_sketch import CountSketch
from skbo_silbo.embedding._gaussian_sketch import GaussianSketch
from skbo_silbo.embedding._learners import FixedLearner, IdentityLearner, choose_embedding
from skbo_silbo.embedding._sketched import SKETCH_STREAM
from skbo_silbo.mapping._bottom_up import BottomUp
from skbo_silbo.mapping._top_down import TopDown
from skbo_silbo.optimizers import Configuration, EmbeddedOptimizer
from skbo_silbo.optimizers._configuration import DESIGNS, make_acquisition
from skbo_silbo.optimizers._design import image_points, n_initial_points
from skbo_silbo.surrogate import GaussianProcessSurrogate

N_ROUNDS = 3  # of candidates round the best ones, after the random set
MOST_COMPONENTS = 10  # n_components="auto" of a random embedding
KERNELS = ("y", "x", "psi")


class _SketchedOptimizer(EmbeddedOptimizer):
    """Base of the optimisers on one random embedding, drawn first and never learnt."""

    def __init__(
        self,
        bounds: BoundsLike,
        *,
        n_components: int | Auto = "auto",
        acquisition: str | AcquisitionFunction = "ei",
        n_initial: int | Auto = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(bounds, random_state)
        self.n_components = n_components
        self.acquisition = acquisition
        self.n_initial = n_initial
        self._assemble()

    def _configure(self, d):
        r = min(d, MOST_COMPONENTS) if self.n_components == "auto" else self.n_components
        r = check_count("n_components", r, least=0 if d == 0 else 1)
        sketch = self._draw_sketch(d, r, self._rng(*SKETCH_STREAM))
        mapping = BottomUp()
        n_initial = n_initial_points(r) if self.n_initial == "auto" else self.n_initial
        return Configuration(
            learner=FixedLearner(sketch),
            mapping=mapping,
            search=BoxSearch(n_rounds=N_ROUNDS),
            acquisition=make_acquisition(self.acquisition),
            design=lambda n, d, rng: image_points(n, sketch, mapping, rng),
            surrogate=self._make_surrogate(sketch),
            n_initial=check_count("n_initial", n_initial),
            n_unlabeled=0,
            update_every=None,
        )

    def _make_surrogate(self, sketch):
        return GaussianProcessSurrogate()


class REMBO(_SketchedOptimizer):
    """Bayesian optimisation in a random embedding: ``x = clip(A z)``, A Gaussian.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Coordinates r of z, searched in ``[-sqrt(r), sqrt(r)]^r``. "auto": 10, or d if lower.
    kernel : {"y", "x", "psi"}, default="y"
        What the Matern kernel compares: z ("y", one length scale for each coordinate), the
        clipped images ("x"), or these warped back to the range of A ("psi").
    acquisition : {"ei", "ucb"}, default="ei"
        What is maximised.
    n_initial : int or "auto", default="auto"
        Points before the first model, told ones included.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`; `embedding_` is a `GaussianSketch` from the first model on.

    References
    ----------
    Wang, Zoghi, Hutter, Matheson and de Freitas (2013), "Bayesian Optimization in High Dimensions
    via Random Embeddings" (kernels "y" and "x"); Binois, Ginsbourger and Roustant (2015), "A Warped
    Kernel Improving Robustness in Bayesian Optimization via Random Embeddings" ("psi").

    Examples
    --------
    >>> from skbo_silbo.baselines import REMBO
    >>> optimizer = REMBO([(-1, 1)] * 20, n_components=2, random_state=0)
    >>> optimizer.ask().shape
    (20,)
    """

    def __init__(
        self,
        bounds: BoundsLike,
        *,
        n_components: int | Auto = "auto",
        kernel: str = "y",
        acquisition: str | AcquisitionFunction = "ei",
        n_initial: int | Auto = "auto",
        random_state: RandomState = None,
    ) -> None:
        if kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {list(KERNELS)}: got {kernel!r}.")
        self.kernel = kernel
        super().__init__(
            bounds,
            n_components=n_components,
            acquisition=acquisition,
            n_initial=n_initial,
            random_state=random_state,
        )

    def _draw_sketch(self, d, r, rng):
        return GaussianSketch.draw(d, r, rng)

    def _make_surrogate(self, sketch):
        if self.kernel == "y":
            return GaussianProcessSurrogate()
        image = clipped_image if self.kernel == "x" else warped_image
        return ImageProcess(partial(image, sketch=sketch))


class HeSBO(_SketchedOptimizer):
    """Bayesian optimisation on a count sketch: every input follows one of few coordinates.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Coordinates of the sketch, searched in ``[-1, 1]``. "auto": 10, or d if lower.
    acquisition : {"ei", "ucb"}, default="ei"
        What is maximised.
    n_initial : int or "auto", default="auto"
        Points before the first model, told ones included.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`; `embedding_` is a `CountSketch` from the first model on.

    References
    ----------
    Nayebi, Munteanu and Poloczek (2019), "A Framework for Bayesian Optimization in Embedded
    Subspaces", Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.baselines import HeSBO
    >>> optimizer = HeSBO([(-1, 1)] * 20, n_components=2, random_state=0)
    >>> len(np.unique(np.abs(optimizer.ask()).round(6)))
    2
    """

    def _draw_sketch(self, d, r, rng):
        return CountSketch.draw(d, r, rng)


class SIRBO(EmbeddedOptimizer):
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
        Points before the directions are learnt, told ones included.
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

    def __init__(
        self,
        bounds: BoundsLike,
        *,
        n_components: int | Auto = "auto",
        acquisition: str | AcquisitionFunction = "ei",
        n_initial: int | Auto = 50,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(bounds, random_state)
        self.n_components = n_components
        self.acquisition = acquisition
        self.n_initial = n_initial
        self._assemble()

    def _configure(self, d):
        return Configuration(
            learner=choose_embedding("sir", self.n_components, d).learner,
            mapping=TopDown(),
            search=Climb(),
            acquisition=make_acquisition(self.acquisition),
            design=DESIGNS["random"],
            surrogate=GaussianProcessSurrogate(),
            n_initial=check_count("n_initial", self.n_initial),
            n_unlabeled=0,
            update_every=None,
        )


class BOCK(EmbeddedOptimizer):
    """Bayesian optimisation with a cylindrical kernel: radius and direction from the centre.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search. The method expects the minimum nearer the centre than the corners.
    acquisition : {"ei", "ucb"}, default="ei"
        What is maximised.
    n_initial : int or "auto", default="auto"
        Points before the first model, told ones included. "auto": as for `SILBO`.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, subspace_, space_
        As those of `SILBO`; `embedding_` stays the identity.

    References
    ----------
    Oh, Gavves and Welling (2018), "BOCK: Bayesian Optimization with Cylindrical Kernels", ICML. Its
    hyperparameters are sampled there, and here maximise the posterior density.

    Examples
    --------
    >>> from skbo_silbo.baselines import BOCK
    >>> BOCK([(-1, 1)] * 20, random_state=0).ask().shape
    (20,)
    """

    def __init__(
        self,
        bounds: BoundsLike,
        *,
        acquisition: str | AcquisitionFunction = "ei",
        n_initial: int | Auto = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(bounds, random_state)
        self.acquisition = acquisition
        self.n_initial = n_initial
        self._assemble()

    def _configure(self, d):
        n_initial = n_initial_points(d) if self.n_initial == "auto" else self.n_initial
        return Configuration(
            learner=IdentityLearner(),
            mapping=TopDown(),
            search=Climb(),
            acquisition=make_acquisition(self.acquisition),
            design=DESIGNS["sobol"],
            surrogate=CylindricalProcess(),
            n_initial=check_count("n_initial", n_initial),
            n_unlabeled=0,
            update_every=None,
        )


class AddBO(EmbeddedOptimizer):
    """Bayesian optimisation of a sum over disjoint groups of inputs, each searched for itself.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Inputs in a group, at most. "auto": 4, or d if lower.
    n_initial : int or "auto", default="auto"
        Points before the first model, told ones included. "auto": as for `SILBO`.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`; `embedding_` stays the identity.

    References
    ----------
    Kandasamy, Schneider and Poczos (2015), "High Dimensional Bayesian Optimisation and Bandits via
    Additive Models": groups by marginal likelihood among random ones (section 4), confidence bounds
    maximised group by group (Algorithm 1) with ``beta_t = .2 (group size) log(2 t)``.

    Examples
    --------
    >>> from skbo_silbo.baselines import AddBO
    >>> AddBO([(-1, 1)] * 20, random_state=0).ask().shape
    (20,)
    """

    def __init__(
        self,
        bounds: BoundsLike,
        *,
        n_components: int | Auto = "auto",
        n_initial: int | Auto = "auto",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(bounds, random_state)
        self.n_components = n_components
        self.n_initial = n_initial
        self._assemble()

    def _configure(self, d):
        size = max(min(d, 4), 1) if self.n_components == "auto" else self.n_components
        size = check_count("n_components", size)
        n_initial = n_initial_points(d) if self.n_initial == "auto" else self.n_initial
        return Configuration(
            learner=IdentityLearner(),
            mapping=TopDown(),
            search=GroupSearch(),
            acquisition=partial(_group_confidence, size=size),
            design=DESIGNS["random"],
            surrogate=AdditiveProcess(size),
            n_initial=check_count("n_initial", n_initial),
            n_unlabeled=0,
            update_every=None,
        )


def _group_confidence(t, size):
    return partial(confidence_gain, beta=0.2 * size * log(2 * t))
