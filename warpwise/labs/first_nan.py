"""Find the line of a kernel that stores the first NaN, in memory of any space.

A NaN in a variable is not seen before it is stored. Poison of an output is no such store, since the
kernel does not write it."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise import Observer, errors, trace
from warpwise.labs.exercise import Launch
from warpwise.labs.uses import quoted
from warpwise.simt import Kernel
from warpwise.simt.machine.observer import Request


class FirstNan(Observer):
    """Keeps the line of the first store of a NaN; 0 if there is none."""

    line = 0

    def store(self, request: Request) -> None:
        if self.line or request.value is None:
            return
        values = np.broadcast_to(request.value, request.mask.group.shape)
        if values.dtype.kind == "f" and np.isnan(values[request.mask.grid()]).any():
            self.line = request.site.line


def first_nan(kernel: Kernel, launch: Launch, args: list[Any]) -> str:
    """Say which line stores the first NaN when ``args`` are launched; "" if none does."""
    seen = FirstNan()
    size = launch.blocks, launch.threads
    try:
        made = trace(kernel, *size, *args, record=(), sanitize=False, observers=seen)
    except errors.WarpwiseError:
        return ""
    if not seen.line:
        return ""
    text = made.source.get(seen.line, "").strip()
    return f"\nthe first one is stored on\n{quoted(seen.line, text)}"
