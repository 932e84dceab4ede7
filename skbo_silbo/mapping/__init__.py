"""Between the few coordinates of an embedding and the many of the search space."""

from skbo_silbo.mapping._bottom_up import BottomUp
from skbo_silbo.mapping._brief_evolution import BriefTopDown
from skbo_silbo.mapping._given import GivenMapping, as_mapping
from skbo_silbo.mapping._inverse import InverseMapping
from skbo_silbo.mapping._ledger import CoordinateLedger, PointLedger, make_ledger
from skbo_silbo.mapping._mapping_protocol import FullMapping, Mapping
from skbo_silbo.mapping._top_down import TopDown

__all__ = [
    "BottomUp",
    "BriefTopDown",
    "CoordinateLedger",
    "FullMapping",
    "GivenMapping",
    "InverseMapping",
    "Mapping",
    "PointLedger",
    "TopDown",
    "as_mapping",
    "make_ledger",
]
