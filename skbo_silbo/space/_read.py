"""Reading what a user may give as a search space."""

from collections.abc import Mapping

from skbo_silbo.space._box import Box
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion


def as_space(bounds):
    """Return the search space that `bounds` describes.

    Parameters
    ----------
    bounds : Space, SpaceUnion, Box, dict, list of dicts, array-like of shape (d, 2) or \
scipy.optimize.Bounds
        A dict is read as a `Space`, a list of dicts as a `SpaceUnion` (of one, as a `Space`), an
        array or `Bounds` as a `Box`.

    Returns
    -------
    space : Space, SpaceUnion or Box
        Given back itself if it is one already.

    Raises
    ------
    ValueError
        As `Space`, `SpaceUnion` and `Box` do.

    Examples
    --------
    >>> as_space([(0, 1), (0, 2)])
    Box(d=2)
    >>> as_space({"C": [1, 10]})
    Space(C)
    >>> as_space([{"C": [1, 10]}, {"nu": [0.1, 0.5]}])
    SpaceUnion(Space(C), Space(nu))
    """
    if isinstance(bounds, (Space, SpaceUnion, Box)):
        return bounds
    if isinstance(bounds, Mapping):
        return Space(bounds)
    if isinstance(bounds, (list, tuple)) and any(isinstance(b, (Mapping, Space)) for b in bounds):
        return SpaceUnion(bounds) if len(bounds) > 1 else as_space(bounds[0])
    return Box(bounds)
