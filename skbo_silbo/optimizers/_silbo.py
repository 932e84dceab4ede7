"""SILBO: Bayesian optimisation in an embedding learnt from labelled and unlabelled points."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from skbo_silbo._sklearn import one_thread
from skbo_silbo.acquisition import log_expected_improvement
from skbo_silbo.mapping import LinearEmbedding, TopDown
from skbo_silbo.optimizers._base import AskTellOptimizer, check_count
from skbo_silbo.optimizers._design import n_initial_points, sobol_points
from skbo_silbo.optimizers._embedding import make_learners
from skbo_silbo.optimizers._evidence import choose_learner
from skbo_silbo.optimizers._history import impute_failures
from skbo_silbo.optimizers._search import (
    N_INCUMBENTS,
    AcquisitionSurface,
    draw_candidates,
    polish,
)
from skbo_silbo.optimizers._unseen import draw_unseen, key_of
from skbo_silbo.surrogate import GaussianProcessSurrogate

ACQUISITIONS = MappingProxyType({"ei": log_expected_improvement})
MAPPINGS = MappingProxyType({"auto": TopDown, "top-down": TopDown})
TUNE_GROWTH = 1.05  # labels, relative, between searches of the hyperparameters
CHOICE_GROWTH = 1.25  # labels, relative, between choices of the embedding


@dataclass(frozen=True, eq=False)
class _Model:
    """What was learnt from the first `n_told` evaluations."""

    n_told: int
    embedding: LinearEmbedding
    surrogate: GaussianProcessSurrogate
    ranked: np.ndarray  # (n_told, d): the points evaluated, the lowest value first


class SILBO(AskTellOptimizer):
    """Bayesian optimisation in a learnt linear embedding, for expensive functions of many inputs.

    After a space-filling design every proposal is made so: learn the embedding ``z = x B`` from the
    points told and from those that the last search liked but did not choose (semi-supervised);
    condition a Gaussian process on the values, in z; maximise the expected improvement; map
    the best z back to the point of the box nearest the incumbent. With few inputs the embedding is
    usually the identity: plain Bayesian optimisation with one length scale for each input.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search. With a `Space` points are dicts.
    n_components : int or "auto", default="auto"
        Coordinates r of a learnt embedding; "auto" leaves it to the learner.
    embedding : {"auto", "identity", "semi-sir"} or transformer, default="auto"
        How B is learnt. "auto" keeps all inputs unless semi-supervised sliced inverse regression
        predicts values held out better by more than one standard error; below 5 columns it
        keeps all. A transformer needs ``fit(X, y)`` (or ``fit(X, y, X_unlabeled)``)
        and ``components_``.
    mapping : {"auto", "top-down"} or object with `lift` and `carry`, default="auto"
        How z becomes x. "auto" is "top-down".
    acquisition : {"ei"}, default="ei"
        Expected improvement, in logarithmic form inside.
    n_initial : int or "auto", default="auto"
        Points before the first model, told ones included. "auto": ``4 + 2 sqrt(m)`` for m columns.
    n_unlabeled : int, default=50
        Points kept from every search, at most, as the unlabelled part of the next fit.
    update_every : int, default=1
        The embedding is learnt again when so many new values have been told.
    random_state : int, RandomState, Generator or None, default=None
        Seed. The same seed and the same values give the same points, bit for bit.

    Attributes
    ----------
    best_x_ : ndarray of shape (d,) or dict
        The point with the lowest value told.
    best_y_ : float
        That value.
    x_iters_ : ndarray of shape (n, d) or list of n dicts
        All points told.
    func_vals_ : ndarray of shape (n,)
        All values told.
    embedding_ : LinearEmbedding
        The embedding in use; the identity before the first model.
    n_initial_ : int
        How many points come before the first model.
    space_ : Space or Box
        The search space.

    Raises
    ------
    ValueError
        When the bounds or another argument are invalid.

    Notes
    -----
    Chen, Zhu, Yuan and Huang (2020), "Semi-supervised Embedding Learning for High-dimensional
    Bayesian Optimization", arXiv 2005.14601, Algorithms 1 and 4. It departs from the paper where
    measurement said so: the embedding must earn its place by evidence out of sample, it is
    learnt again at every step, and the acquisition is climbed by gradients.

    Pending points (asked for, not told) take part with the value that the surrogate predicts
    ("kriging believer"; Ginsbourger, Le Riche and Carraro 2010). A failed evaluation (NaN or
    infinite) takes part with the worst value told, and is unlabelled for the embedding.

    Examples
    --------
    >>> from skbo_silbo import SILBO
    >>> optimizer = SILBO([(-5, 10), (0, 15)], random_state=0)
    >>> for _ in range(20):
    ...     x = optimizer.ask()
    ...     _ = optimizer.tell(x, (x[0] - 1) ** 2 + (x[1] - 2) ** 2)
    >>> bool(optimizer.best_y_ < 0.1)
    True
    """

    def __init__(
        self,
        bounds,
        *,
        n_components="auto",
        embedding="auto",
        mapping="auto",
        acquisition="ei",
        n_initial="auto",
        n_unlabeled=50,
        update_every=1,
        random_state=None,
    ):
        super().__init__(bounds, random_state)
        self.n_components = n_components
        self.embedding = embedding
        self.mapping = mapping
        self.acquisition = acquisition
        self.n_initial = n_initial
        self.n_unlabeled = n_unlabeled
        self.update_every = update_every
        self._assemble(self.space_.n_features_)

    def _assemble(self, d):
        """Check the arguments and make the parts of the loop from them."""
        self._learners = make_learners(self.embedding, self.n_components, d)
        self._mapping = _make_mapping(self.mapping)
        self._acquisition = _named("acquisition", self.acquisition, ACQUISITIONS)
        n = n_initial_points(d) if self.n_initial == "auto" else self.n_initial
        self._n_initial = check_count("n_initial", n)
        check_count("n_unlabeled", self.n_unlabeled, least=0)
        check_count("update_every", self.update_every)
        self._model = None
        self._unlabeled = np.empty((0, d))
        self._learner = self._learners[0]
        self._learnt_at = self._tuned_at = self._chosen_at = 0
        self._design = None

    @property
    def n_initial_(self):
        """How many points, told ones included, come before the first model."""
        return self._n_initial

    @property
    def embedding_(self):
        """The embedding in use; the identity before the first model."""
        if self._model is None:
            return LinearEmbedding(self.space_.n_features_)
        return self._model.embedding

    def _propose(self):
        index = self._n_known
        rng = self._rng(index)
        if index < self._n_initial or len(self._history) == 0:
            return self._design_point(index, rng)
        with one_thread():
            if self._model is None or self._model.n_told < len(self._history):
                self._model = self._learn()
            X = self._search(self._model, rng)
            return self._choose(X, rng)

    def _design_point(self, index, rng):
        if self._design is None:
            shape = self._n_initial, self.space_.n_features_
            self._design = self.space_.round(sobol_points(*shape, self._rng(0, 0)))
        if index < len(self._design) and key_of(self._design[index]) not in self._seen:
            return self._design[index]
        return draw_unseen(self.space_, self._seen, rng)

    def _learn(self):
        """Learn embedding and surrogate from everything told."""
        X, y = self._history.canonical()
        n = y.size
        embedding = self._learn_embedding(X, y)
        Z, values = self._mapping.carry(X, embedding), impute_failures(y)
        same = embedding is self.embedding_
        start = self._model.surrogate.theta_ if self._model is not None else None
        fits = start is not None and start.size == Z.shape[1] + 2
        tune = not (fits and same) or n >= TUNE_GROWTH * self._tuned_at
        surrogate = GaussianProcessSurrogate(start if fits else None).fit(Z, values, tune=tune)
        if tune:
            self._tuned_at = n
        ranked = X[np.argsort(np.where(np.isfinite(y), y, np.inf), kind="stable")]
        return _Model(n, embedding, surrogate, ranked)

    def _learn_embedding(self, X, y):
        n = y.size
        if self._model is not None and n - self._learnt_at < self.update_every:
            return self._model.embedding
        self._learnt_at = n
        labelled = np.isfinite(y)
        data = X[labelled], y[labelled], np.vstack([X[~labelled], self._unlabeled])
        if n >= CHOICE_GROWTH * self._chosen_at:
            self._learner = choose_learner(self._learners, *data, self._rng(n, 1))
            self._chosen_at = n
        learnt = self._learner.learn(*data)
        keep = learnt.is_identity and self.embedding_.is_identity
        return self.embedding_ if keep and self._model is not None else learnt

    def _search(self, model, rng):
        """Return points of the cube, the best acquisition first."""
        surface = self._surface(model)
        X = draw_candidates(model.embedding, model.ranked[:N_INCUMBENTS], rng)
        X = self.space_.round(X)
        values = surface.values(X)
        ends = self.space_.round(polish(surface, X, values))
        X, values = np.vstack([ends, X]), np.append(surface.values(ends), values)
        return X[np.argsort(-values, kind="stable")]

    def _surface(self, model):
        """Return the acquisition, pending points believed to have their predicted values."""
        surrogate, embedding = model.surrogate, model.embedding
        Z = self._mapping.carry(model.ranked, embedding)
        if self._pending:
            believed = self._mapping.carry(np.array(list(self._pending.values())), embedding)
            surrogate = surrogate.with_points(believed, surrogate.predict(believed)[0])
            Z = np.vstack([Z, believed])
        best = surrogate.predict(Z)[0].min()  # of the predictions: noise makes low values too
        return AcquisitionSurface(self._acquisition, surrogate, embedding, best)

    def _choose(self, X, rng):
        """Return the first new point; the new ones after it are unlabelled in the next fit."""
        seen, size = self._seen, self.n_unlabeled + 1
        Z = np.array(list({key_of(z): z for z in self._model.embedding.project(X)}.values()))
        for first in range(0, len(Z), size):
            lifted = {key_of(x): x for x in self._lift(Z[first : first + size])}
            new = [x for key, x in lifted.items() if key not in seen]
            if new:
                self._unlabeled = np.array(new[1:]).reshape(-1, X.shape[1])
                return new[0]
        return draw_unseen(self.space_, seen, rng)

    def _lift(self, Z):
        """Return the points of the space with coordinates Z that are nearest the incumbent."""
        X = self._mapping.lift(Z, self._model.embedding, self._model.ranked[0])
        return self.space_.round(X)


def _make_mapping(mapping):
    if hasattr(mapping, "lift") and hasattr(mapping, "carry"):
        return mapping
    return _named("mapping", mapping, MAPPINGS)()


def _named(name, value, table):
    if not isinstance(value, str) or value not in table:
        raise ValueError(f"{name} must be one of {sorted(table)}: got {value!r}.")
    return table[value]
