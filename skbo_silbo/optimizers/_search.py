"""Where the acquisition is largest.

`Climb` takes random candidates, then gradients from several starts. There everything is a point x
of the cube, and the acquisition is seen through ``z = x B``: so every candidate can be reached,
which is not so of a point drawn in the box round the image of the cube. `BoxSearch` draws there.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.special import logsumexp, softmax

from skbo_silbo.mapping import LinearEmbedding

N_GLOBAL, N_LOCAL = 768, 384  # candidates over the whole cube, and round the incumbents
N_INCUMBENTS = 5
N_STARTS = 5
MAX_ITERATIONS = 40
LOG_STEPS = (-3.5, -0.3)  # decimal logarithms of the local steps


@dataclass(frozen=True)
class Acquisition:
    """An acquisition of one process, and how it is averaged over several.

    Attributes
    ----------
    of_one : callable
        ``of_one(mean, std, best, return_gradient=...)``, larger is better.
    average : callable
        Of values (k, n) of k processes: their mean, (n,), and its derivatives by them, (k, n).
    """

    of_one: object
    average: object

    def __call__(self, mean, std, best, **options):
        """Return `of_one`."""
        return self.of_one(mean, std, best, **options)


def mean_of_logs(values):
    """Return the logarithm of the mean of ``exp(values)`` over the first axis, and its gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.optimizers._search import mean_of_logs
    >>> mean_of_logs(np.log([[1.0], [3.0]]))
    (array([0.69314718]), array([[0.25],
           [0.75]]))
    """
    return logsumexp(values, axis=0) - np.log(len(values)), softmax(values, axis=0)


def plain_mean(values):
    """Return the mean over the first axis, and its gradient."""
    return values.mean(axis=0), np.full(values.shape, 1.0 / len(values))


@dataclass(frozen=True, eq=False)
class AcquisitionSurface:
    """The acquisition as a function of x.

    Attributes
    ----------
    acquisition : Acquisition or callable
        ``acquisition(mean, std, best, return_gradient=...)``, larger is better.
    surrogate : object
        With ``predict`` and ``predict_gradient``, or with ``members`` that have them: then the
        acquisition is averaged over these.
    embedding : LinearEmbedding
    best : float
        The lowest value so far.
    """

    acquisition: object
    surrogate: object
    embedding: LinearEmbedding
    best: float

    def values(self, X):
        """Return the acquisition at the rows of X, of shape (n,)."""
        return self.values_at(self.embedding.project(X))

    def values_at(self, Z):
        """Return the acquisition at coordinates Z, (n, r), of shape (n,)."""
        if self.is_averaged:
            each = [self.acquisition(*m.predict(Z), self.best) for m in self.surrogate.members]
            return self.acquisition.average(np.array(each))[0]
        return self.acquisition(*self.surrogate.predict(Z), self.best)

    @property
    def is_averaged(self):
        """Whether the surrogate is an ensemble."""
        return hasattr(self.surrogate, "members")

    @property
    def relevance(self):
        """How much the surrogate lets every input matter, (d,), >= 0; ones where it does not say.

        The inverse length scale, for an embedding the norm of those that the input acts through.
        """
        weights = getattr(self.surrogate, "weights_", None)
        if weights is None:
            return np.ones(self.embedding.d)
        basis = self.embedding.basis
        return np.sqrt(weights if basis is None else basis**2 @ weights)

    def value_and_gradient(self, x):
        """Return the acquisition at one point x, (d,), and its gradient, (d,)."""
        Z = self.embedding.project(x[None])
        if self.is_averaged:
            values, by_z = zip(*(self._by_z(m, Z) for m in self.surrogate.members), strict=True)
            value, shares = self.acquisition.average(np.array(values))
            by_z = np.einsum("kn,knr->nr", shares, np.array(by_z))
        else:
            value, by_z = self._by_z(self.surrogate, Z)
        return value[0], self.embedding.pull_back(by_z)[0]

    def _by_z(self, surrogate, Z):
        """Return the acquisition of one surrogate, (n,), and its gradient by z, (n, r)."""
        mean, std, mean_by_z, std_by_z = surrogate.predict_gradient(Z)
        value, by_mean, by_std = self.acquisition(mean, std, self.best, return_gradient=True)
        return value, by_mean[:, None] * mean_by_z + by_std[:, None] * std_by_z


@dataclass(frozen=True)
class Climb:
    """Random candidates over the cube and round the incumbents, the best climbed by gradients."""

    n_points = 2 * N_LOCAL + N_GLOBAL

    def find(self, surface, ranked, space, rng):
        """Return coordinates, best acquisition first, (m, r), and the points they come from.

        Parameters
        ----------
        surface : AcquisitionSurface
        ranked : ndarray of shape (n, d)
            The points evaluated, the lowest value first.
        space : Space or Box
            The candidates are rounded to its points.
        rng : numpy.random.Generator
        """
        X = draw_candidates(surface.embedding, ranked[:N_INCUMBENTS], rng, surface.relevance)
        X = space.round(X)
        return climb_from(X, surface, space)


@dataclass(frozen=True)
class BoxSearch:
    """A random set in the box round the image of the cube (Chen et al. 2020, Algorithm 1).

    Attributes
    ----------
    n_points : int
        How many candidates.
    n_rounds : int
        How often the best are followed by candidates round them.
    """

    n_points: int = 2000
    n_rounds: int = 0

    def find(self, surface, ranked, space, rng):
        """Return coordinates, best acquisition first, (m, r); they come from no points."""
        widths = surface.embedding.half_widths
        Z = rng.uniform(-1.0, 1.0, (self.n_points, widths.size)) * widths
        values = surface.values_at(Z)
        for _ in range(self.n_rounds):
            best = Z[np.argsort(-values, kind="stable")[:N_INCUMBENTS]]
            near = _near(best, widths, rng)
            Z, values = np.vstack([Z, near]), np.append(values, surface.values_at(near))
        return Z[np.argsort(-values, kind="stable")], None


def _near(Z, widths, rng):
    """Return points of the box, (N_LOCAL, r), at random distances from the rows of Z."""
    steps = 10.0 ** rng.uniform(*LOG_STEPS, (N_LOCAL, 1)) * widths
    moved = Z[rng.integers(len(Z), size=N_LOCAL)] + steps * rng.standard_normal(
        (N_LOCAL, widths.size)
    )
    return np.clip(moved, -widths, widths)


@dataclass(frozen=True)
class GroupSearch:
    """Every group of an additive surrogate for itself (Kandasamy et al. 2015, Algorithm 1).

    Attributes
    ----------
    n_points : int
        Candidates for each group, besides those round the incumbents.
    """

    n_points: int = 256
    n_best = 5  # points put together from the best, second best, ... of every group

    def find(self, surface, ranked, space, rng):
        """Return points, best acquisition first, (m, d); they are coordinates and points both."""
        Z = np.empty((self.n_best, surface.embedding.r))
        for index, group in enumerate(surface.surrogate.groups_):
            candidates = self._candidates(ranked[:N_INCUMBENTS, group], rng)
            mean, std = surface.surrogate.predict_group(index, candidates)
            values = surface.acquisition(mean, std, 0.0)
            Z[:, group] = candidates[np.argsort(-values, kind="stable")[: self.n_best]]
        return Z, None

    def _candidates(self, incumbents, rng):
        size = incumbents.shape[1]
        wide = rng.uniform(-1.0, 1.0, (self.n_points, size))
        return np.vstack([wide, _near(incumbents, np.ones(size), rng)])


def draw_candidates(embedding, incumbents, rng, relevance):
    """Return random points of the cube whose images fill the image of the cube, of shape (n, d).

    Parameters
    ----------
    embedding : LinearEmbedding
    incumbents : ndarray of shape (k, d)
        The best points known; local candidates are drawn round these.
    rng : numpy.random.Generator
    """
    wide = rng.uniform(-1.0, 1.0, (N_GLOBAL, embedding.r)) * embedding.half_widths
    near = incumbents[rng.integers(len(incumbents), size=N_LOCAL)]
    steps = 10.0 ** rng.uniform(*LOG_STEPS, (N_LOCAL, 1)) * rng.standard_normal(
        (N_LOCAL, embedding.r)
    )
    X = np.vstack([embedding.pull_back(wide), near + embedding.pull_back(steps)])
    anew = draw_moved(len(near), relevance, 1, rng)
    near = np.where(anew, rng.uniform(-1.0, 1.0, near.shape), near)
    return np.vstack([np.clip(X, -1.0, 1.0), near])


def draw_moved(n, relevance, least, rng):
    """Return which coordinates n candidates shall differ in, bool of shape (n, d).

    From `least` to all of them, on average and before the probabilities are cut at 1; the more
    relevant ones more often.
    """
    expected = relevance.size ** rng.uniform(0.0, 1.0, (n, 1)) * least
    share = relevance / relevance.mean() / relevance.size
    return rng.random((n, relevance.size)) < expected * share


def climb_from(X, surface, space, bounds=(-1.0, 1.0)):
    """Climb from the best of the points X; return what `Climb.find` does.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points of the space.
    surface : AcquisitionSurface
    space : Space or Box
    bounds : pair of float or ndarray of shape (d,)
        Between which the coordinates stay; categories stay what they are.
    """
    values = surface.values(X)
    ends = space.round(polish(surface, X, values, bounds, held=categorical_columns(space)))
    X, values = np.vstack([ends, X]), np.append(surface.values(ends), values)
    X = X[np.argsort(-values, kind="stable")]
    return surface.embedding.project(X), X


def categorical_columns(space):
    """Return which columns of the cube hold categories, bool of shape (d,).

    There alone the centre of the cube is rounded to an end: it is no category.
    """
    return np.abs(space.round(np.zeros((1, space.n_features_)))[0]) == 1.0


def polish(surface, X, values, bounds=(-1.0, 1.0), *, held=False):
    """Climb from several of the best candidates, far from one another.

    Parameters
    ----------
    surface : AcquisitionSurface
    X : ndarray of shape (n, d)
    values : ndarray of shape (n,)
        The acquisition there.
    bounds : pair of float or ndarray of shape (d,)
        Lower and upper bound of the coordinates.
    held : bool or ndarray of bool of shape (d,)
        Which columns stay as they are in the candidate.

    Returns
    -------
    ends : ndarray of shape (k, d)
    """

    def loss(x):
        value, gradient = surface.value_and_gradient(x)
        return -value, -gradient

    starts = X[_separate(surface.embedding.project(X), values)]
    options = {"maxiter": MAX_ITERATIONS}
    ends = []
    for x in starts:
        own = Bounds(*(np.where(held, x, bound) for bound in bounds))
        ends.append(minimize(loss, x, jac=True, method="L-BFGS-B", bounds=own, options=options).x)
    return np.clip(ends, -1.0, 1.0)


def _separate(Z, values):
    """Return the best rows, none within a tenth of the candidates' spread of a better one."""
    radius = 0.1 * np.sqrt(Z.var(axis=0).sum())
    chosen = []
    for i in np.argsort(-values, kind="stable"):
        if all(np.linalg.norm(Z[i] - Z[j]) > radius for j in chosen):
            chosen.append(i)
        if len(chosen) == N_STARTS:
            break
    return chosen
