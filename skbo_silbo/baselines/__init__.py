"""Optimisers from the literature."""

from skbo_silbo.baselines._add_bo import AddBO
from skbo_silbo.baselines._baseline import RandomSearch
from skbo_silbo.baselines._bock import BOCK
from skbo_silbo.baselines._random_embeddings import REMBO, HeSBO
from skbo_silbo.baselines._si_bo import SIBO
from skbo_silbo.baselines._silbo_as_printed import SILBOBottomUp, SILBOTopDown
from skbo_silbo.baselines._silbo_as_run import SILBOBottomUpAsRun, SILBOTopDownAsRun
from skbo_silbo.baselines._sir_bo import SIRBO

__all__ = [
    "AddBO",
    "BOCK",
    "HeSBO",
    "REMBO",
    "RandomSearch",
    "SIBO",
    "SILBOBottomUp",
    "SILBOBottomUpAsRun",
    "SILBOTopDown",
    "SILBOTopDownAsRun",
    "SIRBO",
]
