"""A run before any reader's: it imports what most of them need, for the image of Python that a
browser keeps (``book/editor/image.js``)."""

from __future__ import annotations

import numpy as np

from warpwise import trace
from warpwise.cells import Page
from warpwise.kernels.copy import copy_1_plain


def first_run() -> str:
    """Run a cell, and show a launch; return what the cell shows."""
    x = np.zeros(32, np.float32)
    trace(copy_1_plain, 1, 32, x, np.zeros_like(x), 32).show()._repr_html_()
    return Page([]).run("from warpwise import cuda, trace\n1").value
