"""Learners of the embedding: from labelled points to the linear map that the surrogate sees."""

import warnings
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from skbo_silbo.decomposition import ActiveSubspace, SemiSlicedInverseRegression, slice_response
from skbo_silbo.embedding._linear import LinearEmbedding
from skbo_silbo.embedding._nonlinear import NonlinearLearner, fit_clone, is_linear
from skbo_silbo.surrogate import GaussianProcessSurrogate

PAPER = MappingProxyType({"n_local_neighbors": 7, "n_neighbors": 7, "random_state": 0})
NEGLIGIBLE_WEIGHT = 1e-3  # relative to the largest
MANY = 20  # inputs: up to these an ensemble made no difference
LEAST_CHOICE_DIMENSION = 5  # with fewer inputs there is no dimension to save: "auto" keeps all


@dataclass(frozen=True)
class IdentityLearner:
    """Learn nothing: ``z = x``.

    Attributes
    ----------
    prior : {"dimension-scaled", "sparse"}
        Of the surrogate's length scales.
    takes_turns : bool or None
        Whether every other proposal, by chance, is of an ensemble of sparse processes; evidence may
        say no (`choose_turns`). None: never.
    """

    prior: str = "dimension-scaled"
    takes_turns: bool | None = field(default=None, compare=False)

    @property
    def name(self):
        """Name of the learner."""
        return "identity" if self.prior == "dimension-scaled" else "sparse"

    def learn(self, X, y, X_unlabeled):
        """Return the identity of the columns of X."""
        return LinearEmbedding(X.shape[1])


@dataclass(frozen=True)
class FixedLearner:
    """Learn nothing: the embedding is the one given.

    Attributes
    ----------
    embedding : object
        A sketch.
    """

    embedding: object
    name = "fixed"

    def learn(self, X, y, X_unlabeled):
        """Return the embedding given."""
        return self.embedding


@dataclass(frozen=True)
class TransformerLearner:
    """Learn by a scikit-learn transformer that has ``components_`` after ``fit(X, y)``.

    Attributes
    ----------
    name : str
    transformer : estimator
        Cloned before every fit. `X_unlabeled` is passed if its `fit` takes it.
    """

    name: str
    transformer: object

    def learn(self, X, y, X_unlabeled):
        """Return the embedding onto the span of the transformer's components.

        Equal values of y identify no direction: then the embedding is the identity.
        """
        if np.unique(y).size < 2:
            return LinearEmbedding(X.shape[1])
        transformer = self.fitted(X, y, X_unlabeled)
        return LinearEmbedding.from_components(transformer.components_)

    def fitted(self, X, y, X_unlabeled):
        """Return a clone of the transformer, fitted."""
        return fit_clone(self.transformer, X, y, X_unlabeled)


@dataclass(frozen=True)
class SemiSIRLearner:
    """Learn by semi-supervised sliced inverse regression.

    Attributes
    ----------
    n_components : int or "auto"
        Coordinates; early in a run the slices identify fewer, and then those are used.
    params : dict
        Further parameters of the estimator.
    n_slices : int or None
        None: 10, or one more than the coordinates where these are 10 or more.
    """

    n_components: object
    params: dict = field(default_factory=dict)
    n_slices: int | None = None
    name = "semi-sir"

    def learn(self, X, y, X_unlabeled):
        """Return the embedding, or the identity when equal values identify no direction."""
        learner = self._with_components("auto")
        self._warn_where_slices_are_plain(y)
        if np.unique(y).size < 2 or (self.n_components == "auto" and not self._is_paper):
            return learner.learn(X, y, X_unlabeled)
        most = X.shape[1] if self.n_components == "auto" else self.n_components
        most = min(most, self._count_identified(learner, X, y, X_unlabeled))
        return self._with_components(most).learn(X, y, X_unlabeled)

    def _warn_where_slices_are_plain(self, y):
        k = self.params.get("n_local_neighbors")
        if k is None or np.unique(y).size < 2:
            return
        largest = int(slice_response(y, self._n_slices).counts.max())
        if k >= largest:
            warnings.warn(
                f"n_local_neighbors={k} is no localisation: the slices of {y.size} values have at "
                f"most {largest} rows, so this is plain slicing. The paper's settings have that "
                "until there are enough values; for slices that are localised give embedding="
                f"SemiSlicedInverseRegression(n_local_neighbors={max(largest - 1, 2)}).",
                UserWarning,
                stacklevel=2,
            )

    @property
    def _is_paper(self):
        return self.params.get("solver") == "paper"

    def _count_identified(self, learner, X, y, X_unlabeled):
        """Return how many directions the data identify; Algorithm 2 divides by zero past that."""
        if not self._is_paper:
            return len(learner.fitted(X, y, X_unlabeled).eigenvalues_)
        n_slices = slice_response(y, self._n_slices).n_slices
        rank = int(np.linalg.matrix_rank(X - X.mean(axis=0)))
        return max(min(rank, n_slices - 1), 1)

    @property
    def _n_slices(self):
        if self.n_slices is not None:
            return self.n_slices
        return 10 if self.n_components == "auto" else max(10, self.n_components + 1)

    def _with_components(self, n_components):
        estimator = SemiSlicedInverseRegression(
            n_components, n_slices=self._n_slices, **self.params
        )
        return TransformerLearner(self.name, estimator)


