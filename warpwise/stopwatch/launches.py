"""The launches of a file: what it runs on the simulator, gathered while it is executed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from warpwise.errors import ToolchainError
from warpwise.kernel_files import Loaded, load
from warpwise.simt.frontend.source import as_kernel
from warpwise.simt.gathered import gathered
from warpwise.traces import Trace

HOW = "trace(KERNEL, blocks, threads, ...) or KERNEL[blocks, threads](...)"


@dataclass
class Launches:
    """Traces that differ, in the order in which they were made."""

    traces: list[Trace] = field(default_factory=list)

    def take(self, trace: Trace) -> None:
        """Keep a trace, unless one like it was kept."""
        if not any(_alike(trace, kept) for kept in self.traces):
            self.traces.append(trace)


def _alike(a: Trace, b: Trace) -> bool:
    return _launch(a) == _launch(b) and a.grid == b.grid and a.metrics == b.metrics


def _launch(trace: Trace) -> tuple[Any, ...]:
    return trace.launched, trace.block, trace.shared_bytes_per_block


def launches_of(kernel: str) -> tuple[list[Trace], str]:
    """Execute the file of ``FILE:KERNEL``; return that kernel's launches, and what stopped it.

    Raises ToolchainError, which names the kernels that are launched."""
    path, name = _parted(kernel)
    os.environ["WARPWISE_BACKEND"] = "simulator"  # a GPU's launches leave no trace
    found = Launches()
    with gathered(found.take):
        loaded = load(path)
    return _of_kernel(found.traces, loaded, name), loaded.failure


def _parted(kernel: str) -> tuple[str, str]:
    if Path(kernel).is_file():
        return kernel, ""
    path, colon, name = kernel.rpartition(":")
    return (path, name) if colon else (name, "")


def _of_kernel(traces: list[Trace], loaded: Loaded, name: str) -> list[Trace]:
    launched = list(dict.fromkeys(trace.kernel for trace in traces))
    if not name and len(launched) == 1:
        name = launched[0]
    wanted = {name, _own_name(loaded, name)}
    chosen = [trace for trace in traces if trace.kernel in wanted]
    if not chosen:
        failed = f" ({loaded.failure})" if loaded.failure else ""
        raise ToolchainError(f"{_wrong(loaded, name, launched)}{failed}")
    return chosen


def _own_name(loaded: Loaded, name: str) -> str:
    """Return the name that a kernel was defined by, which a file may know by another."""
    kernel = loaded.kernels.get(name)
    return as_kernel(kernel).name if kernel else name


def _wrong(loaded: Loaded, name: str, launched: list[str]) -> str:
    names = ", ".join(launched)
    there = f"it launches {names}" if launched else "it launches none"
    if name and name in loaded.kernels:
        return f"{loaded.path} never launches {name} on the simulator; launch it by {HOW}"
    if name:
        return f"no kernel {name!r} in {loaded.path}; {there}"
    if launched:
        return f"which kernel of {loaded.path}? Write FILE:KERNEL; {there}"
    return f"{loaded.path} launches no kernel on the simulator; launch one by {HOW}"


def largest_of_each(traces: Iterable[Trace]) -> list[Trace]:
    """Return of launches that differ in their blocks alone the one with the most."""
    found: dict[tuple[Any, ...], Trace] = {}
    for trace in traces:
        key = _launch(trace)
        if key not in found or prod(trace.grid) > prod(found[key].grid):
            found[key] = trace
    return list(found.values())
