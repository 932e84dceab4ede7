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


def new_figure(display: str, *size: float) -> Any:
    """Return a figure; matplotlib is imported for no other reason than to make one.

    Parameters
    ----------
    display : str
        Who needs it.
    *size : float
        Width and height in inches; matplotlib's own if not given.

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
    return plt.figure(figsize=size or None, layout="constrained")


class PanelDisplay:
    """Panels, each a function that draws on the axes it is given."""

    axes_: NDArray[np.object_]
    figure_: Any

    def _draw(self, panels, ax, make_axes):
        """Draw on the axes given, one for each panel, or on those that `make_axes` makes.

        Raises
        ------
        ValueError
            When there are more axes, or fewer, than panels.
        """
        n = len(panels)
        self.axes_ = np.asarray(make_axes(n) if ax is None else ax, dtype=object).ravel()
        if len(self.axes_) != n:
            raise ValueError(
                f"ax must hold one Axes for each of the {n} panels: got {len(self.axes_)}. Pass as "
                "many, or ax=None."
            )
        self.figure_ = self.axes_[0].figure
        for draw, axes in zip(panels, self.axes_, strict=True):
            draw(axes)
        return self
