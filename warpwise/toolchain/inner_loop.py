"""The loop of a kernel that computes most, in its machine code: its line, and what is in it.

A loop that the compiler has not unrolled counts once, as it stands there, whatever its trips are;
so no launch is needed. Left out: what runs before the loop, around it and after it, and what
functions do that the compiler calls, such as a division's for large numbers."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from warpwise.metrics.compiler_figures import CompilerFigures
from warpwise.simt.frontend.kernel import Kernel
from warpwise.toolchain.machine_code import Instruction, loops

#: of a lane, by the name of an instruction
FLOPS = {"FFMA": 2, "FADD": 1, "FMUL": 1, "FFMA2": 4, "DFMA": 2, "DADD": 1, "DMUL": 1}
LOADS = {"LDS": "shared_loads", "LDSM": "shared_loads", "LDG": "global_loads", "LD": "global_loads"}
MOVES = ("MOV", "UMOV", "IMAD", "HFMA2")  #: which move where they are no arithmetic
MUCH = 0.25  #: share of the FLOPs of the largest loop, from which one inside it counts


def with_inner_loop(
    figures: CompilerFigures, code: Sequence[Instruction], kernel: Kernel, file: str
) -> CompilerFigures:
    """Return figures with those of the inner loop, or of all the code if nothing loops.

    ``file``: where the code says that the kernel's own lines are."""
    found = inner_loop(code)
    work = [i for i in found if flops_of(i) or i.kind == "load"]  # its lines are the source's
    own = [i.line for i in work if _same(i.file, file)]
    line = _line(kernel, own) if len(found) < len(code) else 0
    flops = sum(flops_of(i) for i in found)
    about = {"line": line, "instructions": len(found), "flops": flops}
    return figures._replace(**about, **_counts(found))


def inner_loop(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Return the loop that computes most and has no other such loop inside; without loops, all.

    Where a compiler makes one more for a special case, such as a division by 1, it has as many
    FLOPs and fewer other instructions: the longest is what runs."""
    flops = {loop: sum(map(flops_of, loop)) for loop in loops(code)}
    most = max(flops.values(), default=0)
    large = [loop for loop in flops if most and flops[loop] >= MUCH * most]
    inner = [loop for loop in large if not any(_within(other, loop) for other in large)]
    return max(inner, key=lambda loop: (flops[loop], len(loop)), default=tuple(code))


def _within(loop: Sequence[Instruction], other: Sequence[Instruction]) -> bool:
    inside = other[0].address <= loop[0].address and loop[-1].address <= other[-1].address
    return inside and len(loop) < len(other)


def flops_of(instruction: Instruction) -> int:
    """Return the floating-point operations of a lane."""
    return FLOPS.get(instruction.opcode.partition(".")[0], 0)


def _counts(found: Sequence[Instruction]) -> Mapping[str, int]:
    """Count instructions by the fields of CompilerFigures."""
    return Counter(filter(None, map(_field, found)))


def _field(one: Instruction) -> str:
    name, kind = one.opcode.partition(".")[0], one.kind
    if name == "FFMA":
        return "ffma"
    if name in ("LDL", "STL"):
        return "in_local_memory"
    if kind == "other":
        return "moves" if name in MOVES else ""
    if kind == "load":
        return LOADS.get(name, "")
    return {"store": "stores", "integer": "whole_numbers"}.get(kind, "")


def _same(file: str, other: str) -> bool:
    return PurePath(file).name == PurePath(other).name


def _line(kernel: Kernel, lines: Sequence[int]) -> int:
    """Return the line of the smallest loop in the source that has most of these lines."""
    heads = [node for node in ast.walk(kernel.tree) if isinstance(node, ast.For | ast.While)]
    inside = {
        node: sum(node.lineno <= line <= (node.end_lineno or node.lineno) for line in lines)
        for node in heads
    }
    smallest = sorted(heads, key=lambda node: (node.end_lineno or 0) - node.lineno)
    best = max(smallest, key=inside.__getitem__, default=None)
    return kernel.where(best).line if best else 0
