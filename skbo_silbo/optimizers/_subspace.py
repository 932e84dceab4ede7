"""What a search has learnt of its objective: the directions that matter, and how sure that is."""

import warnings
from dataclasses import dataclass

import numpy as np

from skbo_silbo.embedding import FixedLearner, IdentityLearner
from skbo_silbo.optimizers._evidence import (
    LEAST_LABELS,
    N_FOLDS,
    Rival,
    held_out_constant,
    held_out_log_density,
    sure_gain,
)
from skbo_silbo.optimizers._input_shares import InputShares
from skbo_silbo.surrogate import ProcessMaker

SHARE = 0.9  # of the mean squared slope that the directions counted must carry
MOST_SHOWN = 5  # directions, and parameters of each, that the text shows
LEAST_SHOWN = 0.1  # loading
NEGLIGIBLE = 1e-9  # importance of a direction that is rounding


class NotLowDimensionalWarning(UserWarning):
    """All inputs together predict held-out values better than the embedding that was asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class LearntSubspace:
    """What matters to an objective, inputs and directions, as far as the values told show it.

    Inputs are judged by `shares`, as `skbo_silbo.inspection.SearchDisplay` draws them. A direction
    matters as much as the surrogate's mean is steep along it, squared and averaged over the points
    told: the eigenvectors of ``mean of g g'``, g the gradient in the unit cube (Constantine 2015,
    section 3; Xia et al. 2002). Every input has the range [-1, 1] there, log-scaled ones in the
    logarithm.

    Attributes
    ----------
    feature_names : tuple of str, of length m
        The columns of the cube: of a category one for each choice.
    components : ndarray of shape (k, m)
        Orthonormal directions, the most important first.
    importance : ndarray of shape (k,)
        Their shares of the mean squared slope; they add up to 1.
    shares : InputShares
        What every input explains, by a model of all of them. Where it says nothing, the directions
        are not to be read either: then they are left out of the text.
    n_told : int
        How many values this is learnt from.
    path : tuple of (int, str, int)
        The embeddings that were in use: from how many values on, which kind, how many coordinates.
    evidence : dict of str to float
        For every kind of embedding the mean log density (nats) of values held out, seen through it
        by a Gaussian process, five folds; "constant" is the claim that the inputs say nothing.
        Higher is better. Empty with fewer than ten values, or equal ones.
    is_low_dimensional : bool or None
        Whether at most half of all directions carry nine tenths of the slope, and the kind in use
        predicts no worse than "identity". None where `shares` says nothing, or neither
        predicts better than "constant": by more than the standard error of the difference.

    Examples
    --------
    >>> from skbo_silbo import SILBO
    >>> optimizer = SILBO([(0, 1)] * 6, random_state=0)
    >>> for _ in range(25):
    ...     x = optimizer.ask()
    ...     _ = optimizer.tell(x, (x[1] - 0.3) ** 2 + 0.1 * x[4])
    >>> subspace = optimizer.subspace_
    >>> subspace.n_directions, subspace.is_low_dimensional
    (1, True)
    >>> sorted(subspace.to_dict()["components"])[:2]
    ['x0', 'x1']
    """

    feature_names: tuple
    components: np.ndarray
    importance: np.ndarray
    shares: InputShares
    n_told: int
    path: tuple
    evidence: dict
    is_low_dimensional: bool | None

    @property
    def n_directions(self):
        """How many directions carry nine tenths of the mean squared slope."""
        return count_directions(self.importance)

    def to_dict(self):
        """Return all as plain data for JSON; `components` as lists by parameter name."""
        return {
            "components": dict(zip(self.feature_names, self.components.T.tolist(), strict=True)),
            "importance": self.importance.tolist(),
            "shares": self.shares.to_dict(),
            "n_told": self.n_told,
            "path": [list(step) for step in self.path],
            "evidence": dict(self.evidence),
            "is_low_dimensional": self.is_low_dimensional,
        }

    def to_frame(self):
        """Return the components as a pandas DataFrame: a row a direction, indexed by importance."""
        import pandas as pd

        index = pd.Index(self.importance, name="importance")
        return pd.DataFrame(self.components, index, list(self.feature_names))

    def __repr__(self):
        told = f"Learnt from {self.n_told} values of {len(self.feature_names)} columns."
        if not self.shares.is_informative:
            return f"{told}\n{self.shares!r}"
        lines = [
            told,
            repr(self.shares),
            self._verdict(),
            *(self._direction(i) for i in range(min(self.n_directions, MOST_SHOWN))),
        ]
        if self.evidence:
            ranked = sorted(self.evidence.items(), key=lambda item: -item[1])
            densities = ", ".join(f"{name} {value:.2f}" for name, value in ranked)
            lines.append(f"Log density of values held out: {densities}.")
        return "\n".join(lines)

    def _verdict(self):
        words = {
            True: "looks low-dimensional",
            False: "does not look low-dimensional",
            None: "low-dimensional or not: the values told do not say",
        }[self.is_low_dimensional]
        _, kind, r = self.path[-1]
        n = self.n_directions
        carry = "1 direction carries" if n == 1 else f"{n} directions carry"
        return f"Embedding {kind!r}, r = {r}: {carry} {SHARE:.0%} of the squared slope; {words}."

    def _direction(self, i):
        row = self.components[i]
        strongest = np.argsort(-np.abs(row), kind="stable")[:MOST_SHOWN]
        shown = [j for j in strongest if abs(row[j]) >= LEAST_SHOWN]
        loadings = ", ".join(f"{self.feature_names[j]} {row[j]:+.2f}" for j in shown)
        return f"  {self.importance[i]:.2f}  {loadings or 'spread over all'}"


def describe_subspace(belief, Z, data, rival, rng, *, feature_names, shares):
    """Return the `LearntSubspace`; warn if what was asked for is worse than the identity.

    Parameters
    ----------
    belief : Belief
        With a surrogate.
    Z : ndarray of shape (n, r)
        Coordinates of the points told.
    data : tuple of X, y and X_unlabeled
        What the embedding is learnt from.
    rival : Rival
        The model in use.
    rng : numpy.random.Generator
        Draws the folds.
    feature_names : tuple of str
    shares : InputShares
    """
    densities = held_out_densities(rival, data, rng)
    if not isinstance(rival.learner, IdentityLearner | FixedLearner):
        warn_if_worse(densities, rival.name, stacklevel=4)
    by_mean = belief.surrogate.predict_gradient(Z)[2]
    components, importance = principal_slopes(belief.embedding.pull_back(by_mean))
    return LearntSubspace(
        feature_names=feature_names,
        components=components,
        importance=importance,
        shares=shares,
        n_told=belief.n_told,
        path=belief.path,
        evidence={name: float(values.mean()) for name, values in densities.items()},
        is_low_dimensional=judge(densities, rival.name, importance, len(feature_names))
        if shares.is_informative
        else None,
    )


def principal_slopes(gradients):
    """Return directions, (k, m), and shares, (k,), of gradients (n, m) at n points.

    The right singular vectors of the gradients are the eigenvectors of their outer product.
    """
    _, lengths, directions = np.linalg.svd(gradients, full_matrices=False)
    squares = lengths**2
    if not squares.any():
        return directions[:0], squares[:0]
    shares = squares / squares.sum()
    kept = shares > NEGLIGIBLE
    directions, shares = directions[kept], shares[kept]
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(len(directions)), largest])
    return directions * signs[:, None], shares / shares.sum()


def count_directions(importance):
    """Return how many of the first directions carry `SHARE` of the slope, 0 if there is none."""
    reached = np.cumsum(importance) >= SHARE
    return int(reached.argmax()) + 1 if reached.any() else 0


def held_out_densities(rival, data, rng):
    """Return the log densities, (n,), of values held out, by name; {} without evidence.

    The identity with its own prior and "constant" are always among them.
    """
    X, y, X_unlabeled = data
    if y.size < LEAST_LABELS or np.ptp(y) == 0.0:
        return {}
    folds = rng.permutation(y.size) % N_FOLDS
    rivals = (Rival(IdentityLearner(), ProcessMaker()), rival)
    densities = {
        one.name: held_out_log_density(one, X, y, X_unlabeled, folds, rng) for one in rivals
    }
    return {**densities, "constant": held_out_constant(y, folds)}


def judge(densities, kind, importance, m):
    """Return `LearntSubspace.is_low_dimensional` for the kind of embedding in use."""
    if not densities:
        return None
    used, identity = (densities[name] - densities["constant"] for name in (kind, "identity"))
    if max(sure_gain(used), sure_gain(identity)) <= 0.0:
        return None
    few = 2 * count_directions(importance) <= m
    return bool(few and sure_gain(identity - used) <= 0.0)


def warn_if_worse(densities, name, stacklevel):
    """Warn if the identity predicts better than the learnt embedding of this name."""
    if not densities or sure_gain(densities["identity"] - densities[name]) <= 0.0:
        return
    warnings.warn(
        f"embedding {name!r} was asked for, but all inputs together predict held-out values "
        f"better: mean log density {densities['identity'].mean():.2f} against "
        f"{densities[name].mean():.2f} nats. Either the problem is not low-dimensional, or the "
        f"{densities[name].size} values are too few to learn the directions: "
        "use embedding='auto' and n_components='auto'.",
        NotLowDimensionalWarning,
        stacklevel=stacklevel + 1,
    )
