"""Records of measurements on real GPUs: ``measurements/<device>/<suite>.json``, which ``warpwise measure`` writes and charts read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwise.errors import MeasureError

FOLDER = "measurements"
EQUAL = "equal"  # the verdict on a pattern whose counters are the GPU's
FIRST = "H200"  # the device that the book's charts draw before others


@dataclass(frozen=True)
class Row:
    """One variant of one case, as it was measured. ``samples_ms``: milliseconds of single runs. ``problem``: why there are none."""

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


@dataclass(frozen=True)
class Record:
    """One suite on one device. ``told``: all that the file holds, with driver, versions, clocks, date, command and raw samples."""

    suite: str
    device: str
    date: str
    rows: tuple[Row, ...]
    told: dict[str, Any]


def slug(name: str) -> str:
    """``NVIDIA H200`` -> ``nvidia-h200``: the folder's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def folder() -> Path:
    """Where records are: WARPWISE_MEASUREMENTS, or ``measurements`` in this folder or one above it, or beside the package."""
    if named := os.environ.get("WARPWISE_MEASUREMENTS"):
        return Path(named)
    here = Path.cwd()
    found = (place / FOLDER for place in (here, *here.parents) if (place / FOLDER).is_dir() and (place / "chapters").is_dir())
    return next(found, Path(__file__).resolve().parent.parent / FOLDER)


def read(path: str | Path) -> Record:
    """A record. Raises MeasureError, one line, where there is none or the file is none."""
    path = Path(path)
    try:
        told = json.loads(path.read_text("utf-8"))
        rows = tuple(_row(row) for row in told["rows"])
        return Record(told["suite"], told["device"], told["date"], rows, told)
    except OSError as error:
        raise MeasureError(f"no record of measurements at {path} ({error.strerror})") from error
    except (ValueError, KeyError, TypeError) as error:
        raise MeasureError(f"{path} is no record of `warpwise measure` ({type(error).__name__}: {error})") from error


def _row(told: dict[str, Any]) -> Row:
    numbers = {name: told.get(name) for name in ("median_ms", "GB_per_s", "TFLOP_per_s", "ns_per_step")}
    samples = tuple(told.get("samples_ms", ()))
    return Row(told["case"], told["variant"], told["by"], told.get("parameters", {}), samples, **numbers, problem=told.get("problem", ""))


def recorded(suite: str, where: Path | None = None) -> tuple[Record, ...]:
    """The records of a suite, one for each device: an H200's first, then by name. None where nothing was measured."""
    found = [read(path) for path in _files(suite, folder() if where is None else where)]
    return tuple(sorted(found, key=lambda record: (FIRST not in record.device, record.device)))


def _files(suite: str, where: Path) -> Iterator[Path]:
    yield from sorted(where.glob(f"*/{suite}.json"))
