"""A number or None: what a device function returns on some paths only, or a variable holds.

A value is a pair: True in the lanes that have a number, and the number. Where a number is needed
and a lane has none, a GPU computes with anything; here it is an error."""

from __future__ import annotations

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.messages import Source, message
from warpwise.simt.compiler.closures import Code, Number, Run, cast_code, optional
from warpwise.simt.lanes.masks import Mask, covers
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.site import Site
from warpwise.simt.types import NONE, DType, OptionalType, Type, Value, cast, is_scalar


def read(run: Run, t: Type, kept: OptionalType | None) -> Code:
    """Compile the read of a variable of type ``t`` here; ``kept``: it is stored as a pair."""
    if kept is None or not (t == NONE or is_scalar(t)):
        return cast_code(run, t)
    if is_scalar(t):
        return Number(lambda frame, mask: cast(run(frame, mask)[1], t), t)
    return Code(lambda frame, mask: None, t)


def is_none(code: Code) -> Run:
    run = code.run
    return lambda frame, mask: np.logical_not(run(frame, mask)[0])


def present(value: Value, mask: Mask, site: Site, text: str) -> Value:
    """Return the number of each active lane. Raises KernelTypeError where there is none."""
    some, number = value
    missing = mask.grid() & np.logical_not(some)
    if missing.any():
        raise KernelTypeError(
            message("{text} is None in this thread, and a number is needed", text=Source(text)),
            site.where(**mask.group.first_of(missing)),
            "test it with is not None first",
        )
    return number


def unwrapped(code: Code, item: DType, site: Site, text: str) -> Number:
    """Compile a number that must be there; ``text``: of the expression."""
    run = code.run
    return Number(lambda frame, mask: present(run(frame, mask), mask, site, text), item)


def returned(inner: Frame, mask: Mask, t: OptionalType) -> Value:
    """Return what a function gave back: None in the lanes that left it without a number."""
    if inner.returned is None:
        return optional(None, NONE, t)
    some = True if covers(inner.returned, mask) else inner.returned.grid()
    return some, cast(inner.result, t.item)
