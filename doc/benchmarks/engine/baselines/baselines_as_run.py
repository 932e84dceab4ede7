"""Baselines as SILBO's authors ran them, by their repository (cjfcsjt/SILBO, revision b69911d).

``REMBO.py`` and ``count_sketch.py`` take the best expected improvement of 2000 candidates in the
box. ``SIR_BO.py`` learns directions once, from ``r + 1`` slices, and proposes where two generations
of CMA-ES from the centre end. They are given the upper confidence bound itself, and CMA-ES
minimises: the point with the lowest bound of at most 34 is taken. Not theirs here: the process and
its hyperparameters, uniform candidates and first points (Latin hypercubes there).
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skbo_silbo.acquisition import Found
from skbo_silbo.acquisition.searches import BoxSearch
from skbo_silbo.baselines import REMBO, HeSBO
from skbo_silbo.baselines._silbo_as_printed import quiet_options
from skbo_silbo.decomposition import SemiSlicedInverseRegression
from skbo_silbo.embedding.choice import choose_embedding

from .silbo_as_run import confidence_weight_as_run, variance_gain
from .sir_bo import SIRBO

GENERATIONS, STEP = 2, 0.5  # of their CMA-ES


class _OnRandomCandidates:
    """On random candidates, without further ones round the best."""

    def configure(self, d):
        """Return the `Configuration` for d columns."""
        return replace(super().configure(d), search=BoxSearch())


class REMBOAsRun(_OnRandomCandidates, REMBO):
    """REMBO as SILBO's authors searched with it."""


class HeSBOAsRun(_OnRandomCandidates, HeSBO):
    """HeSBO as SILBO's authors searched with it."""


class SIRBOAsRun(SIRBO):
    """SIR-BO with the slices, the bound and the search of SILBO's authors."""

    def configure(self, d):
        """Return the `Configuration` for d columns."""
        r = self.n_components
        pencil = SemiSlicedInverseRegression(r, alpha=0.0, n_slices=r + 1)
        bound = partial(variance_gain, kappa=confidence_weight_as_run(self.n_initial, r))
        return replace(
            super().configure(d),
            learner=choose_embedding(pencil, "auto", d),
            acquisition=lambda t: bound,
            search=LowestBound(),
        )


@dataclass(frozen=True)
class LowestBound:
    """The best of two generations of CMA-ES from the centre, which minimises what it is given."""

    def find(self, surface, ranked, space, rng):
        """Return one point, as `Found`."""
        import cma

        options = quiet_options(rng) | {"bounds": [-1.0, 1.0], "maxiter": GENERATIONS}
        search = cma.CMAEvolutionStrategy(np.zeros(surface.embedding.d), STEP, options)
        while not search.stop():
            X = search.ask()
            search.tell(X, surface.values(np.clip(X, -1.0, 1.0)).tolist())
        X = np.clip(search.result.xbest, -1.0, 1.0)[None]
        return Found(surface.embedding.project(X), X)
