"""The file of a saved trace: NumPy's npz, without pickle.

A JSON header and columns of equal length; ``Trace`` decides what is in them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from warpwise.errors import TraceError

FORMAT = 4


def write(path: str | Path, header: dict[str, Any], columns: dict[str, Any]) -> None:
    """Write a header of JSON values, and arrays as columns."""
    text = json.dumps({"format": FORMAT} | header).encode()
    with open(path, "wb") as out:
        np.savez_compressed(out, header=np.frombuffer(text, np.uint8), **columns)


def read(path: str | Path, names: Iterable[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header, with tuples for its lists, and the columns of these names.

    Raises TraceError for another format, and what NumPy and JSON raise where the file is none."""
    with np.load(path, allow_pickle=False) as data:
        header = _tupled(json.loads(data["header"].tobytes()))
        if header["format"] != FORMAT:
            raise TraceError(_other_format(path, header["format"]))
        return header, {name: data[name] for name in names}


def _other_format(path: str | Path, version: object) -> str:
    remedy = "update Warpwise, or save the trace with this version"
    if isinstance(version, int) and version < FORMAT:
        remedy = "trace the kernel again and save it"
    return (
        f"{path} has trace format {version}, "
        f"and this version of Warpwise reads format {FORMAT}: {remedy}"
    )


def _tupled(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_tupled, value))
    return {key: _tupled(item) for key, item in value.items()} if isinstance(value, dict) else value
