"""Replay published times on the stopwatch: predicted beside published, and mean errors by family.

As a program: print the table, and write it into the package, where estimates take their ranges
from. With --compile it first compiles published/kernels.cu anew by NVRTC and ptxas, for which
CUDA's wheels are needed; otherwise the stored machine code is read. The points are only compared:
no constant is changed so that they come out."""

from __future__ import annotations

import argparse
import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import combinations

import numpy as np
from published.launches import launch
from published.machine_code import compiled, source, stored

from warpwise.simt.frontend.kernel import Kernel
from warpwise.stopwatch.cards import find
from warpwise.stopwatch.families import POINTS, Family, Point, family_of
from warpwise.stopwatch.families import points as kept
from warpwise.stopwatch.predict import predicted
from warpwise.stopwatch.program import program_of
from warpwise.stopwatch.report import estimate
from warpwise.stopwatch.sass import read

TAG = re.compile(r"\[([a-z]\w*\.\w+)\]")


def lines_in(kernel: Kernel) -> dict[int, int]:
    """Return the line of a twin for each line of the CUDA C++ that has one of its tags."""
    last = kernel.tree.end_lineno
    own = {n: line for n, line in kernel.lines.items() if kernel.tree.lineno <= n <= last}
    tags = {tag: n for n, line in own.items() for tag in TAG.findall(line)}
    return {
        n: tags[tag]
        for n, line in enumerate(source().splitlines(), 1)
        for tag in TAG.findall(line)
        if tag in tags
    }


def predict(point: Point) -> Point:
    """Return a point with the predicted figure, and what the model says it is bound by."""
    card = find(point.device)
    card = card.at(point.ghz) if point.ghz else card
    code, one = stored(card.code_cc)[point.kernel], launch(point.kernel, point.size, card.name)
    shared, slowed = code.shared_bytes or one.made.shared_bytes_per_block, one.slowed(card)
    ops, lines = [*map(read, code.instructions)], lines_in(one.twin)
    program = program_of(one.made, ops, code.registers, shared, lines, one.longer)
    run = predicted(one.made, program, slowed, one.grid, one.slots)
    found = estimate(one.made, program, slowed, one.grid, run)
    figure = 1e6 * found.seconds if point.unit == "us" else 1e-9 * one.work / found.seconds
    return replace(point, predicted=figure, binds=found.binds)


def points(only: str = "") -> Iterator[Point]:
    """Predict every published point, or those of a family, ladder, kernel or device."""
    for point in kept():
        if not only or is_of(point, only):
            yield predict(point)


def is_of(point: Point, name: str) -> bool:
    """Return whether a point's family, ladder, kernel or device has this name."""
    return name in (point.family, point.ladder, point.kernel, point.device)


# What is printed.


def by_family(found: list[Point]) -> list[Family]:
    """Return the errors of each family."""
    own = defaultdict(list)
    for point in found:
        own[point.family].append(point)
    return [family_of(name, points) for name, points in own.items()]


def misordered(found: list[Point], apart: float = 0.1) -> list[tuple[Point, Point]]:
    """Return the pairs of a ladder on one device, so far apart, that are in the wrong order."""
    by_ladder = defaultdict(list)
    for point in found:
        # of streams those of one block size, as of a ladder the steps
        ladder = point.ladder.split()[0], point.size if "gpu-stream" in point.ladder else 0
        by_ladder[ladder, point.device, point.unit].append(point)
    wrong = []
    for ladder in by_ladder.values():
        for a, b in combinations(ladder, 2):
            far = abs(a.published - b.published) > apart * min(a.published, b.published)
            if far and (a.published - b.published) * (a.predicted - b.predicted) < 0:
                wrong.append((a, b))
    return wrong


def line_of(p: Point) -> str:
    """Return a point as a line of the table."""
    return (
        f"{p.family:16} {p.ladder:16} {p.device:16} {p.kernel:20} {p.size:10} "
        f"{p.published:9.1f} {p.predicted:9.1f} {p.unit:8} {100 * p.error:+6.1f} % {p.binds}"
    )


def show(found: list[Point]) -> None:
    """Print the errors."""
    for family in by_family(found):
        print(f"{family}, worst {100 * family.worst:+.0f} %")
    every = [p.error for p in found]
    wrong = misordered(found)
    print(f"all: {len(every)} points, mean {100 * np.mean(np.abs(every)):.1f} %")
    print(f"pairs of a ladder more than 10 % apart that are ordered wrongly: {len(wrong)}")
    for a, b in wrong:
        print(f"  {a.ladder} {a.device} {a.size}: {a.kernel} and {b.kernel}")


def write(found: list[Point]) -> None:
    """Write the points with their predictions into the package."""
    with open(POINTS, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([field.name for field in fields(Point)])
        for point in found:
            rounded = replace(point, predicted=float(f"{point.predicted:.5g}"))
            out.writerow(list(vars(rounded).values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--only", default="", help="a family, ladder, kernel or device")
    arguments = parser.parse_args()
    if arguments.only and not any(is_of(point, arguments.only) for point in kept()):
        parser.error(f"no family, ladder, kernel or device is named {arguments.only!r}")
    if arguments.compile:
        compiled()
    every = []
    for point in points(arguments.only):
        print(line_of(point), flush=True)
        every.append(point)
    show(every)
    if not arguments.only:
        write(every)
