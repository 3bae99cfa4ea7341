"""The course's picture, on the landing page and in README.md: the same matrix read along a row and along a column.

Drawn from the traces of two kernels, like every other picture. ``python -m warpwise.book.picture`` writes it anew; a test
compares the committed file with what would be drawn.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpwise import cuda, trace
from warpwise.views import burst
from warpwise.views.request import Request, requests_of

PATH = Path(__file__).parent.parent.parent / "chapters" / "images" / "burst.svg"


@cuda.jit
def read_row(a, out):
    lane = cuda.grid(1)
    out[lane] = a[0, lane]


@cuda.jit
def read_column(a, out):
    lane = cuda.grid(1)
    out[lane] = a[lane, 0]


def load_of(kernel) -> Request:
    """The one load of a kernel that runs as one warp over a matrix of 32 by 32 floats."""
    out = np.zeros(32, np.float32)
    requests = requests_of(trace(kernel, 1, 32, np.ones((32, 32), np.float32), out))
    return next(request for line in requests.values() for request in line if request.kind == "load")


def draw() -> str:
    """The picture as SVG."""
    captions = ("A warp reads a row, a[0, lane]", "The same warp reads a column, a[lane, 0]")
    return burst.svg(load_of(read_row), load_of(read_column), captions=captions)


if __name__ == "__main__":
    PATH.write_text(draw(), "utf-8")
