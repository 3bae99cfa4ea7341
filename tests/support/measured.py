"""What was measured on an NVIDIA H200, for tests of what pages say of it."""

from __future__ import annotations

import json
from typing import Any

from support.paths import ROOT


def record(suite: str) -> dict[str, Any]:
    """Return a suite's whole record."""
    return json.loads((ROOT / f"measurements/nvidia-h200/{suite}.json").read_text("utf-8"))


def rows(suite: str, case: str) -> dict[str, dict[str, Any]]:
    """Return the rows of one case by variant."""
    return {row["variant"]: row for row in record(suite)["rows"] if row["case"] == case}


def off(row: dict[str, Any]) -> float:
    """Return by how many per cent the predicted time is longer than the measured one."""
    return 100 * (row["predicted_ms"][0] / row["median_ms"] - 1)
