"""Charts for a page of the book: Matplotlib figures as SVG inside the page, in the page's own ink.

A picture file has one colour for its axes and letters, which is wrong in either light or dark.
Inside the page, what was drawn in ``INK`` becomes ``currentColor``: it follows the theme, the
printer and a reader's own settings. USED and WASTE are easy to see on both, and are those of the
burst widget. A screen reader reads the chart's ``alt`` text instead of its letters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from io import StringIO

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

USED = "#2b82c4"
WASTE = "#c9730c"
INK = "#010203"  # stands for the colour of the text around the chart
FAINT = "#010204"  # the same, for grids: lighter

FONT = "system-ui, Arial, sans-serif"

STYLE = {
    "svg.fonttype": "none",  # letters stay letters, in the page's font and selectable
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.titleweight": "normal",
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "legend.frameon": False,
    "hatch.linewidth": 1.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}


@dataclass(frozen=True)
class Chart:
    """A finished chart; ``alt`` says in words what it shows, for where there is no picture."""

    svg: str
    alt: str

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.alt


def chart(figure: Figure, alt: str) -> Chart:
    """Turn a figure into a Chart, and close it.

    ``alt`` says in a sentence or two what it shows. Draw the figure after
    ``plt.rcParams.update(STYLE)``."""
    out = StringIO()
    # The salt makes the names of clip paths differ between charts of one page, and the same in
    # every build.
    with plt.rc_context({"svg.hashsalt": alt}):
        figure.savefig(
            out, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None}
        )
    plt.close(figure)
    return Chart(_inline(out.getvalue(), alt), alt)


def _inline(svg: str, alt: str) -> str:
    """Return the SVG element alone, in the page's ink and font, no wider than there is room."""
    _, box, rest = re.split(r'viewBox="([^"]*)"', svg, maxsplit=1)
    shapes = rest[rest.index(">") + 1 :]
    shapes = re.sub(r"<(metadata|style).*?</\1>\s*", "", shapes, flags=re.DOTALL)
    shapes = re.sub(r"font-family: [^;\"]*", f"font-family: {FONT}", shapes)
    # every figure has a figure_1, and nothing refers to it
    shapes = re.sub(r' id="[a-z0-9.]+_\d+"', "", shapes)
    shapes = shapes.replace(FAINT, "color-mix(in srgb, currentColor 22%, transparent)")
    shapes = shapes.replace(INK, "currentColor")
    width = float(box.split()[2]) * 4 / 3  # points to CSS pixels
    look = f"width:{width:.0f}px;max-width:100%;height:auto;stroke-linejoin:round"
    return (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{box}" role="img" '
        f'aria-label="{escape(alt)}" style="{look}">{shapes}'
    )
