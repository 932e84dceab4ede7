"""A preimage by CMA-ES, as the SILBO paper finds it."""

import warnings

import numpy as np

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
