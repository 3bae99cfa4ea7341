"""Who reads what in machine code: registers that are needed at once, and what only makes addresses.

Both are questions to the whole flow, by the usual equations of compilers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpwise.stopwatch.flow import Flow
from warpwise.stopwatch.sass import BASES

MAKES_ADDRESSES = ("alu", "imad")
UNROLLED = 8  #: loads in a block, from which it was a loop
FIRST_OTHER = BASES["UR"]  #: numbers below it are those of a thread's own registers


def most_live(flow: Flow) -> int:
    """Return the most registers of a thread whose values are still needed at one place."""
    after = _live_after(flow)
    most = 0
    for block, live in zip(flow.blocks, after, strict=True):
        needed = set(live)
        for i in reversed(block):
            needed = _before(flow, i, needed)
            most = max(most, sum(r < FIRST_OTHER for r in needed))
    return most


def _before(flow: Flow, i: int, after: set[int]) -> set[int]:
    """Return the registers that are needed before an instruction, from those after it."""
    return (after - _written(flow, i)) | set(flow.ops[i].operands)


def _written(flow: Flow, i: int) -> set[int]:
    return set() if flow.ops[i].guard else set(flow.ops[i].results)


def _live_after(flow: Flow) -> list[set[int]]:
    """Return the registers that are needed at the end of each block."""
    read, written = zip(*(_of_block(flow, block) for block in flow.blocks), strict=True)
    before: list[set[int]] = [set() for _ in flow.blocks]
    after: list[set[int]] = [set() for _ in flow.blocks]
    ways = [(e.start, e.end) for e in flow.edges if e.start >= 0 and e.end >= 0 and not e.parted]
    changed = True
    while changed:
        changed = False
        for start, end in reversed(ways):
            after[start] |= before[end]
        for n in reversed(range(len(flow.blocks))):
            needed = read[n] | (after[n] - written[n])
            if needed != before[n]:
                before[n], changed = needed, True
    return after


def _of_block(flow: Flow, block: Sequence[int]) -> tuple[set[int], set[int]]:
    """Return the registers that a block reads before it writes them, and those that it writes."""
    read, written = set[int](), set[int]()
    for i in reversed(block):
        read = _before(flow, i, read)
        written |= _written(flow, i)
    return read, written


def only_for_addresses(flow: Flow, loads: set[int]) -> set[int]:
    """Return the arithmetic of which nothing but the addresses of some loads is made, in loops and
    where a compiler has unrolled one."""
    inside = {n for a, b in flow.loops() for n in range(a, b + 1)}
    inside |= {n for n, block in enumerate(flow.blocks) if len(loads & set(block)) >= UNROLLED}
    found = {
        i
        for n in inside
        for i in flow.blocks[n]
        if flow.ops[i].pipe in MAKES_ADDRESSES and flow.ops[i].results
    }
    readers = {i: set(_readers(flow, n, i)) for n in inside for i in flow.blocks[n] if i in found}
    while True:
        others = {i for i in found if not readers[i] or not readers[i] <= found | loads}
        if not others:
            return found
        found -= others


def _readers(flow: Flow, n: int, i: int) -> Iterator[int]:
    """Yield the instructions that may read what an instruction of block ``n`` writes."""
    for register in flow.ops[i].results:
        waiting, seen = [(n, i + 1)], set[int]()
        while waiting:
            block, first = waiting.pop()
            ended = False
            for j in range(first, flow.blocks[block].stop):
                if register in flow.ops[j].operands:
                    yield j
                if register in flow.ops[j].results and not flow.ops[j].guard:
                    ended = True
                    break
            if not ended:
                after = {e.end for e in flow.edges if e.start == block and e.end >= 0}
                waiting += [(k, flow.blocks[k].start) for k in after - seen]
                seen |= after
