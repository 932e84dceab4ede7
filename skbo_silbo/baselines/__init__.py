"""Random search, two random embeddings, and the two algorithms of the SILBO paper."""

from skbo_silbo.baselines._baseline import RandomSearch
from skbo_silbo.baselines._random_embeddings import REMBO, HeSBO
from skbo_silbo.baselines._silbo_as_printed import SILBOBottomUp, SILBOTopDown

__all__ = ["HeSBO", "REMBO", "RandomSearch", "SILBOBottomUp", "SILBOTopDown"]
