"""What the loop asks of a mapping between coordinates z and points x of the cube."""

from typing import Protocol, runtime_checkable


class Mapping(Protocol):
    """The two methods of a mapping: all that one of your own needs."""

    def lift(self, Z, embedding, incumbent):
        """Return points of the cube, (m, d), for coordinates Z, (m, r).

        `incumbent`, (d,), is the best point known.
        """

    def carry(self, X, embedding):
        """Return the coordinates, (n, r), of evaluated points X, (n, d), under this embedding."""


@runtime_checkable
class FullMapping(Mapping, Protocol):
    """What the loop works with; `as_mapping` makes one of any `Mapping`."""

    keeps_coordinates: bool
    """Whether coordinates stay, and points move, when the embedding changes."""

    def place(self, found, embedding, incumbent):
        """Return points of the cube, (m, d), for what a search found (`Found`)."""

    def settle(self, x, z, embedding, rng):
        """Return the point to evaluate, given the one chosen, (d,): a costlier preimage, or x."""
