"""A baseline: an embedded optimiser whose arguments are fields of a dataclass."""

from dataclasses import KW_ONLY, dataclass

from skbo_silbo._typing import BoundsLike, RandomState
from skbo_silbo.optimizers import EmbeddedOptimizer


@dataclass(eq=False, repr=False)
class Baseline(EmbeddedOptimizer):
    """Base of baselines: `configure` reads the fields that a subclass adds."""

    bounds: BoundsLike
    _: KW_ONLY
    random_state: RandomState = None

    def __post_init__(self):
        super().__init__(self.bounds, self.random_state)
