"""The course's picture, on the landing page and in README.md: a row and a column of a matrix.

It is drawn from the traces of two kernels, like every other picture. ``python -m
warpwise.book.picture`` rewrites the file, and a test compares the committed one with the drawing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from warpwise import cuda, trace
from warpwise.views import burst
from warpwise.views.request import Request, requests_of

PATH = Path(__file__).parents[2] / "chapters/images/burst.svg"


@cuda.jit
def read_row(a, out):
    lane = cuda.grid(1)
    out[lane] = a[0, lane]


@cuda.jit
def read_column(a, out):
    lane = cuda.grid(1)
    out[lane] = a[lane, 0]


def load_of(kernel: Any) -> Request:
    """Return the one load of a kernel, run by one warp on a 32 x 32 float32 matrix."""
    out = np.zeros(32, np.float32)
    requests = requests_of(trace(kernel, 1, 32, np.ones((32, 32), np.float32), out))
    return next(request for line in requests.values() for request in line if request.kind == "load")


def draw() -> str:
    """Return the picture as SVG."""
    captions = ("A warp reads a row, a[0, lane]", "The same warp reads a column, a[lane, 0]")
    return burst.svg(load_of(read_row), load_of(read_column), captions=captions)


if __name__ == "__main__":
    PATH.write_text(draw(), "utf-8")
