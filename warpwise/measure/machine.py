"""The provenance of a measurement: device, driver, clocks, versions, date and command."""

from __future__ import annotations

import datetime
import platform
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from warpwise.measure.place import Place

PACKAGES = "numpy numba numba-cuda cupy-cuda12x cupy-cuda13x torch triton warpwise".split()
CLOCKS = ("clocks.sm", "clocks.mem", "clocks.max.sm", "power.draw", "temperature.gpu")
SECONDS_BETWEEN = 2.0  # nvidia-smi takes a tenth of a second


def provenance(place: Place) -> dict[str, Any]:
    """Return what a record states of the GPU and its software."""
    return {
        "device": place.name,
        "compute_capability": "{}.{}".format(*place.compute_capability),
        "sms": place.sms,
        "l2_bytes": place.l2_bytes,
        "driver": driver(),
        "cuda_runtime": runtime(place),
        "ncu": first_line(["ncu", "--version"], "Version"),
        "python": platform.python_version(),
        "versions": versions(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def command(arguments: list[str]) -> str:
    """Return the command line, with file names in place of absolute paths."""
    names = [Path(a).name if Path(a).is_absolute() else a for a in arguments]
    return " ".join(["warpwise", *names])


def driver() -> str | None:
    return first_line(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])


def bus(place: Place) -> str:
    return "" if place.rehearsal else place.xp.cuda.Device(0).pci_bus_id


def runtime(place: Place) -> str:
    """Return the version of CUDA that CuPy uses, such as ``13.0``; empty in a rehearsal."""
    if place.rehearsal:
        return ""
    number = place.xp.cuda.runtime.runtimeGetVersion()
    return f"{number // 1000}.{number % 1000 // 10}"


def first_line(command: list[str], holding: str = "") -> str | None:
    """Return the first line of a command's output with a word; None without the command."""
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(command, capture_output=True, text=True)
    return next((line.strip() for line in done.stdout.splitlines() if holding in line), None)


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


@dataclass
class Clocks:
    """The range of nvidia-smi's readings while a suite runs: MHz, watts and degrees Celsius.

    ``bus``: the GPU's address on the PCI bus, which identifies it to nvidia-smi regardless of
    CUDA_VISIBLE_DEVICES.
    """

    seen: dict[str, list[float]] = field(default_factory=dict)
    last: float = -SECONDS_BETWEEN
    bus: str = ""
    under_way: subprocess.Popen[str] | None = field(default=None, repr=False)

    def begin(self) -> None:
        """Start nvidia-smi unless it ran just before; it answers while samples are taken."""
        if time.monotonic() - self.last < SECONDS_BETWEEN or shutil.which("nvidia-smi") is None:
            return
        self.last = time.monotonic()
        which = ["-i", self.bus] if self.bus else []
        query = ["--query-gpu=" + ",".join(CLOCKS), "--format=csv,noheader,nounits"]
        self.under_way = subprocess.Popen(
            ["nvidia-smi", *which, *query],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def end(self) -> None:
        """Keep the reading, if one was started."""
        if self.under_way is None:
            return
        line, self.under_way = self.under_way.communicate()[0], None
        for name, text in zip(CLOCKS, line.split(","), strict=False):
            try:
                value = float(text)
            except ValueError:  # [N/A], for instance on a laptop's GPU
                continue
            low, high = self.seen.get(name, (value, value))
            self.seen[name] = [min(low, value), max(high, value)]
