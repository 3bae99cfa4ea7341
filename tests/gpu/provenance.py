"""Where a measurement comes from: the device, the driver, versions, the day and the command."""

from __future__ import annotations

import datetime
import json
import platform
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MEASUREMENTS = ROOT / "measurements"
NEEDS_GPU = "needs an NVIDIA GPU: none was found here"
PACKAGES = ("numpy", "numba", "numba-cuda", "cupy-cuda12x", "cupy-cuda13x", "torch", "warpwise")


def has_gpu() -> bool:
    from numba import cuda

    return cuda.is_available()


def device_name() -> str:
    from numba import cuda

    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else name


def slug(name: str) -> str:
    """``NVIDIA H200`` -> ``nvidia-h200``: the folder's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def provenance() -> dict:
    """What a reader needs to repeat a measurement."""
    from numba import cuda

    major, minor = cuda.get_current_device().compute_capability
    return {
        "device": device_name(), "compute_capability": f"{major}.{minor}", "driver": driver(), "cuda_runtime": runtime(),
        "ncu": first_line(["ncu", "--version"], "Version"), "python": platform.python_version(), "versions": versions(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command(),
    }  # fmt: skip


def command() -> str:
    """The command line, with names instead of whole paths."""
    script = Path(sys.argv[0]).resolve()
    first = script.relative_to(ROOT) if script.is_relative_to(ROOT) else script.name
    return " ".join(["python", str(first), *(Path(a).name if Path(a).is_absolute() else a for a in sys.argv[1:])])


def driver() -> str | None:
    return first_line(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])


def runtime() -> str | None:
    from numba import cuda

    try:
        return ".".join(map(str, cuda.runtime.get_version()))
    except Exception:  # no runtime library: the driver alone is enough to measure
        return None


def first_line(command: list[str], holding: str = "") -> str | None:
    """The first line, holding a word, of what a command prints; None where there is no such command."""
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


def write(data: dict, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1) + "\n")
    print(f"written: {path}")
