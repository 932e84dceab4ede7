"""Summary of the inputs and directions that a search has found to matter."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.sensitivity._input_shares import InputShares

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.9  # share of the mean squared gradient that `n_directions` counts


@dataclass(frozen=True, eq=False, repr=False)
class LearntSubspace:
    """Inputs and directions that affect the objective, estimated from observed values.

    All attributes except `path` are computed from a Gaussian process on all inputs
    (`InputModel`), whatever embedding is in use. `skbo_silbo.inspection.SearchDisplay` and
    `skbo_silbo.inspection.SubspaceDisplay` plot them.

    The directions are the eigenvectors of the mean of ``g g'`` over the observed points, where g is
    the gradient of the posterior mean (Constantine 2015, section 3; Xia et al. 2002). The inputs
    are scaled to [-1, 1], after taking the logarithm of log-scaled inputs.

    Attributes
    ----------
    feature_names : tuple of str, of length m
        Names of the encoded columns. A categorical input has one column per choice.
    components : ndarray of shape (k, m)
        Orthonormal directions in decreasing order of importance. Empty if `shares` is not
        informative.
    importance : ndarray of shape (k,)
        Share of the mean squared gradient along each direction. The values sum to 1.
    shares : InputShares
        Share of the variance explained by each input, with intervals and a verdict.
    n_observed : int
        Number of values that have been observed.
    path : tuple of (int, str, int)
        Embeddings used during the search. Each entry contains the number of observed values when
        the embedding came into use, its name and its dimension.
    is_low_dimensional : bool or None
        Whether 90 % of the mean squared gradient is along at most half of the directions. None if
        there are not enough data to tell (see ``shares.is_settled``).

    Examples
    --------
    >>> from skbo_silbo import SILBO
    >>> optimizer = SILBO([(0, 1)] * 6, random_state=0)
    >>> X = optimizer.ask(25)
    >>> x = optimizer.tell(X, (X[:, 1] - 0.3) ** 2 + 0.1 * X[:, 4]).ask()
    >>> subspace = optimizer.subspace_
    >>> subspace.n_directions, subspace.is_low_dimensional
    (1, True)
    >>> subspace.to_frame().columns[:2].tolist()
    ['x0', 'x1']
    """

    feature_names: tuple[str, ...]
    components: FloatArray
    importance: FloatArray
    shares: InputShares
    n_observed: int
    path: tuple[tuple[int, str, int], ...]
    is_low_dimensional: bool | None

    @property
    def n_directions(self) -> int:
        """Number of directions that explain 90 % of the mean squared gradient."""
        return count_directions(self.importance)

    def to_frame(self) -> "pd.DataFrame":
        """Return the components as a pandas DataFrame with one row per direction."""
        import pandas as pd

        index = pd.Index(self.importance, name="importance")
        return pd.DataFrame(self.components, index, list(self.feature_names))

    def __repr__(self):
        origin = f"Learnt from {self.n_observed} values of {len(self.feature_names)} columns."
        if self.is_low_dimensional is None:
            return f"{origin}\n{self.shares!r}"
        return f"{origin}\n{self.shares!r}\n{self._format_verdict()}"

    def _format_verdict(self):
        n, m = self.n_directions, len(self.feature_names)
        carry = "1 direction carries" if n == 1 else f"{n} directions carry"
        words = "low-dimensional" if self.is_low_dimensional else "not low-dimensional"
        slope = f"{SHARE:.0%} of the mean squared gradient in {m} columns"
        return f"{carry} {slope}: the objective looks {words}."


def describe_subspace(model, learnt):
    """Summarise what an optimiser has learnt.

    Parameters
    ----------
    model : InputModel
        Model of all observed values, on all inputs.
    learnt : Model
        The current model of the optimiser.

    Returns
    -------
    subspace : LearntSubspace
    """
    components, importance = model.directions
    few = 2 * count_directions(importance) <= components.shape[1]
    return LearntSubspace(
        feature_names=tuple(model.space.feature_names_),
        components=components,
        importance=importance,
        shares=model.shares,
        n_observed=learnt.n_observed,
        path=learnt.path,
        is_low_dimensional=few if model.shares.is_settled else None,
    )


def count_directions(importance: FloatArray) -> int:
    """Return how many leading directions explain 90 % of the mean squared gradient."""
    reached = np.cumsum(importance) >= SHARE
    return int(reached.argmax()) + 1 if reached.any() else 0
