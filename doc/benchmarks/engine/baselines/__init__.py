"""Optimisers from the literature that only the reproduction of the paper needs.

`minimize` accepts these classes as its `method`, and REMBO, HeSBO and the two algorithms of the
paper are in `skbo_silbo.baselines`.
"""

from functools import partial
from types import MappingProxyType

from .add_bo import AddBO
from .baselines_as_run import HeSBOAsRun, REMBOAsRun, SIRBOAsRun
from .bock import BOCK
from .rembo_variants import ImageREMBO, ZonotopeREMBO
from .si_bo import SIBO
from .silbo_as_run import LabelledBottomUpAsRun, SILBOBottomUpAsRun, SILBOTopDownAsRun
from .sir_bo import KSIRBO, SIRBO

BASELINES = MappingProxyType(
    {
        "silbo-bu-as-run": SILBOBottomUpAsRun,
        "silbo-td-as-run": SILBOTopDownAsRun,
        "rembo-kx": partial(ImageREMBO, kernel="x"),
        "rembo-kpsi": partial(ImageREMBO, kernel="psi"),
        "rembo-zonotope": ZonotopeREMBO,
        "sir-bo": SIRBO,
        "ksir-bo": KSIRBO,
        "si-bo": SIBO,
        "add-bo": AddBO,
        "bock": BOCK,
    }
)
"""Values of `method`, by their names in the results."""

__all__ = [
    "AddBO",
    "BASELINES",
    "BOCK",
    "HeSBOAsRun",
    "ImageREMBO",
    "KSIRBO",
    "LabelledBottomUpAsRun",
    "REMBOAsRun",
    "SIBO",
    "SILBOBottomUpAsRun",
    "SILBOTopDownAsRun",
    "SIRBO",
    "SIRBOAsRun",
    "ZonotopeREMBO",
]
