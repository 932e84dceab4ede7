"""Between the few coordinates of an embedding and the many of the search space."""

from skbo_silbo.mapping._mapping_protocol import Mapping
from skbo_silbo.mapping._top_down import TopDown

__all__ = ["TopDown", "Mapping"]
