"""Between the few coordinates of an embedding and the many of the search space."""

from skbo_silbo.mapping._bottom_up import BottomUp
from skbo_silbo.mapping._linear import LinearEmbedding
from skbo_silbo.mapping._top_down import TopDown
from skbo_silbo.mapping._warping import clipped_image, warped_image

__all__ = ["BottomUp", "LinearEmbedding", "TopDown", "clipped_image", "warped_image"]
