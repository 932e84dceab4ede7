"""Random linear maps from few coordinates to all inputs, drawn before anything is learnt."""

from skbo_silbo.sketch._count import CountSketch
from skbo_silbo.sketch._gaussian import GaussianSketch

__all__ = ["CountSketch", "GaussianSketch"]
