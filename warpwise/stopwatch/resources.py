"""How long a block's instructions take of each resource of an SM: pipes, banks, L2 and DRAM."""

from __future__ import annotations

import numpy as np

from warpwise.stopwatch import engine
from warpwise.stopwatch.cards import Card
from warpwise.stopwatch.opcodes import PIPE_WORDS
from warpwise.stopwatch.tables import Columns

Uses = dict[str, np.ndarray]  #: clocks of one SM by instruction, for each resource


def uses_of_sm(table: Columns, times: np.ndarray, rates: tuple[float, float], card: Card) -> Uses:
    """Return the clocks of one SM that a block's instructions take of each resource.

    ``times``: how often a block's warps together run each. ``rates``: clocks for a sector of L2 and
    of DRAM."""
    held = table.clocks * times
    kinds = {name: table.kind == number for number, name in enumerate(PIPE_WORDS)}
    floats = kinds["fp32"] | kinds["imad"]
    found: Uses = {
        "issue slots": times / engine.PARTS,
        PIPE_WORDS["fp32"]: np.where(floats, held, 0) / _float_pipes(card),
        PIPE_WORDS["fp64"]: np.where(kinds["fp64"], held, 0),
        "L2": np.maximum(table.sectors, 0) * times * rates[0],
        "DRAM": table.dram * times * rates[1],
        "register banks": _of_busier_bank(table.reads, times) / engine.PARTS,
    }
    for name in ("alu", "special", "tensor"):
        found[PIPE_WORDS[name]] = np.where(kinds[name], held, 0) / engine.PARTS
    lsu = table.lsu * times
    shared = table.sectors < 0
    of_shared, of_l1 = np.where(shared, lsu, 0), np.where(shared, 0, lsu)
    # one port: whoever uses more of it gives it the name
    found["shared memory" if of_shared.sum() >= of_l1.sum() else "L1"] = lsu
    return found


def _of_busier_bank(reads: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the clocks that instructions take of the bank of registers that is read more often."""
    by_bank = reads * times[:, None]
    found: np.ndarray = by_bank[:, by_bank.sum(axis=0).argmax()]
    return found


def _float_pipes(card: Card) -> int:
    return engine.PARTS * (2 if card.core.two_float_pipes else 1)
