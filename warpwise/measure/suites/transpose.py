"""Transposition of a float32 matrix, with sides that are powers of two and with others."""

from __future__ import annotations

from collections.abc import Iterator

from warpwise.kernels import transpose
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.correctness import SHARE, OnDevice
from warpwise.measure.place import Place

TITLE = "Transpose of a float32 matrix"
BARS = (Bar("transpose", "transpose 8192 x 8192 float32", "transpose_*", "copy", 0.80, 0.95),)


def cases(place: Place) -> Iterator[Case]:
    full, quick = ((8192, 8192), (8200, 9000)), ((4096, 4096), (4104, 4500))
    for shape in place.pick(full=full, quick=quick, rehearsal=((64, 128), (68, 100))):
        yield transposed(place, *shape)


def transposed(place: Place, rows: int, columns: int) -> Case:
    n, xp = rows * columns, place.xp
    source, target = place.random(n), place.empty(n)
    square, turned = source.reshape(rows, columns), target.reshape(columns, rows)
    check = OnDevice(place, lambda: (square.T.astype("float64"),))
    left = check.left_in(turned)
    variants = [
        *ours(transpose.STEPS, (place.given(source), (rows, columns), place.given(target)), left),
        Variant("cupy", "cupy", lambda: xp.copyto(turned, square.T), left),
    ]
    if place.torch:
        tensor, to = place.tensor(square), place.tensor(turned)
        variants.append(Variant("torch", "torch", lambda: to.copy_(tensor.t()), left))
    return Case(
        f"transpose {rows} x {columns} float32",
        tuple(variants),
        want=check.want,
        **SHARE,
        bytes=8 * n,
        parameters={"rows": rows, "columns": columns},
    )
