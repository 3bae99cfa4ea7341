"""The machine code of the reference kernels, made without a GPU: registers, spills and instructions
against what each step claims."""

from __future__ import annotations

import re

import pytest
from support.as_on_a_gpu import answer
from support.ladders import LADDERS, STEPS
from support.share import share_of_kinds

from warpwise.stopwatch.sass import read, unknown
from warpwise.toolchain import Instruction, loops
from warpwise.toolchain.compilation import Compiled

pytestmark = pytest.mark.slow

ALL = [
    (ladder, step, built)
    for ladder, steps in LADDERS.items()
    for step in steps
    for built in step.built
]
#: The last kernel of each ladder, which has all its ideas, and a share of those before it.
SHARE = share_of_kinds(reversed(ALL), lambda one: one[0], 3)
BUILT = {(step.name, built.name, built.types): built for _, step, built in SHARE}
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


AS_ON_A_GPU = """
import pickle, sys
from support.ladders import STEPS
from warpwise.toolchain import compilation

compilation.for_numba = lambda kernel: kernel.function
found = {}
wanted = pickle.load(sys.stdin.buffer)
for step in STEPS:
    for built in step.built:
        key = step.name, built.name, built.types
        if key in wanted:
            found[key] = compilation.compile_kernel(built.kernel, built.types, (9, 0))
sys.stdout.buffer.write(pickle.dumps(found))
"""


def chosen(request: pytest.FixtureRequest) -> list[tuple]:
    """Return the kernels that the chosen tests are about, which may be few; of a test that is about
    all, all."""
    tests = [one for one in request.session.items if one.path == request.path]
    tests = [one for one in tests if "compiled" in one.fixturenames]
    if all("key" in one.fixturenames for one in tests):
        return [one.callspec.params["key"] for one in tests]
    return [*BUILT]


@pytest.fixture(scope="module")
def compiled(request) -> dict[tuple, Compiled]:
    """Kernels as Numba itself compiles them on a GPU, where nobody puts Numba's names for ours: it
    has to know them as they stand."""
    return answer(AS_ON_A_GPU, chosen(request))


@pytest.mark.parametrize("key", BUILT, ids=lambda key: f"{key[0]}-{key[1]}")
def test_machine_code_is_what_the_step_claims(key, compiled):
    built, code = BUILT[key], compiled[key]
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


def test_the_stopwatch_knows_every_opcode(compiled):
    ops = [read(i) for code in compiled.values() for i in code.machine_code]
    assert len(ops) > 1000 and unknown(ops) == ()


def test_every_step_was_compiled(compiled):
    assert compiled.keys() == BUILT.keys()
