"""Bayesian optimisation on one random embedding, drawn first and never learnt."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial

from skbo_silbo._checks import check_count
from skbo_silbo._typing import Auto
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition._box_search import BoxSearch
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.embedding._learners import FixedLearner
from skbo_silbo.embedding._sketched import SKETCH_STREAM
from skbo_silbo.mapping._bottom_up import BottomUp
from skbo_silbo.optimizers import Configuration
from skbo_silbo.optimizers._configuration import make_acquisition
from skbo_silbo.optimizers._design import image_points, n_initial_points
from skbo_silbo.surrogate import GaussianProcessSurrogate

N_ROUNDS = 3  # of candidates round the best ones, after the random set
MOST_COMPONENTS = 10  # n_components="auto"


@dataclass(eq=False, repr=False, kw_only=True)
class SketchedOptimizer(Baseline):
    """Base of `REMBO` and `HeSBO`, which draw the embedding."""

    n_components: int | Auto = "auto"
    acquisition: str | AcquisitionFunction = "ei"
    n_initial: int | Auto = "auto"

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
        r = min(d, MOST_COMPONENTS) if self.n_components == "auto" else self.n_components
        r = check_count("n_components", r, least=0 if d == 0 else 1)
        sketch = self._draw_sketch(d, r, self._rng(*SKETCH_STREAM))
        mapping = BottomUp()
        n_initial = n_initial_points(r) if self.n_initial == "auto" else self.n_initial
        return Configuration(
            learner=FixedLearner(sketch),
            mapping=mapping,
            search=BoxSearch(n_rounds=N_ROUNDS),
            acquisition=make_acquisition(self.acquisition),
            design=partial(image_points, embedding=sketch, mapping=mapping),
            surrogate=self._make_surrogate(sketch),
            n_initial=check_count("n_initial", n_initial),
        )

    @abstractmethod
    def _draw_sketch(self, d, r, rng):
        """Return the embedding of d columns in r coordinates."""

    def _make_surrogate(self, sketch):
        return GaussianProcessSurrogate()