@dataclass(frozen=True)
class ActiveSubspaceLearner:
    """Learn the directions along which a Gaussian process with a sparse prior is steepest.

    Attributes
    ----------
    n_components : int or "auto"
        Coordinates; fewer labels than that identify fewer.
    """

    n_components: object
    name = "active-subspace"

    def learn(self, X, y, X_unlabeled):
        """Return the embedding, or the identity when equal values identify no direction."""
        most = self.n_components
        if most != "auto":
            most = min(most, len(X) - 1)
        estimator = ActiveSubspace(most, random_state=0)
        return TransformerLearner(self.name, estimator).learn(X, y, X_unlabeled)


@dataclass(frozen=True)
class CoordinatesLearner:
    """Keep the inputs that matter to a Gaussian process with a sparse prior (automatic relevance).

    Attributes
    ----------
    n_components : int or "auto"
        How many; "auto" cuts where the squared inverse length scales fall most steeply, those below
        a thousandth of the largest counted as alike, and keeps at most a third as many as
        there are labels.
    """

    n_components: object
    name = "coordinates"

    def learn(self, X, y, X_unlabeled):
        """Return the embedding, or the identity when equal values say nothing."""
        d = X.shape[1]
        if np.unique(y).size < 2:
            return LinearEmbedding(d)
        weights = GaussianProcessSurrogate(prior="sparse").fit(X, y).weights_
        order = np.argsort(-weights, kind="stable")
        kept = np.sort(order[: self._count(weights[order], len(X))])
        return LinearEmbedding(d, np.eye(d)[:, kept])

    def _count(self, weights, n):
        """Return how many of the decreasing weights to keep."""
        if self.n_components != "auto":
            return self.n_components
        raised = weights + NEGLIGIBLE_WEIGHT * weights[0]
        ratios = raised[:-1] / raised[1:]
        return int(np.argmax(ratios[: max(n // 3, 1)])) + 1 if ratios.size else 1


def _identity(n_components, d):
    if n_components not in ("auto", d):
        raise ValueError(
            f"n_components must be 'auto' or {d} (all inputs) with embedding='identity': "
            f"got {n_components!r}. Use embedding='semi-sir' for fewer."
        )
    return [IdentityLearner()]


def _semi_sir(n_components, d):
    return [SemiSIRLearner(n_components)]


def _active_subspace(n_components, d):
    return [ActiveSubspaceLearner(n_components)]


def _coordinates(n_components, d):
    return [CoordinatesLearner(n_components)]


def _plain_sir(n_components, d):
    return [SemiSIRLearner(n_components, {"alpha": 0.0})]


def _paper(n_components, d):
    """Return Algorithm 2 as printed: randomised SVD, k = 7 neighbours in slices and graph."""
    return [SemiSIRLearner(n_components, {**PAPER, "solver": "paper"})]


def _paper_exact(n_components, d):
    """Return the paper's pencil with k = 7, solved exactly."""
    return [SemiSIRLearner(n_components, dict(PAPER))]


def _auto(n_components, d):
    if d < LEAST_CHOICE_DIMENSION:
        return [IdentityLearner()]
    turns = True if d > MANY else None
    whole = (IdentityLearner(prior, takes_turns=turns) for prior in ("sparse", "dimension-scaled"))
    return [*whole, *_semi_sir(n_components, d)]


def _sparse(n_components, d):
    return [IdentityLearner("sparse")]


EMBEDDINGS = MappingProxyType(
    {
        "auto": _auto,
        "active-subspace": _active_subspace,
        "coordinates": _coordinates,
        "identity": _identity,
        "sparse": _sparse,
        "semi-sir": _semi_sir,
        "semi-sir-local": _paper_exact,
        "semi-sir-paper": _paper,
        "sir": _plain_sir,
    }
)


def make_learners(embedding, n_components, d):
    """Return the learners that `embedding` names; with several, evidence must choose.

    Parameters
    ----------
    embedding : str or transformer
    n_components : int or "auto"
        Coordinates of a learnt embedding.
    d : int
        Columns of the encoded cube.

    Returns
    -------
    learners : list
        The first is the one that needs no evidence.

    Raises
    ------
    ValueError
        When the embedding is unknown or unusable, or `n_components` does not go with it.
    """
    if isinstance(embedding, str) and embedding in EMBEDDINGS:
        return EMBEDDINGS[embedding](_check_n_components(n_components, d), d)
    if not (hasattr(embedding, "fit") and hasattr(embedding, "get_params")):
        raise ValueError(
            f"embedding must be one of {sorted(EMBEDDINGS)} or a transformer with components_ or "
            f"inverse_transform: got {embedding!r}."
        )
    if n_components != "auto":
        raise ValueError(
            f"n_components must be 'auto' when embedding is a transformer: got {n_components!r}. "
            "Set it on the transformer."
        )
    if is_linear(embedding, d):
        return [TransformerLearner(type(embedding).__name__, embedding)]
    return [NonlinearLearner(embedding)]


def _check_n_components(n_components, d):
    if isinstance(n_components, str) and n_components == "auto":
        return n_components
    from_int = isinstance(n_components, (int, np.integer)) and not isinstance(n_components, bool)
    if not from_int or not 1 <= n_components <= d:
        raise ValueError(
            f"n_components must be 'auto' or an integer from 1 to {d}, the number of inputs: "
            f"got {n_components!r}."
        )
    return int(n_components)
