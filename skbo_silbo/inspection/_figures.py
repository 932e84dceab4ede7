"""Figures and axes for the panels of a display."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # exported
else:  # hints can be read without matplotlib
    Axes = Any

AxesLike: TypeAlias = Axes | Sequence[Axes] | NDArray[np.object_]


def import_pyplot(display: str) -> Any:
    """Return `matplotlib.pyplot`, which is imported for no other reason than to draw.

    Parameters
    ----------
    display : str
        Who needs it.

    Raises
    ------
    ImportError
        When matplotlib is missing.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{display} requires matplotlib. Install it with: pip install 'skbo_silbo[plot]'"
        ) from error
    return plt


def given_axes(ax: "AxesLike", n_panels: int) -> NDArray[np.object_]:
    """Return the axes given as an array, one for each panel.

    Raises
    ------
    ValueError
        When they are more or fewer.
    """
    axes = np.asarray(ax, dtype=object).ravel()
    if len(axes) != n_panels:
        raise ValueError(
            f"ax must hold one Axes for each of the {n_panels} panels: got {len(axes)}. "
            "Pass as many, or ax=None."
        )
    return axes
