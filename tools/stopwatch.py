"""Replay published times on the stopwatch: predicted beside published, and mean errors by family.

As a program: print the table, and write it into the package, where estimates take their ranges
from. With --compile it first compiles published/kernels.cu anew by NVRTC and ptxas, for which
CUDA's wheels are needed; otherwise the stored machine code is read. Nothing is fitted: the points
are only compared."""

from __future__ import annotations

import argparse
import csv
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import combinations
from math import ceil
from pathlib import Path

import numpy as np
from published import twins

from warpwise import cuda, trace
from warpwise.simt.frontend.kernel import Kernel
from warpwise.stopwatch.cards import find
from warpwise.stopwatch.families import POINTS, Family, Point, family_of
from warpwise.stopwatch.families import points as kept
from warpwise.stopwatch.predict import LAUNCH_SECONDS, predicted
from warpwise.stopwatch.program import program_of
from warpwise.toolchain import Instruction
from warpwise.traces import Trace

HERE = Path(__file__).parent / "published"
CCS = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0))
#: Columns of A in the products that are traced, 256 unless said; the rest is extrapolated.
DEPTHS = {"sgemm_naive": 512, "sgemm_coalesced": 512, "sgemm_shared": 512}
GRIDS = {  # threads of a block, its rows and columns, and whether rows run along x
    "sgemm_naive": ((32, 32), 32, 32, True),
    "sgemm_coalesced": (1024, 32, 32, True),
    "sgemm_shared": (1024, 32, 32, True),
    "sgemm_tile_1d": (512, 64, 64, False),
    "sgemm_tile_2d": (256, 128, 128, False),
    "sgemm_tile_2d_deep": (256, 128, 128, False),
    "sgemm_vectorised": (256, 128, 128, False),
}
STREAM_ITEMS = 128 * 2**20  #: doubles; each SM holds two blocks
STREAMS_READ = {"init": 1, "read": 1, "scale": 2, "triad": 3, "3pt": 2, "5pt": 2}
ADDS_PER_BLOCK = {"reduce_modulo": 256, "reduce_strided": 256, "reduce_halves": 256}
TAG = re.compile(r"\[([a-z]\w*\.\w+)\]")


@dataclass(frozen=True)
class Code:
    """A kernel's machine code: registers of a thread, static bytes of shared memory of a block."""

    registers: int
    shared_bytes: int
    instructions: tuple[Instruction, ...]


# Machine code, stored one text for each compute capability.


def compiled() -> None:
    """Compile kernels.cu for every compute capability, and store its machine code."""
    for cc in CCS:
        found = _assembled(_ptx(cc), cc)
        path = HERE / "sass" / f"sm_{cc[0]}{cc[1]}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(_written(name, code) for name, code in sorted(found.items())))


def _ptx(cc: tuple[int, int]) -> str:
    from cuda.bindings import nvrtc

    text = (HERE / "kernels.cu").read_bytes()
    _, program = nvrtc.nvrtcCreateProgram(text, b"kernels.cu", 0, [], [])
    options = [f"--gpu-architecture=compute_{cc[0]}{cc[1]}".encode(), b"-lineinfo"]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        raise SystemExit(log.decode())
    _, size = nvrtc.nvrtcGetPTXSize(program)
    ptx = b" " * size
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.decode().rstrip("\0 ")


