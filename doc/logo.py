"""Draws the logo: points of two inputs, and the direction along which they matter.

``python doc/logo.py`` writes ``doc/_static/logo.svg``.
"""

from pathlib import Path

import numpy as np

SIZE, N_POINTS = 64, 18
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0  # its multiples fill an interval evenly
BLUE, GREY = "#0072B2", "#9aa4ad"


def draw():
    """Return the logo as SVG text: points coloured by their place along one direction."""
    along = np.linspace(-1.0, 1.0, N_POINTS)
    across = 1.7 * (np.arange(N_POINTS) * GOLDEN % 1.0) - 0.85
    direction = np.array([np.cos(np.pi / 5), -np.sin(np.pi / 5)])
    normal = direction[::-1] * [1, -1]
    places = SIZE / 2 + 24 * (along[:, None] * direction + across[:, None] * normal)
    ends = SIZE / 2 + 29 * np.array([-1.0, 1.0])[:, None] * direction
    marks = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{BLUE if t > 0 else GREY}"/>'
        for (x, y), t in zip(places, along, strict=True)
    ]
    (x0, y0), (x1, y1) = ends
    line = (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" '
        f'stroke="{BLUE}" stroke-width="3" stroke-linecap="round"/>'
    )
    inside = "\n".join([*marks, line])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}">\n{inside}\n</svg>\n'
    )


if __name__ == "__main__":
    (Path(__file__).parent / "_static" / "logo.svg").write_text(draw())
