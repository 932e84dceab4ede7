"""Looking at fitted directions, how far resampling moves them, and at searches: plots."""

from ._bootstrap import DirectionBootstrap, bootstrap_directions
from ._display import SubspaceDisplay
from ._search_display import SearchDisplay

__all__ = ["DirectionBootstrap", "SearchDisplay", "SubspaceDisplay", "bootstrap_directions"]
