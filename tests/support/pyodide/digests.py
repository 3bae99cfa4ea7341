"""Digests of what launches do: all counters, events, races and whole numbers, with their types.

They are those of the oracle's programs, and the same in every Python. Left out: values of
floating-point functions, which come from the system's library."""

from __future__ import annotations

import json
from dataclasses import fields
from hashlib import sha256

from support.programs import launches, stems
from warpwise import trace

#: Kernels that wait: without threads, warps go in step, and other lanes come first.
WAITING = {"largest_by_compare_and_swap"}


def digests() -> dict[str, str]:
    """Return a digest for each launch of each program."""
    found = [launch for stem in stems() for launch in launches(stem)]
    kept = [launch for launch in found if launch.kernel.py_func.__name__ not in WAITING]
    return {launch.name: digest(launch) for launch in kept}


def digest(launch) -> str:
    t = trace(launch.kernel, launch.blocks, launch.threads, *launch.args)
    columns = [getattr(t.records, field.name) for field in fields(t.records)]
    whole = [array for array in launch.arrays if array.dtype.kind in "iub"]
    said = sha256(repr((t.by_line, t.metrics, t.races, t.arrays, t.source)).encode())
    for array in (*columns, *whole):
        said.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
    return said.hexdigest()


if __name__ == "__main__":
    print(json.dumps(digests()))
