"""The simulator's counters beside Nsight Compute's, over the access patterns of ``patterns.py``.

    PYTHONPATH=. python tests/gpu/compare_counters.py [--dry-run] [--ncu PATH] [--out FILE]

Needs numpy, numba and numba-cuda, and ``ncu`` on the path. Writes ``measurements/<device>/counters.json``. The exit status is 0 if every
pattern of 4-byte elements agrees exactly, 1 if one does not or nothing could be measured. ``--dry-run`` runs the simulator alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from ncu import METRICS, NcuError, counters, matched, profiled
from patterns import Pattern, patterns
from provenance import MEASUREMENTS, NEEDS_GPU, device_name, has_gpu, provenance, slug, write

from warpwise import trace
from warpwise.errors import WarpwiseError

SHORT = {
    "global_load_requests": "ld req", "global_load_sectors": "ld sect",
    "global_store_requests": "st req", "global_store_sectors": "st sect",
    "shared_load_requests": "sh ld", "shared_load_wavefronts": "sh ld wf", "shared_load_bank_conflicts": "sh ld bc",
    "shared_store_requests": "sh st", "shared_store_wavefronts": "sh st wf", "shared_store_bank_conflicts": "sh st bc",
    "warp_efficiency": "eff",
}  # fmt: skip
OPTIONAL = {"shared_load_requests", "shared_store_requests"}  # names that change from one Nsight Compute to the next
ROUNDING = 2e-3  # ncu prints lanes per instruction with two or three digits


def modelled(pattern: Pattern) -> dict[str, float] | str:
    """The simulator's counters of one pattern, its result checked; or, in one line, why there are none."""
    try:
        m = trace(pattern.kernel, pattern.blocks, pattern.threads, *pattern.args, record=()).metrics
    except WarpwiseError as error:
        return str(error).splitlines()[0]
    if not np.allclose(pattern.args[-1], pattern.want, rtol=1e-5, atol=1e-4):
        return "the simulator's result is not NumPy's"
    return {name: getattr(m, name) for name in METRICS}


def differences(pattern: Pattern, ours: dict, theirs: dict) -> list[str]:
    """The counters that differ. Warp efficiency is compared where all instructions of a warp have the same lanes."""
    found = []
    for name, mine in ours.items():
        other = theirs.get(name)
        if other is None or (name == "warp_efficiency" and not pattern.even):
            continue
        same = abs(mine - other) <= ROUNDING if name == "warp_efficiency" else mine == other
        if not same:
            found.append(name)
    return found


def verdict(pattern: Pattern, ours: dict | str, theirs: dict | None) -> str:
    if isinstance(ours, str):
        return f"not modelled: {ours}"
    missing = [name for name in METRICS if theirs is None or theirs.get(name) is None]
    if len(missing) == len(METRICS):
        return "not measured"
    if differ := differences(pattern, ours, theirs):
        return "differs: " + ", ".join(differ)
    return "not measured: " + ", ".join(missing) if set(missing) - OPTIONAL else "equal"


def row(pattern: Pattern, ours: dict | str, theirs: dict | None) -> dict:
    """One pattern of the table, as it is written."""
    return {
        "name": pattern.name, "kernel": pattern.function, "blocks": pattern.blocks, "threads": pattern.threads, "width": pattern.width,
        "must_agree": pattern.must_agree, "note": pattern.note, "modelled": ours if isinstance(ours, dict) else None,
        "measured": theirs, "verdict": verdict(pattern, ours, theirs),
    }  # fmt: skip


def measured(ncu: str) -> list[dict | None]:
    """The GPU's counters of each pattern: this script runs again under ncu, as one process that launches them all."""
    launches = profiled([sys.executable, str(Path(__file__)), "--launch"], ncu)
    found = matched(launches, [pattern.function for pattern in patterns()])
    return [None if launch is None else counters(launch) for launch in found]


def launch_all() -> None:
    """Launch every pattern once on the GPU, and check its result: what runs under ncu."""
    from numba import cuda

    for pattern in patterns():
        held = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in pattern.args]
        pattern.kernel[pattern.blocks, pattern.threads](*held)
        cuda.synchronize()
        if not np.allclose(held[-1].copy_to_host(), pattern.want, rtol=1e-4, atol=1e-3):
            print(f"{pattern.name}: the GPU's result is not NumPy's")


def printed(rows: list[dict]) -> str:
    """The table as text: the counters that are not 0 on either side, modelled/measured, then the verdict."""
    width = max(len(r["name"]) for r in rows)
    return "\n".join(f"{r['name']:{width}}  {figures(r)}  {r['verdict']}{' (' + r['note'] + ')' if r['note'] else ''}" for r in rows)


def figures(r: dict) -> str:
    ours, theirs = r["modelled"] or {}, r["measured"] or {}
    shown = [name for name in METRICS if ours.get(name) or theirs.get(name)]
    return ", ".join(f"{SHORT[name]} {figure(ours.get(name))}/{figure(theirs.get(name))}" for name in shown)


def figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value % 1 else f"{value:.0f}"


def summary(rows: list[dict]) -> str:
    strict = [r for r in rows if r["must_agree"]]
    equal = sum(r["verdict"] == "equal" for r in rows)
    exact = sum(r["verdict"] == "equal" for r in strict)
    return f"{len(rows)} patterns: {equal} equal. Of 4-byte elements: {exact} of {len(strict)} equal."


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dry-run", action="store_true", help="the simulator alone: nothing is measured, nothing written")
    parser.add_argument("--ncu", default="ncu", help="where Nsight Compute is, if not on the path")
    parser.add_argument("--out", type=Path, help="the file to write; measurements/<device>/counters.json if not named")
    parser.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not (options.dry_run or has_gpu()):
        print(NEEDS_GPU, file=sys.stderr)
        return 1
    if options.launch:
        launch_all()
        return 0
    return compare(options)


def compare(options: argparse.Namespace) -> int:
    chosen = patterns()
    theirs: list[dict | None] = [None] * len(chosen)
    problem = ""
    if not options.dry_run:
        try:
            theirs = measured(options.ncu)
        except NcuError as error:
            problem = str(error)
            print(problem, file=sys.stderr)
    rows = [row(p, modelled(p), t) for p, t in zip(chosen, theirs, strict=True)]
    print(printed(rows))
    print(summary(rows))
    if options.dry_run:
        return 0
    data = {"what": "counters", "problem": problem, **provenance(), "metrics": METRICS, "patterns": rows}
    write(data, options.out or MEASUREMENTS / slug(device_name()) / "counters.json")
    return int(any(r["verdict"] != "equal" for r in rows if r["must_agree"]))


if __name__ == "__main__":
    sys.exit(main())
