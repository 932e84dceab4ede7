"""SILBO as the paper prints it: Chen et al. (2020), section 5.1, and Algorithms 1 to 4."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skbo_silbo._checks import check_count
from skbo_silbo._typing import Auto, TransformerLike
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition._searches import BoxSearch
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.baselines._moving_points import MovingPoints
from skbo_silbo.embedding import Learner
from skbo_silbo.embedding._choice import choose_embedding
from skbo_silbo.optimizers import Configuration
from skbo_silbo.optimizers._configuration import check_schedule, make_acquisition, random_points
from skbo_silbo.space import key_of

MAX_EVALUATIONS = 4000
TOLERANCE = 1e-6  # of ||x B - z||^2, relative to the squared sides of the box round the image
STALL = 1e-6  # gain, relative to the first values, below which z counts as outside the image
DIAGONAL_FROM = 30  # inputs: a full covariance costs 40 times as much at d = 1000
STEP = 0.5  # first standard deviation, a quarter of the cube's side


def preimage_by_evolution(z, embedding, rng, *, centred=False, generations=np.inf):
    """Return an x of the cube that minimises ``||x B - z||^2`` (Chen et al. 2020, eq. 14).

    CMA-ES (Hansen 2016) from a uniformly random start, so that what the embedding does not see
    is random too, or from the centre of the cube. numpy's global generator is not used.

    Parameters
    ----------
    z : ndarray of shape (r,)
    embedding : LinearEmbedding
    rng : numpy.random.Generator
    centred : bool, default=False
        Whether it starts at the centre.
    generations : int, default=inf
        After how many it stops, at the latest.

    Returns
    -------
    x : ndarray of shape (d,)
        In ``[-1, 1]``.
    """
    cma = _import_cma()

    def distances(X):
        gaps = embedding.project(np.clip(X, -1.0, 1.0)) - z
        return (gaps * gaps).sum(axis=1)

    d = embedding.d
    target = TOLERANCE * float((embedding.half_widths**2).sum())
    options = quiet_options(rng) | {
        "AdaptSigma": cma.sigma_adaptation.CMAAdaptSigmaCSA,  # else the global generator at d > 500
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
    """Return the options with which cma draws from `rng` alone, prints and writes nothing."""
    return {
        "seed": np.nan,  # a number would seed numpy's global generator
        "randn": lambda *shape: rng.standard_normal(shape),
        "verbose": -9,
        "verb_log": 0,
    }


def _import_cma():
    """Return the cma package, silent about a matplotlib that is old or absent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", "Could not import matplotlib")
        import cma
    return cma


class FirstUnlabelled(Baseline):
    """Base of baselines whose first embedding is learnt with random points besides (Algorithm 1).

    They have no value.
    """

    _n_first_unlabeled: int | None = None  # as many as later on

    def _learnt(self, model):
        if not model.learnt_at and not len(model.unlabeled):
            n, d = self._n_first_unlabeled, self.space_.n_features_
            n = self._configuration.n_unlabeled if n is None else n
            points = self.space_.round(random_points(n, d, self._rng(0, 4)))
            model = replace(model, unlabeled=points)
        return super()._learnt(model)


class SeekingPreimages(Baseline):
    """Base of baselines that find the point of the coordinates chosen by CMA-ES (eq. 14)."""

    def _first_new(self, found, part, rng):
        x, z = super()._first_new(found, part, rng)
        if x is None:
            return x, z
        [other] = self.space_.round(self._preimage(z, rng)[None])
        return (x if key_of(other) in self._seen else other), z

    def _preimage(self, z, rng):
        embedding = self._model.embedding
        return z if embedding.is_identity else preimage_by_evolution(z, embedding, rng)


@dataclass(eq=False, repr=False, kw_only=True)
class SILBOAsPrinted(FirstUnlabelled):
    """Base of the paper's two strategies: its settings."""

    n_components: int | Auto = "auto"
    embedding: str | Learner | TransformerLike = "semi-sir-paper"
    acquisition: str | AcquisitionFunction = "ucb"
    n_initial: int = 50
    n_unlabeled: int = 50
    update_every: int | Sequence[int] | None = 20

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
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
    """SILBO as printed, bottom-up: after a new embedding all points are evaluated again.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Coordinates r.
    embedding : str, transformer or Learner, default="semi-sir-paper"
        How B is learnt, as in `SILBO`; by default by Algorithm 2 as printed.
    acquisition : {"ucb", "ei"} or AcquisitionFunction, default="ucb"
        What is maximised, over random coordinates of the box around the image of the cube.
    n_initial : int, default=50
        Points before the first model, observed ones included.
    n_unlabeled : int, default=50
        Points without a value: at first random ones, then those that the last search ranked next.
    update_every : int, list of int or None, default=20
        The embedding is learnt again when so many new values are observed, as in `SILBO`.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`.

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
    """SILBO as printed, top-down: points stay, and a new one is a preimage by CMA-ES.

    The arguments are those of `SILBOBottomUp`. CMA-ES begins at random, so that what the embedding
    does not see is random too.

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
