"""The machine code of the reference kernels, made without a GPU: registers, spills and instructions
against what each step claims."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import subprocess
import sys

import pytest
from support.paths import ROOT

import warpwise.kernels
from warpwise.kernels.step import Built, Step
from warpwise.toolchain import Instruction, compile_kernel, loops

pytestmark = pytest.mark.slow

MODULES = [
    importlib.import_module(f"warpwise.kernels.{found.name}")
    for found in pkgutil.iter_modules(warpwise.kernels.__path__)
]
STEPS: list[Step] = [step for module in MODULES for step in getattr(module, "STEPS", ())]
BUILT = {(step.name, built.name, built.types): built for step in STEPS for built in step.built}
FMA = ("FFMA", "HMMA")


def innermost(code: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    """Return the loop with most FMAs among those that hold no other such loop."""
    found = [loop for loop in loops(code) if fmas(loop)]
    inner = [loop for loop in found if not any(set(other) < set(loop) for other in found)]
    return max(inner, key=fmas, default=())


def fmas(loop: tuple[Instruction, ...]) -> int:
    return sum(i.opcode.startswith(FMA) for i in loop)


def test_steps_are_numbered_and_say_what_is_new():
    assert len({step.name for step in STEPS}) == len(STEPS)
    for step in STEPS:
        assert re.fullmatch(r"[a-z0-9_]+_\d_[a-z0-9_]+", step.name), step.name
        assert step.idea and not step.idea[0].isupper() and not step.idea.endswith("."), step.name


@pytest.mark.parametrize("key", BUILT, ids=lambda key: f"{key[0]}-{key[1]}")
def test_machine_code_is_what_the_step_claims(key):
    built: Built = BUILT[key]
    code = compile_kernel(built.kernel, built.types, (9, 0))
    assert (code.spill_load_bytes, code.spill_store_bytes, code.stack_bytes) == (
        0,
        0,
        built.local_bytes,
    )
    assert built.local_bytes or not [
        i.text for i in code.machine_code if i.opcode.startswith(("LDL", "STL"))
    ]
    assert code.occupancy(built.threads).blocks >= built.blocks_per_sm, (
        f"{code.registers} registers, {code.shared_bytes} bytes shared"
    )
    opcodes = [i.opcode for i in code.machine_code]
    for wanted in built.opcodes:
        assert any(opcode.startswith(wanted) for opcode in opcodes), (
            f"{wanted} is not among {sorted(set(opcodes))}"
        )
    if built.fma_share:
        loop = innermost(code.machine_code)
        assert fmas(loop) >= built.fma_share * len(loop), (
            f"{fmas(loop)} of {len(loop)} instructions"
        )


AS_ON_A_GPU = """
import importlib, pkgutil, sys
from types import SimpleNamespace
from numba import cuda
from numba.cuda import dispatcher
dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))
import warpwise.kernels
from warpwise.toolchain.argument_types import argument_types

for found in pkgutil.iter_modules(warpwise.kernels.__path__):
    for step in getattr(importlib.import_module(f"warpwise.kernels.{found.name}"), "STEPS", ()):
        for built in step.built:
            kernel, types = built.kernel, argument_types(built.kernel, built.types)
            cuda.compile_ptx(kernel.py_func, types, cc=(9, 0), opt=False)
            print(step.name, built.name)
"""


def test_kernels_compile_as_numba_s_own():
    """``compile_kernel`` puts Numba's names for ours before it compiles; on a GPU nobody does, and
    Numba has to know them as they stand."""
    environment = os.environ | {"WARPWISE_BACKEND": "gpu"}
    done = subprocess.run(
        [sys.executable, "-c", AS_ON_A_GPU],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == [
        f"{step.name} {built.name}" for step in STEPS for built in step.built
    ]
