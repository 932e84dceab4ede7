"""Types used in public signatures."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NewType, Protocol, SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike
    from typing_extensions import TypeVar  # bundled with type checkers
else:
    from typing import TypeVar

    ArrayLike = NewType("ArrayLike", object)  # otherwise help() prints NumPy's long union
    ArrayLike.__module__ = "numpy.typing"


class SpaceLike(Protocol):
    """Search space: a `Space`, `SpaceUnion` or `Box`."""

    is_dict: bool
    n_features_: int


class TransformerLike(Protocol):
    """Transformer with scikit-learn's interface."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Fit the transformer to X and y."""

    def transform(self, *args: Any, **kwargs: Any) -> Any:
        """Transform the samples X."""


class RegressorLike(Protocol):
    """Regressor with scikit-learn's interface."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Fit the regressor to X and y."""

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """Predict targets, and their standard deviations if ``return_std=True``."""


class BlockArray(Protocol):
    """Dask array, which consists of blocks."""

    @property
    def chunks(self) -> tuple[tuple[float, ...], ...]:
        """Sizes of the blocks along each axis."""

    def rechunk(self, chunks: Any = ..., /) -> Any:
        """Return the Dask array divided into blocks of other sizes."""


class ExecutorLike(Protocol):
    """Executor with the interface of ``concurrent.futures``."""

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        """Schedule a function call and return its future."""


FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.integer[Any]]
Auto: TypeAlias = Literal["auto"]
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
LegacyRandomState: TypeAlias = int | np.random.RandomState | None  # as in scikit-learn
BoundsLike: TypeAlias = (
    ArrayLike | Bounds | Mapping[str, Any] | Sequence[Mapping[str, Any]] | SpaceLike
)
Constraint: TypeAlias = LinearConstraint | NonlinearConstraint | Callable[[Any], bool]
NamedConstraint: TypeAlias = tuple[Sequence[str], LinearConstraint | NonlinearConstraint]
ConstraintsLike: TypeAlias = (
    Constraint | NamedConstraint | Sequence[Constraint | NamedConstraint] | None
)
Content: TypeAlias = dict[str, Any]  # JSON data of a record or header
Damaged: TypeAlias = Callable[[int, Any], Exception]  # (number of a record, reason) -> error
Path: TypeAlias = str | os.PathLike[str]
Rows: TypeAlias = list[dict[str, Any]]  # results of the fits of a candidate
if TYPE_CHECKING:
    PointT = TypeVar("PointT", default=Any)  # the argument type of a lambda cannot be inferred
else:
    PointT = TypeVar("PointT")
Objective: TypeAlias = Callable[[PointT], SupportsFloat | tuple[SupportsFloat, ArrayLike]]
Design: TypeAlias = Callable[[int, int, np.random.Generator], FloatArray]
