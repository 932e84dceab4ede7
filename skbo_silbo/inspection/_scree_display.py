"""Scree plot: eigenvalues with bootstrap intervals, and what shuffled responses give."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._checks import check_integer, check_share
from .._typing import ArrayLike, FloatArray, LegacyRandomState
from ..decomposition.rows._labels import split_as_fitted
from ._bootstrap import with_choices_of, without_advice
from ._figures import Axes, new_figure
from ._names import refuse_pipeline
from ._panels import COLOURS, tidy

MAX_EIGENVALUES = 15


@dataclass(eq=False, repr=False, kw_only=True)
class ScreeDisplay:
    """Eigenvalues of fitted directions, their intervals, and the level of chance.

    Use :meth:`from_estimator`; the constructor takes the arrays to draw, which stay attributes of
    the same name.

    Parameters
    ----------
    eigenvalues : ndarray of shape (p,)
        Falling; those of `PrincipalHessianDirections` without their signs.
    corrected : ndarray of shape (p,)
        Less their bias, what resampling adds to them; at least 0.
    intervals : ndarray of shape (2, p)
        Lower and upper ends, about `corrected`.
    chance : ndarray of shape (p,)
        Upper quantile of the eigenvalues when the responses are shuffled.
    confidence_level : float

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by :meth:`plot`.
    ax_ : matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from skbo_silbo.decomposition import SemiSlicedInverseRegression
    >>> from skbo_silbo.inspection import ScreeDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sir = SemiSlicedInverseRegression().fit(X, y)
    >>> ScreeDisplay.from_estimator(sir, X, y, random_state=0)  # doctest: +SKIP
    """

    eigenvalues: FloatArray
    corrected: FloatArray
    intervals: FloatArray
    chance: FloatArray
    confidence_level: float

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        *,
        X_unlabeled: ArrayLike | None = None,
        n_resamples: int = 100,
        confidence_level: float = 0.95,
        random_state: LegacyRandomState = None,
        n_jobs: int | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Resample and shuffle the labelled rows, fit anew, and draw.

        Resampling raises eigenvalues, the small ones most, as fitting did: the mean shift over the
        resamples is taken off. The interval is what is left, a dot of its own, plus and minus so
        many standard errors, cut at zero; the eigenvalue as fitted may lie above it. Chance is the
        `confidence_level` quantile of each eigenvalue over fits to shuffled responses: later ones
        are compared with no direction at all, which is generous to them.

        Parameters
        ----------
        estimator : fitted estimator
            With ``n_components`` and ``eigenvalues_``, such as `SemiSlicedInverseRegression`. It is
            cloned; ``n_components``, ``alpha`` and ``ridge`` that were "auto" stay as fitted.
        X : array-like of shape (n, d)
            The rows fitted.
        y : array-like of shape (n,) or (n, q)
            As in ``estimator.fit``; NaN (None among categories) marks an unlabelled row.
        X_unlabeled : array-like of shape (n_u, d), default=None
            Further unlabelled rows.
        n_resamples : int, default=100
            Of each kind, at least 2.
        confidence_level : float, default=0.95
            In (0, 1).
        random_state : int, RandomState instance or None, default=None
        n_jobs : int or None, default=None
            As in joblib; the result does not depend on it.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        ScreeDisplay

        Raises
        ------
        ValueError
            For a parameter outside its range, or X and y that ``fit`` refuses.
        NotFittedError
            When the estimator is not fitted.
        TypeError
            When the estimator is a Pipeline.
        """
        refuse_pipeline(estimator)
        check_is_fitted(estimator, "eigenvalues_")
        check_integer("n_resamples", n_resamples, 2)
        check_share("confidence_level", confidence_level, default=0.95)
        rows = split_as_fitted(clone(estimator), X, y, X_unlabeled, reset=True)
        fixed = with_choices_of(estimator, estimator, n_components=1)
        p = min(MAX_EIGENVALUES, len(estimator.eigenvalues_))
        seeds = check_random_state(random_state).randint(2**31 - 1, size=(2, n_resamples))
        jobs = [
            delayed(_eigenvalues)(clone(fixed), rows, p, seed, shuffled)
            for shuffled, kind in enumerate(seeds)
            for seed in kind
        ]
        found = np.array(Parallel(n_jobs=n_jobs)(jobs)).reshape(2, n_resamples, p)
        estimate = np.abs(estimator.eigenvalues_[:p])
        half = norm.ppf((1 + confidence_level) / 2) * found[0].std(axis=0, ddof=1)
        centre = 2 * estimate - found[0].mean(axis=0)
        display = cls(
            eigenvalues=estimate,
            corrected=np.clip(centre, 0, None),
            intervals=np.clip([centre - half, centre + half], 0, None),
            chance=np.quantile(found[1], confidence_level, axis=0),
            confidence_level=float(confidence_level),
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        self
        """
        if ax is None:
            ax = new_figure("ScreeDisplay").subplots()
        places, percent = np.arange(1, len(self.eigenvalues) + 1), f"{self.confidence_level:.0%}"
        ax.plot(places, self.eigenvalues, "o", color=COLOURS[0], mfc="none", label="eigenvalue")
        ax.vlines(places, *self.intervals, color=COLOURS[0])
        label = f"less its bias, {percent} interval"
        ax.plot(places, self.corrected, "o", color=COLOURS[0], ms=4, label=label)
        ax.plot(places, self.chance, "--", color=COLOURS[1], label=f"chance ({percent})")
        ax.set(xlabel="direction", ylabel="eigenvalue", xticks=places)
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False, loc="upper right")
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _eigenvalues(estimator, rows, p, seed, shuffled):
    """First p eigenvalues, zeros after the last, of one resample or of shuffled responses."""
    rng = np.random.default_rng(seed)
    n = len(rows.y)
    drawn = rng.permutation(n) if shuffled else rng.integers(n, size=n)
    X = rows.X_labeled if shuffled else rows.X_labeled[drawn]
    extra = {"X_unlabeled": rows.X_unlabeled} if len(rows.X_unlabeled) else {}
    with without_advice():
        found = np.abs(estimator.fit(X, rows.y[drawn], **extra).eigenvalues_[:p])
    return np.pad(found, (0, p - len(found)))
