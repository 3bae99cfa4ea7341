"""How many registers of each bank an instruction reads from a scheduler's register file.

A scheduler's registers lie in two banks, the even ones and the odd ones, of which each gives a
warp's register in a clock. A multiply-add of three registers therefore takes a clock and a half of
both, or more of one, unless a small cache has an operand: that which the warp's last reader of the
same bank had in the same place, marked ``.reuse``. From Huerta et al., "Dissecting and Modeling the
Architecture of Modern GPU Cores" (MICRO 2025; arXiv 2503.20481), 5.1.1 and 5.3: one read port for a
warp's register in each of two banks, an entry of the cache for each bank and each of three places,
lost at the next read of that bank in that place, and three clocks in which all operands have to be
read. They measured it on GPUs with Ampere; which bank a register lies in follows from its number's
last bit. Its authors found no rule that fits all cases, and this is the rule that they took."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpwise.stopwatch.flow import Flow
from warpwise.stopwatch.sass import Op

BANKS = 2
#: Units whose instructions read their operands at a fixed time; others fetch theirs by themselves.
FIXED = ("fp32", "imad", "alu")


def register_reads(flow: Flow) -> np.ndarray:
    """Return the reads of each bank by instruction: (instructions, BANKS)."""
    found = np.zeros((len(flow.ops), BANKS))
    for block in flow.blocks:
        found[block.start : block.stop] = _of_block(flow.ops[block.start : block.stop])
    return found


def _of_block(ops: Sequence[Op]) -> np.ndarray:
    found = np.zeros((len(ops), BANKS))
    kept: dict[tuple[int, int], int] = {}  # by place and bank, the register in the cache
    for i, op in enumerate(ops):
        if op.pipe not in FIXED:
            continue
        read = set()
        for place, register, again in op.places:
            bank = register % BANKS
            if kept.pop((place, bank), None) != register:
                read.add(register)
            if again:
                kept[place, bank] = register
        for register in read:
            found[i, register % BANKS] += 1
    return found
