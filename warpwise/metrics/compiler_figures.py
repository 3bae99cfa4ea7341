"""``CompilerFigures``: what NVIDIA's compiler gives a thread of a kernel, as whole numbers.

A trace does not have them. They are apart from the compiler, because the process that grades with
them has none, and gets them as bare numbers."""

from __future__ import annotations

from typing import NamedTuple

from warpwise.metrics.counters import WARP_SIZE

#: of an instruction and lane: two multiply-adds, or a multiply-add of two numbers each
MOST_FLOPS = 4
#: The fields that count a loop's other instructions, and what they are in a sentence.
OTHERS = {
    "whole_numbers": "arithmetic on whole numbers, as for addresses",
    "shared_loads": "loads from shared memory",
    "global_loads": "loads from global memory",
    "in_local_memory": "loads and stores in local memory",
    "stores": "stores",
    "moves": "moves from register to register",
}
NAMED = 3  #: of OTHERS, at most, in a sentence
WORTH_NAMING = 0.1  #: share of the others from which a kind is named


class CompilerFigures(NamedTuple):
    """Registers of a thread, bytes that it spills and loads again, bytes of local memory, and the
    loop that computes most: its line, or 0 without a loop, and its instructions by kind.

    ``flops`` are a lane's, in one pass through the instructions; an FFMA has two. The counts after
    ``ffma`` leave out what is of no kind in OTHERS, such as a branch."""

    registers_per_thread: int = 0
    spilled_bytes: int = 0
    local_memory_bytes: int = 0
    line: int = 0
    instructions: int = 0
    flops: int = 0
    ffma: int = 0
    whole_numbers: int = 0
    shared_loads: int = 0
    global_loads: int = 0
    in_local_memory: int = 0
    stores: int = 0
    moves: int = 0

    @property
    def flops_per_issue_slot(self) -> float:
        """Floating-point operations for each instruction of a warp in that loop.

        They are at most 64 where none has more than a multiply-add for each of 32 lanes."""
        return WARP_SIZE * self.flops / self.instructions if self.instructions else 0.0

    @property
    def possible(self) -> bool:
        """True if one loop can have these counts."""
        kinds = self.ffma + sum(getattr(self, name) for name in OTHERS)
        most = MOST_FLOPS * self.instructions
        return min(self) >= 0 and kinds <= self.instructions and 2 * self.ffma <= self.flops <= most

    @property
    def others(self) -> tuple[str, ...]:
        """The fields that count most of the instructions beside FFMA, the largest first."""
        least = WORTH_NAMING * (self.instructions - self.ffma)
        found = {name: getattr(self, name) for name in OTHERS}
        ordered = sorted(found, key=lambda name: -found[name])
        return tuple(name for name in ordered[:NAMED] if found[name] >= max(1.0, least))

    @property
    def told(self) -> str:
        """What the loop's instructions are, in words."""
        where = f"in the loop on line {self.line}" if self.line else "in the kernel, without a loop"
        said = f"{where}, {self.ffma} of {self.instructions} instructions are FFMA"
        mainly = [f"{OTHERS[name]} ({getattr(self, name)})" for name in self.others]
        if not mainly:
            return said
        listed = " and ".join(filter(None, [", ".join(mainly[:-1]), mainly[-1]]))
        return f"{said}; the others are mainly {listed}"
