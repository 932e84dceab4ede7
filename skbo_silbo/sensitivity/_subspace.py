"""What a search has learnt of its objective: the directions that matter, and how sure that is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo._typing import FloatArray
from skbo_silbo.embedding._choice import FixedLearner, IdentityLearner
from skbo_silbo.sensitivity._held_out_density import lower_bound_of_gain
from skbo_silbo.sensitivity._input_shares import InputShares

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.9  # of the mean squared slope that the directions counted must carry
MOST_SHOWN = 5  # directions, and parameters of each, that the text shows
LEAST_SHOWN = 0.1  # loading


class NotLowDimensionalWarning(UserWarning):
    """All inputs together predict held-out values better than the embedding that was asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class LearntSubspace:
    """What matters to an objective, inputs and directions, as far as the observed values show it.

    All of it is read from one model of the values on all inputs (`InputModel`), whatever embedding
    is in use; `skbo_silbo.inspection.SearchDisplay` and `SubspaceDisplay` draw the same. A
    direction matters as much as the mean of the model is steep along it, squared and averaged over
    the observed points. Directions are the eigenvectors of ``mean of g g'``, with g the gradient in
    the cube (Constantine 2015, section 3; Xia et al. 2002). Every input has the range [-1, 1]
    there, log-scaled ones in the logarithm.

    Attributes
    ----------
    feature_names : tuple of str, of length m
        The columns of the cube: of a category one for each choice.
    components : ndarray of shape (k, m)
        Orthonormal directions, the most important first; none where `shares` says nothing.
    importance : ndarray of shape (k,)
        Their shares of the mean squared slope; they add up to 1.
    shares : InputShares
        What every input explains, with intervals, and the verdict in words.
    n_observed : int
        How many values this is learnt from.
    path : tuple of (int, str, int)
        The embeddings that were in use: from how many values on, which kind, how many coordinates.
    evidence : dict of str to float
        The mean log density (nats) of values held out, five folds: "identity" of the model of all
        inputs, "constant" of the claim that the inputs say nothing, and of the embedding in use,
        under its name, where it is another. `shares` says something only where the first is beyond
        chance higher than the second. Higher is better. Empty with fewer than ten values, or equal
        ones.
    is_low_dimensional : bool or None
        Whether at most half of all directions carry nine tenths of the slope. None where the values
        do not say yet what matters (``shares.is_settled``).

    Examples
    --------
    >>> from skbo_silbo import SILBO
    >>> optimizer = SILBO([(0, 1)] * 6, random_state=0)
    >>> X = optimizer.ask(25)
    >>> x = optimizer.tell(X, (X[:, 1] - 0.3) ** 2 + 0.1 * X[:, 4]).ask()
    >>> subspace = optimizer.subspace_
    >>> subspace.n_directions, subspace.is_low_dimensional
    (1, True)
    >>> sorted(subspace.to_dict()["components"])[:2]
    ['x0', 'x1']
    """

    feature_names: tuple[str, ...]
    components: FloatArray
    importance: FloatArray
    shares: InputShares
    n_observed: int
    path: tuple[tuple[int, str, int], ...]
    evidence: dict[str, float]
    is_low_dimensional: bool | None

    @property
    def n_directions(self) -> int:
        """How many directions carry nine tenths of the mean squared slope."""
        return count_directions(self.importance)

    def to_dict(self) -> dict[str, Any]:
        """Return all as plain data for JSON; `components` as lists by parameter name."""
        return {
            "components": dict(zip(self.feature_names, self.components.T.tolist(), strict=True)),
            "importance": self.importance.tolist(),
            "shares": self.shares.to_dict(),
            "n_observed": self.n_observed,
            "path": [list(step) for step in self.path],
            "evidence": dict(self.evidence),
            "is_low_dimensional": self.is_low_dimensional,
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return the components as a pandas DataFrame: a row a direction, indexed by importance."""
        import pandas as pd

        index = pd.Index(self.importance, name="importance")
        return pd.DataFrame(self.components, index, list(self.feature_names))

    def __repr__(self):
        origin = f"Learnt from {self.n_observed} values of {len(self.feature_names)} columns."
        if self.is_low_dimensional is None:
            return f"{origin}\n{self.shares!r}"
        lines = [
            origin,
            repr(self.shares),
            self._verdict(),
            *(self._direction(i) for i in range(min(self.n_directions, MOST_SHOWN))),
        ]
        return "\n".join(lines)

    def _verdict(self):
        n, m = self.n_directions, len(self.feature_names)
        carry = "1 direction carries" if n == 1 else f"{n} directions carry"
        words = "low-dimensional" if self.is_low_dimensional else "not low-dimensional"
        slope = f"{SHARE:.0%} of the squared slope at the observed points"
        return f"{carry} {slope}, in {m} columns: looks {words}."

    def _direction(self, i):
        row = self.components[i]
        strongest = np.argsort(-np.abs(row), kind="stable")[:MOST_SHOWN]
        shown = [j for j in strongest if abs(row[j]) >= LEAST_SHOWN]
        loadings = ", ".join(f"{self.feature_names[j]} {row[j]:+.2f}" for j in shown)
        return f"  {self.importance[i]:.2f}  {loadings or 'spread over all'}"


def describe_subspace(model, learnt, X_unlabeled, learner, surrogate, rng):
    """Return the `LearntSubspace`; warn if what was asked for is worse than the identity.

    Parameters
    ----------
    model : InputModel
        Of all observed values.
    learnt : Model
        Of the optimiser.
    X_unlabeled : ndarray of shape (k, m)
        That the embedding is learnt from, too.
    learner : Learner
    surrogate : Surrogate
        Those in use.
    rng : numpy.random.Generator
        For surrogates that draw.
    """
    densities = held_out_densities(model.held_out, learner, surrogate, X_unlabeled, rng)
    if not isinstance(learner, IdentityLearner | FixedLearner):
        warn_if_worse(densities, learner.name)
    components, importance = model.directions
    few = 2 * count_directions(importance) <= components.shape[1]
    return LearntSubspace(
        feature_names=tuple(model.space.feature_names_),
        components=components,
        importance=importance,
        shares=model.shares,
        n_observed=learnt.n_observed,
        path=learnt.path,
        evidence={name: float(values.mean()) for name, values in densities.items()},
        is_low_dimensional=few if model.shares.is_settled else None,
    )


def count_directions(importance: FloatArray) -> int:
    """Return how many of the first directions carry `SHARE` of the slope, 0 if there is none."""
    reached = np.cumsum(importance) >= SHARE
    return int(reached.argmax()) + 1 if reached.any() else 0


def held_out_densities(held_out, learner, surrogate, X_unlabeled, rng):
    """Return the log densities, (n,), of values held out, by name; {} without evidence."""
    if held_out is None:
        return {}
    densities = {"identity": held_out.identity, "constant": held_out.constant}
    if learner.name in densities:
        return densities
    return {learner.name: held_out.through(learner, surrogate, X_unlabeled, rng), **densities}


def warn_if_worse(densities, name):
    """Warn if the identity predicts better than the learnt embedding of this name."""
    if not densities or lower_bound_of_gain(densities["identity"] - densities[name]) <= 0.0:
        return
    warn_user(
        f"embedding {name!r} was asked for, but all inputs together predict held-out values "
        f"better: mean log density {densities['identity'].mean():.2f} against "
        f"{densities[name].mean():.2f} nats. Either the problem is not low-dimensional, or the "
        f"{densities[name].size} values are too few to learn the directions: "
        "use embedding='auto' and n_components='auto'.",
        NotLowDimensionalWarning,
    )
