"""SILBO as printed in the paper: Chen et al. (2020), section 5.1 and Algorithms 1 to 4."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skbo_silbo._checks import check_count
from skbo_silbo._typing import Auto, TransformerLike
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition.searches import BoxSearch
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.baselines._moving_points import MovingPoints
from skbo_silbo.embedding import Learner
from skbo_silbo.embedding.choice import choose_embedding
from skbo_silbo.optimizers import Configuration
from skbo_silbo.optimizers.configuration import check_schedule, make_acquisition, random_points
from skbo_silbo.space import key_of

MAX_EVALUATIONS = 4000
TOLERANCE = 1e-6  # tolerance of ||x B - z||^2 relative to the squared half widths of the box
STALL = 1e-6  # relative gain below which z counts as outside the image
DIAGONAL_FROM = 30  # inputs; a full covariance costs 40 times as much at d = 1000
STEP = 0.5  # first standard deviation, a quarter of the cube's side


def preimage_by_evolution(z, embedding, rng, *, centred=False, generations=np.inf):
    """Find a point x of the cube with coordinates z by CMA-ES (Chen et al. 2020, eq. 14).

    CMA-ES (Hansen 2016) starts from a random point, so that directions outside the embedding are
    random, or from the centre of the cube. NumPy's global generator is not used.

    Parameters
    ----------
    z : ndarray of shape (r,)
    embedding : LinearEmbedding
    rng : numpy.random.Generator
    centred : bool, default=False
        Whether CMA-ES starts from the centre of the cube. Otherwise it starts from a random point.
    generations : int, default=inf
        Largest number of generations of CMA-ES.

    Returns
    -------
    x : ndarray of shape (d,)
        The point of the cube ``[-1, 1]^d`` that CMA-ES found.
    """
    cma = _import_cma()

    def distances(X):
        gaps = embedding.project(np.clip(X, -1.0, 1.0)) - z
        return (gaps * gaps).sum(axis=1)

    d = embedding.d
    target = TOLERANCE * float((embedding.half_widths**2).sum())
    options = quiet_options(rng) | {
        # the default step-size adaptation uses the global generator at d > 500
        "AdaptSigma": cma.sigma_adaptation.CMAAdaptSigmaCSA,
        "bounds": [-1.0, 1.0],
        "CMA_diagonal": d > DIAGONAL_FROM,
        "ftarget": target,
        "tolfunrel": STALL,
        "maxfevals": MAX_EVALUATIONS,
        "maxiter": generations,
    }
    n = max(d, 2)  # cma refuses one dimension: the second is unused
    start = np.zeros(n) if centred else rng.uniform(-1.0, 1.0, n)
    search = cma.CMAEvolutionStrategy(start, STEP, options)
    while not search.stop():
        X = search.ask()
        search.tell(X, distances(np.array(X)[:, :d]).tolist())
    return np.clip(search.result.xbest[:d], -1.0, 1.0)


def quiet_options(rng):
    """Return options for cma that fix its random numbers and suppress its output files."""
    return {
        "seed": np.nan,  # a number would seed numpy's global generator
        "randn": lambda *shape: rng.standard_normal(shape),
        "verbose": -9,
        "verb_log": 0,
    }


def _import_cma():
    """Import the package cma without its warnings about matplotlib."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", "Could not import matplotlib")
        import cma
    return cma


class FirstUnlabelled(Baseline):
    """Base class of baselines that add random unlabelled points to the first embedding."""

    _n_first_unlabeled: int | None = None  # None: as many as in later fits

    def _with_embedding(self, model):
        if not model.learnt_at and not len(model.unlabeled):
            n, d = self._n_first_unlabeled, self.space_.n_features_
            n = self._configuration.n_unlabeled if n is None else n
            points = self.space_.round(random_points(n, d, self._rng(0, 4)))
            model = replace(model, unlabeled=points)
        return super()._with_embedding(model)


class SeekingPreimages(Baseline):
    """Base class of baselines that convert coordinates to points by CMA-ES."""

    def _first_new(self, found, restricted, rng):
        x, z = super()._first_new(found, restricted, rng)
        if x is None:
            return x, z
        [other] = self.space_.round(self._preimage(z, rng)[None])
        return (x if key_of(other) in self._seen else other), z

    def _preimage(self, z, rng):
        embedding = self._model.embedding
        return z if embedding.is_identity else preimage_by_evolution(z, embedding, rng)


@dataclass(eq=False, repr=False, kw_only=True)
class SILBOAsPrinted(FirstUnlabelled):
    """Base class of SILBO's two strategies with the settings given in the paper."""

    n_components: int | Auto = "auto"
    embedding: str | Learner | TransformerLike = "semi-sir-paper"
    acquisition: str | AcquisitionFunction = "ucb"
    n_initial: int = 50
    n_unlabeled: int = 50
    update_every: int | Sequence[int] | None = 20

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        return Configuration(
            learner=choose_embedding(self.embedding, self.n_components, d),
            search=BoxSearch(),
            acquisition=make_acquisition(self.acquisition),
            design=random_points,
            n_initial=check_count("n_initial", self.n_initial),
            n_unlabeled=check_count("n_unlabeled", self.n_unlabeled, least=0),
            update_every=check_schedule(self.update_every),
        )


class SILBOBottomUp(MovingPoints, SILBOAsPrinted):
    """SILBO's bottom-up strategy as described in the paper.

    All points are evaluated again when the embedding changes.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    n_components : int or "auto", default="auto"
        Number of coordinates r of the embedding, as in `SILBO`.
    embedding : str, transformer or Learner, default="semi-sir-paper"
        Method that learns the embedding B, as in `SILBO`. The default is Algorithm 2 of the paper
        as printed.
    acquisition : {"ucb", "ei"} or AcquisitionFunction, default="ucb"
        The acquisition function, maximised over random coordinates of the box around the image of
        the cube.
    n_initial : int, default=50
        Number of points to evaluate before the first model is fitted, including points that were
        not proposed.
    n_unlabeled : int, default=50
        Number of unlabelled points used to learn the embedding. The first embedding uses random
        points, and later embeddings use the points that the last search ranked directly below its
        proposal.
    update_every : int, list of int or None, default=20
        Number of new values after which the embedding is learnt again, as in `SILBO`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As in `SILBO`.

    References
    ----------
    Chen, Zhu, Yuan and Huang (2020), "Semi-supervised Embedding Learning for High-dimensional
    Bayesian Optimization", arXiv 2005.14601, Algorithms 1 to 3.

    Examples
    --------
    >>> from skbo_silbo.baselines import SILBOBottomUp
    >>> SILBOBottomUp([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """


class SILBOTopDown(SeekingPreimages, SILBOAsPrinted):
    """SILBO's top-down strategy as described in the paper.

    The arguments are described at `SILBOBottomUp`. Points are kept when the embedding changes, and
    new points are computed by CMA-ES. It starts at random, so directions outside the embedding are
    random.

    References
    ----------
    Chen, Zhu, Yuan and Huang (2020), "Semi-supervised Embedding Learning for High-dimensional
    Bayesian Optimization", arXiv 2005.14601, Algorithms 1, 2 and 4.

    Examples
    --------
    >>> from skbo_silbo.baselines import SILBOTopDown
    >>> SILBOTopDown([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """
