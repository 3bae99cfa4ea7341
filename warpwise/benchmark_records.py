"""Records of measurements on real GPUs, in ``measurements/<device>/<suite>.json``.

``warpwise measure`` writes them, and charts read them."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwise.errors import MeasureError

FOLDER = "measurements"
PREDICTED = "predicted"  # folder beside those of devices, with a file for each
EQUAL = "equal"  # the verdict on a pattern whose counters are the GPU's
FIRST = "H200"  # the device that the book's charts draw before others


@dataclass(frozen=True)
class Row:
    """One variant of one case, as it was measured.

    ``samples_ms``: milliseconds of single runs. ``problem``: why there are none. ``note``: what is
    special about the variant, or the cause why its counters differ."""

    case: str
    variant: str
    by: str
    parameters: dict[str, Any]
    samples_ms: tuple[float, ...]
    median_ms: float | None
    GB_per_s: float | None
    TFLOP_per_s: float | None
    ns_per_step: float | None
    problem: str = ""
    note: str = ""

    @property
    def tokens_per_s(self) -> float | None:
        """The tokens a second of a whole training step; None of one of its kernels."""
        tokens = self.parameters.get("tokens")
        if not tokens or not self.median_ms or "piece" in self.parameters:
            return None
        return float(1e3 * tokens / self.median_ms)


@dataclass(frozen=True)
class Record:
    """One suite on one device.

    ``contents``: the whole file, with driver, versions, clocks, date, command and raw samples."""

    suite: str
    device: str
    date: str
    rows: tuple[Row, ...]
    contents: dict[str, Any]


def slug(name: str) -> str:
    """Return the folder's name of a device: ``NVIDIA H200`` -> ``nvidia-h200``."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def folder() -> Path:
    """Return the folder of records.

    WARPWISE_MEASUREMENTS, or ``measurements`` in this folder or one above it, or beside the
    package."""
    if named := os.environ.get("WARPWISE_MEASUREMENTS"):
        return Path(named)
    here = Path.cwd()
    found = (
        place / FOLDER
        for place in (here, *here.parents)
        if (place / FOLDER).is_dir() and (place / "chapters").is_dir()
    )
    return next(found, Path(__file__).resolve().parent.parent / FOLDER)


def read(path: str | Path) -> Record:
    """Read a record. Raises MeasureError, one line, for a missing file or one that is no record."""
    path = Path(path)
    try:
        data = json.loads(path.read_text("utf-8"))
        rows = tuple(_row(row) for row in data["rows"])
        return Record(data["suite"], data["device"], data["date"], rows, data)
    except OSError as error:
        raise MeasureError(f"no record of measurements at {path} ({error.strerror})") from error
    except (ValueError, KeyError, TypeError) as error:
        raise MeasureError(
            f"{path} is no record of `warpwise measure` ({type(error).__name__}: {error})"
        ) from error


def _row(data: dict[str, Any]) -> Row:
    return Row(
        data["case"],
        data["variant"],
        data["by"],
        data.get("parameters", {}),
        tuple(data.get("samples_ms", ())),
        data.get("median_ms"),
        data.get("GB_per_s"),
        data.get("TFLOP_per_s"),
        data.get("ns_per_step"),
        data.get("problem", ""),
        data.get("note", ""),
    )


def recorded(suite: str, where: Path | None = None) -> tuple[Record, ...]:
    """Return the records of a suite, one for each measured device, an H200's first."""
    found = [read(path) for path in sorted((where or folder()).glob(f"*/{suite}.json"))]
    return tuple(sorted(found, key=lambda record: (FIRST not in record.device, record.device)))


def predicted_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of predictions, none if there is no such file."""
    found: list[dict[str, Any]] = []
    if path.exists():
        found = json.loads(path.read_text("utf-8"))["rows"]
    return found


def predicted_times(
    device: str, where: Path | None = None
) -> dict[tuple[str, str, str], list[float]]:
    """Return milliseconds that were predicted for a GPU: [expected, least, most].

    By suite, case and variant. ``device``: the GPU's name, as its driver says it."""
    files = sorted(((where or folder()) / PREDICTED).glob("*.json"))
    rows = [row for path in files if is_of(path.stem, device) for row in predicted_rows(path)]
    return {
        (row["suite"], row["case"], row["variant"]): row["predicted_ms"]
        for row in rows
        if "predicted_ms" in row
    }


def is_of(name: str, device: str) -> bool:
    """Return True if a product such as "A100 80 GB SXM" may be what a driver calls ``device``.

    Of the name all words with a digit must be there: drivers say the others differently."""
    words = [word for word in slug(name).split("-") if any(map(str.isdigit, word))]
    return all(word in slug(device) for word in words)
