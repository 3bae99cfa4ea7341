"""Predicted times in charts: what the stopwatch says of each GPU, kept in ``measurements``.

``warpwise measure --predict DEVICE`` writes ``measurements/predicted/<device>.json``, with rows as
in a record, whose times are predictions, so that the book needs no compiler and no minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warpwise.benchmark_records import PREDICTED, Record, Row, folder, slug
from warpwise.errors import MeasureError


def predictions(suite: str, device: str, where: Path | None = None) -> Record | None:
    """Return what is predicted of a suite for a device of ``warpwise.devices``, if anything is.

    Raises MeasureError, one line, for a file that holds no predictions."""
    path = (where or folder()) / PREDICTED / f"{slug(device)}.json"
    if not path.exists():
        return None
    try:
        data = json.loads(path.read_text("utf-8"))
        rows = tuple(_row(row) for row in data["rows"] if row["suite"] == suite)
        return Record(suite, data["device"], data["date"], rows, data) if rows else None
    except (ValueError, KeyError, TypeError) as error:
        raise MeasureError(
            f"{path} holds no predictions ({type(error).__name__}: {error})"
        ) from error


def _row(data: dict[str, Any]) -> Row:
    ms = data["predicted_ms"][0] if "predicted_ms" in data else None
    moved, flops, steps = (data.get(name, 0) for name in ("bytes", "flops", "steps"))
    return Row(
        data["case"],
        data["variant"],
        "numba",
        data.get("parameters", {}),
        (),
        ms,
        moved / ms / 1e6 if ms and moved else None,
        flops / ms / 1e9 if ms and flops else None,
        1e6 * ms / steps if ms and steps else None,
        data.get("problem", ""),
    )
