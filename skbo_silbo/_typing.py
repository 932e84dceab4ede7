"""Names of the types that public signatures share."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NewType, Protocol, SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike
    from typing_extensions import TypeVar  # type checkers bring it
else:
    from typing import TypeVar

    ArrayLike = NewType("ArrayLike", object)  # by name: help() would spell numpy's union out
    ArrayLike.__module__ = "numpy.typing"


class SpaceLike(Protocol):
    """What `Space`, `SpaceUnion` and `Box` have in common."""

    is_dict: bool
    n_features_: int

    @property
    def n_points(self) -> float:
        """How many points there are, `math.inf` where they are not finitely many."""

    def encode(self, points: Any, /) -> NDArray[np.float64]:
        """Return places in the cube."""

    def decode(self, X: ArrayLike, /) -> Any:
        """Return points."""

    def round(self, X: ArrayLike, /) -> NDArray[np.float64]:
        """Return the places in the cube that stand for points."""

    def column_groups(self) -> dict[str, list[int]]:
        """Return which columns each input has."""

    def categories(self) -> list[Any]:
        """Return the categorical parameters."""

    def every_point(self) -> NDArray[np.float64]:
        """Return all points of a finite space, in the cube."""


class TransformerLike(Protocol):
    """A transformer in the manner of scikit-learn."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Learn."""

    def transform(self, *args: Any, **kwargs: Any) -> Any:
        """Map."""


class InvertibleTransformerLike(TransformerLike, Protocol):
    """A transformer that maps back."""

    def inverse_transform(self, *args: Any, **kwargs: Any) -> Any:
        """Map back."""


class RegressorLike(Protocol):
    """A regressor in the manner of scikit-learn."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Learn."""

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """Predict, with ``return_std``."""


class BlockArray(Protocol):
    """A Dask array: blocks of rows that are not computed yet."""

    @property
    def chunks(self) -> tuple[tuple[float, ...], ...]:
        """The sizes of the blocks."""

    def rechunk(self, chunks: Any = ..., /) -> Any:
        """Return the same array in other blocks."""


class ExecutorLike(Protocol):
    """An executor in the manner of ``concurrent.futures``."""

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        """Return the future of a call."""


FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.integer[Any]]
Auto: TypeAlias = Literal["auto"]
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
LegacyRandomState: TypeAlias = int | np.random.RandomState | None  # as scikit-learn takes it
BoundsLike: TypeAlias = (
    ArrayLike | Bounds | Mapping[str, Any] | Sequence[Mapping[str, Any]] | SpaceLike
)
Constraint: TypeAlias = LinearConstraint | NonlinearConstraint | Callable[[Any], bool]
NamedConstraint: TypeAlias = tuple[Sequence[str], LinearConstraint | NonlinearConstraint]
ConstraintsLike: TypeAlias = (
    Constraint | NamedConstraint | Sequence[Constraint | NamedConstraint] | None
)
Points: TypeAlias = FloatArray | list[dict[str, Any]]
if TYPE_CHECKING:
    PointT = TypeVar("PointT", default=Any)  # what a lambda is called with cannot be inferred
else:
    PointT = TypeVar("PointT")
Objective: TypeAlias = Callable[[PointT], SupportsFloat | tuple[SupportsFloat, ArrayLike]]
Design: TypeAlias = Callable[[int, int, np.random.Generator], FloatArray]
