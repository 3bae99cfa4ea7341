"""Compile the steps of the float32 product for chapter 14, which reads machine code without it.

As a program: write chapters/compiled/sgemm.json. Of each step it has what ptxas says of registers
and memory, and the opcodes of its main loop; of the loops that the chapter reads, all instructions
with their source lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from linecache import getline
from pathlib import Path
from typing import Any

from warpwise.kernels import sgemm
from warpwise.kernels.step import Step
from warpwise.toolchain import Compiled, Instruction, compile_kernel, loops

CC = (8, 6)  # of the RTX A6000, on which the steps were published
SHOWN = ("sgemm_2_coalesced", "sgemm_7_warp_tile")
FILE = Path(__file__).parents[1] / "chapters/compiled/sgemm.json"


def main_loop(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Return the loop that multiplies most: the shortest one with as many multiply-adds."""
    return max(loops(code), key=lambda loop: (multiply_adds(loop), -len(loop)))


def multiply_adds(code: Sequence[Instruction]) -> int:
    return sum(instruction.opcode == "FFMA" for instruction in code)


def compiled(step: Step) -> tuple[Compiled, tuple[Instruction, ...]]:
    """Return a step's machine code, and its main loop."""
    (built,) = step.built
    found = compile_kernel(built.kernel, built.types, CC)
    return found, main_loop(found.machine_code)


def described(step: Step) -> dict[str, Any]:
    """Return what the chapter reads of one step."""
    found, loop = compiled(step)
    counts = Counter(instruction.opcode for instruction in loop)
    return {
        "threads": step.built[0].threads,
        "registers": found.registers,
        "spill_bytes": found.spill_load_bytes + found.spill_store_bytes,
        "shared_bytes": found.shared_bytes,
        "opcodes": dict(counts.most_common()),
    } | ({"loop": [_told(one) for one in loop]} if step.name in SHOWN else {})


def _told(instruction: Instruction) -> list[str]:
    """Return the source line of an instruction, and the instruction."""
    return [getline(instruction.file, instruction.line).strip(), instruction.text]


def written() -> str:
    """Return the file's text."""
    made = {
        "cc": list(CC),
        "compiler": version("nvidia-cuda-nvcc"),
        "steps": {step.name: described(step) for step in sgemm.STEPS},
    }
    return json.dumps(made, indent=1) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(written(), "utf-8")
    print(FILE)
