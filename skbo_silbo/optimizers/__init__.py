"""Ask-and-tell optimisers of expensive functions."""

from skbo_silbo.optimizers._ask_tell import AskTellOptimizer
from skbo_silbo.optimizers._configuration import Configuration
from skbo_silbo.optimizers._embedded import EmbeddedOptimizer
from skbo_silbo.optimizers._history import BeyondModelWarning
from skbo_silbo.optimizers._silbo import SILBO

__all__ = ["AskTellOptimizer", "BeyondModelWarning", "Configuration", "EmbeddedOptimizer", "SILBO"]
