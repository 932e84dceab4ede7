"""Looking at fitted directions: plots, and how far resampling moves them."""

from ._bootstrap import DirectionBootstrap, bootstrap_directions
from ._display import SubspaceDisplay

__all__ = ["DirectionBootstrap", "SubspaceDisplay", "bootstrap_directions"]
