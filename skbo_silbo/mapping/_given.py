"""A mapping of the user's own, with `lift` and `carry` alone."""

from dataclasses import dataclass

from skbo_silbo._checks import check_members
from skbo_silbo.mapping._mapping_protocol import FullMapping, Mapping


@dataclass(frozen=True)
class GivenMapping:
    """A mapping of two methods as one that the loop can work with.

    Points stay when the embedding changes, and every point is made from coordinates.

    Attributes
    ----------
    given : Mapping
    """

    given: Mapping

    keeps_coordinates = False

    def lift(self, Z, embedding, incumbent):
        """Return what the mapping given does."""
        return self.given.lift(Z, embedding, incumbent)

    def carry(self, X, embedding):
        """Return what the mapping given does."""
        return self.given.carry(X, embedding)

    def place(self, found, embedding, incumbent):
        """Return the points of the coordinates that a search found."""
        return self.lift(found.Z, embedding, incumbent)

    def settle(self, x, z, embedding, rng):
        """Return x."""
        return x


def as_mapping(mapping):
    """Return a mapping that the loop can work with.

    Raises
    ------
    ValueError
        When `lift` or `carry` is missing, or it is a class.
    """
    check_members("mapping", mapping, Mapping)
    return mapping if isinstance(mapping, FullMapping) else GivenMapping(mapping)