def _assembled(ptx: str, cc: tuple[int, int]) -> dict[str, Code]:
    """Return each kernel's machine code."""
    from warpwise.toolchain.machine_code import instructions_in
    from warpwise.toolchain.tools import run

    with tempfile.TemporaryDirectory() as folder:
        cubin = str(Path(folder) / "kernels.cubin")
        flags = ["-v", "--generate-line-info", f"-arch=sm_{cc[0]}{cc[1]}"]
        done, log = run("ptxas", *flags, "-", "-o", cubin, text=ptx)
        if not done:
            raise SystemExit(log)
        _, listing = run("nvdisasm", "-c", "-g", cubin)
    parts = re.split(r"^\.text\.(\w+):$", listing, flags=re.MULTILINE)[1:]
    used = {
        name: (int(registers), int(shared or 0))
        for name, registers, shared in re.findall(
            r"Compiling entry function '(\w+)'.*?Used (\d+) registers(?:[^\n]*?(\d+) bytes smem)?",
            log,
            re.DOTALL,
        )
    }
    return {
        name: Code(*used[name], instructions_in(text))
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def _written(name: str, code: Code) -> str:
    head = f"== {name} {code.registers} {code.shared_bytes}\n"
    return head + "".join(
        f"{i.address:x}\t{i.line}\t{i.label}\t{i.text}\n" for i in code.instructions
    )


@cache
def stored(cc: tuple[int, int]) -> dict[str, Code]:
    """Read the stored machine code for a compute capability."""
    found = {}
    for part in (HERE / "sass" / f"sm_{cc[0]}{cc[1]}.txt").read_text().split("== ")[1:]:
        head, *lines = part.splitlines()
        name, registers, shared = head.split()
        fields = (line.split("\t") for line in lines)
        code = tuple(
            Instruction(int(a, 16), text, "", int(n), label) for a, n, label, text in fields
        )
        found[name] = Code(int(registers), int(shared), code)
    return found


def lines_in(kernel: Kernel) -> dict[int, int]:
    """Return the line of a twin for each line of kernels.cu that has one of its tags."""
    last = kernel.tree.end_lineno
    own = {n: line for n, line in kernel.lines.items() if kernel.tree.lineno <= n <= last}
    tags = {tag: n for n, line in own.items() for tag in TAG.findall(line)}
    cu = (HERE / "kernels.cu").read_text().splitlines()
    return {
        n: tags[tag] for n, line in enumerate(cu, 1) for tag in TAG.findall(line) if tag in tags
    }


# Traces of the twins.


@cache
def product(name: str, size: int, depth: int) -> Trace:
    """Trace one block of a product of size x depth and depth x size elements.

    Rows are as far apart as in the whole product."""
    threads, *_ = GRIDS[name]
    a, b, c = (cuda.device_array((size, size), np.float32) for _ in range(3))
    arrays = a[:, :depth], b[:depth], c
    return trace(getattr(twins, name), 1, threads, depth, *arrays, sanitize=False, progress=False)


@cache
def stream(name: str, threads: int) -> Trace:
    """Trace the second of three blocks, which is like all that are not at an edge."""
    arrays = [np.ones(3 * threads) for _ in range(3)]
    return trace(
        getattr(twins, name), 3, threads, *arrays, record=(1,), sanitize=False, progress=False
    )


@cache
def sums(name: str, size: int) -> tuple[Trace, int]:
    """Trace a block of a reduction or a sum of arrays, and return the blocks of the whole too."""
    if name.startswith("add"):
        each = 1024 if name == "add_float4" else 256
        arrays = [np.ones(each * 4, np.float32) for _ in range(3)]
        made = trace(getattr(twins, name), 4, 256, *arrays, sanitize=False, progress=False)
        return made, size // each
    if name == "reduce_many_loads":  # 1,024 blocks, of which each adds up 64 times 512 numbers
        x, blocks = np.ones(size // 1024 * 4, np.float32), 1024
    else:
        each = ADDS_PER_BLOCK.get(name, 512)
        x, blocks = np.ones(4 * each, np.float32), size // each
    out = np.zeros(4, np.float32)
    return trace(getattr(twins, name), 4, 256, x, out, sanitize=False, progress=False), blocks


# Predictions.


def seconds(device: str, kernel: str, size: int, ghz: float | None) -> float:
    """Predict the time of a published launch."""
    card = find(device)
    card = card.at(ghz) if ghz else card
    code = stored(card.code_cc)[kernel]

    def clocks(
        made: Trace, grid: tuple[int, int, int], slots: int = 0, longer: float = 1.0
    ) -> float:
        lines, shared = lines_in(twin), code.shared_bytes
        program = program_of(made, code.instructions, code.registers, shared, lines, longer)
        return predicted(made, program, card, grid, slots).clocks

    twin = getattr(twins, kernel)
    if kernel in GRIDS:
        _, rows, columns, along_x = GRIDS[kernel]
        down, across = ceil(size / rows), ceil(size / columns)
        grid = (down, across, 1) if along_x else (across, down, 1)
        depth = DEPTHS.get(kernel, 256)
        total = clocks(product(kernel, size, depth), grid, longer=size / depth)
    elif kernel.startswith("stream"):
        total = clocks(stream(kernel, size), (STREAM_ITEMS // size, 1, 1), 2)
    else:
        made, blocks = sums(kernel, size)
        total = clocks(made, (blocks, 1, 1))
    return total / (1e9 * card.ghz) + LAUNCH_SECONDS


def in_unit(kernel: str, size: int, unit: str, time: float) -> float:
    """Return a time as the published figure: a rate, or microseconds."""
    if unit == "us":
        return 1e6 * time
    if unit == "GFLOP/s":
        return 2e-9 * size**3 / time
    if kernel.startswith("stream"):
        return 8e-9 * STREAM_ITEMS * STREAMS_READ[kernel.removeprefix("stream_")] / time
    return 12e-9 * size / time


def points(only: str = "") -> Iterator[Point]:
    """Predict every published point, or those of a family, ladder, kernel or device."""
    for point in kept():
        if only and only not in map(str, vars(point).values()):
            continue
        time = seconds(point.device, point.kernel, point.size, point.ghz)
        yield replace(point, predicted=in_unit(point.kernel, point.size, point.unit, time))


# What is printed.


def by_family(found: list[Point]) -> list[Family]:
    """Return the errors of each family."""
    errors = defaultdict(list)
    for point in found:
        errors[point.family].append(point.error)
    return [family_of(name, own) for name, own in errors.items()]


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


def show(found: list[Point]) -> None:
    """Print the table and the errors."""
    for p in found:
        print(
            f"{p.family:16} {p.ladder:16} {p.device:16} {p.kernel:20} {p.size:9} "
            f"{p.published:9.1f} {p.predicted:9.1f} {p.unit:8} {100 * p.error:+6.1f} %"
        )
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
    if arguments.compile:
        compiled()
    every = list(points(arguments.only))
    show(every)
    if not arguments.only:
        write(every)
