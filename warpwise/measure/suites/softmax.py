"""Row softmax of a float32 matrix of constant size, over the length of a row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from warpwise.kernels import softmax
from warpwise.measure.case import Bar, Case, ours
from warpwise.measure.correctness import SHARE, OnDevice
from warpwise.measure.place import Place

TITLE = "Row softmax over the length of a row"
BARS = (
    Bar("softmax, short rows", "softmax 65536 x 1024 float32", "softmax_*", "copy", 0.80, 0.92),
    Bar("softmax, long rows", "softmax 8192 x 8192 float32", "softmax_*", "copy", 0.80, 0.92),
)


def cases(place: Place) -> Iterator[Case]:
    n = place.pick(full=2**26, quick=2**23, rehearsal=2**14)
    few = (1024, 4096)
    for columns in place.pick(full=(1024, 2048, 4096, 8192), quick=few, rehearsal=few):
        yield of_rows(place, n // columns, columns)


def of_rows(place: Place, rows: int, columns: int) -> Case:
    n, xp = rows * columns, place.xp
    x, y = place.random(n, low=-8, high=8), place.empty(n)
    matrix, result = x.reshape(rows, columns), y.reshape(rows, columns)
    steps = softmax.STEPS if columns <= softmax.LONGEST_OF_WARP else softmax.STEPS[:-1]

    def right() -> tuple[Any]:
        e = xp.exp(matrix.astype("float64"))
        return (e / e.sum(axis=1, keepdims=True),)

    def of_cupy() -> Any:
        e = xp.exp(matrix - matrix.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    check = OnDevice(place, right, rtol=1e-4, atol=1e-9)
    variants = [
        *ours(steps, (place.given(x), (rows, columns), place.given(y)), check.left_in(result)),
        check.returning("cupy", "cupy", of_cupy, note="five calls"),
    ]
    if torch := place.torch:
        run = partial(torch.softmax, place.tensor(matrix), 1)
        variants.append(check.returning("torch", "torch", run, note="torch.softmax"))
    return Case(
        f"softmax {rows} x {columns} float32",
        tuple(variants),
        want=check.want,
        **SHARE,
        bytes=8 * n,
        flops=5 * n,
        parameters={"rows": rows, "columns": columns},
    )
