"""Ask-and-tell optimisers of expensive functions."""

from skbo_silbo.optimizers._ask_tell import AskTellOptimizer
from skbo_silbo.optimizers._embedded import EmbeddedOptimizer
from skbo_silbo.optimizers._silbo import SILBO
from skbo_silbo.optimizers.configuration import Configuration
from skbo_silbo.optimizers.history import BeyondModelWarning

__all__ = ["AskTellOptimizer", "BeyondModelWarning", "Configuration", "EmbeddedOptimizer", "SILBO"]
