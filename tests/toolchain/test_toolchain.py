"""Kernels through CUDA's own compiler, which needs no GPU.

They are those of the labs and of ``programs/oracle/``, and small ones made for a question."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import namedtuple
from functools import cache
from itertools import product
from operator import itemgetter
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import cuda as numba_cuda
from numba import float32
from numba.cuda import dispatcher
from numba.cuda.random import xoroshiro128p_type, xoroshiro128p_uniform_float32
from support import programs
from support.lab_cases import WITHOUT_KERNELS, kernels_for_a_gpu
from support.paths import ROOT
from support.share import share, share_of_kinds

import warpwise
import warpwise as ww
from warpwise import cuda
from warpwise.cuda import grid
from warpwise.devices import H100
from warpwise.errors import ToolchainError
from warpwise.labs.source import load_lab
from warpwise.model import occupancy
from warpwise.toolchain import KINDS, Instruction, by_line, compile_kernel, load, missing
from warpwise.toolchain.argument_types import argument_types
from warpwise.toolchain.machine_code import disassembled, instructions_in
from warpwise.toolchain.tools import run

pytestmark = pytest.mark.skipif(
    bool(missing()), reason=f"no {', '.join(missing())}: python -m pip install -e '.[toolchain]'"
)

SOLUTIONS = sorted((ROOT / "solutions").glob("*.md"))
CCS = [(7, 5), (9, 0)]  # the oldest and the newest that the course speaks of
MATRIX, VECTOR = "float32[:, ::1]", "float32[::1]"
SCALE = np.float32(3)
TABLE = np.arange(64, dtype=np.float32)


def compiled(kernel, types: str | None = None, cc: tuple[int, int] = (9, 0)):
    return compile_kernel(kernel, types, cc)


def lines_of(kernel, result) -> dict[str, dict[str, int]]:
    """Map the text of source lines to their machine instructions by kind."""
    text = Path(result.file).read_text().splitlines()
    return {text[line.line - 1].strip(): line.counts for line in by_line(result.machine_code)}


# Every kernel of the course.


@cache
def loaded(path: Path):
    return load(path)


#: Registers of a thread, where a thread holds 64 results on purpose, and few warps are enough.
REGISTERS = {"14_speed_of_light": 192}
#: Of labs whose instructions older GPUs lack: products of bfloat16, and asynchronous copies.
OLDEST = {"15_tensor_cores": (8, 0)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "cc"),
    share_of_kinds(product(SOLUTIONS, reversed(CCS)), kind=itemgetter(0), one_in=3),
    ids=lambda value: value.stem if isinstance(value, Path) else f"cc{value[0]}{value[1]}",
)
def test_every_kernel_of_a_solution_compiles_and_spills_nothing(path, cc):
    found, cc = loaded(path), max(cc, OLDEST.get(path.stem, cc))
    assert found.failure == ""
    asked = {exercise.name for exercise in kernels_for_a_gpu(path.stem)}
    assert bool(asked) == (path.stem not in WITHOUT_KERNELS) and asked <= set(found.kernels)
    for name in asked:
        result = compile_kernel(found.kernel(name), cc=cc)
        assert f".target sm_{cc[0]}{cc[1]}" in result.ptx
        most = REGISTERS.get(path.stem, 64)
        assert 0 < result.registers <= most, f"{name} leaves no room for a full SM"
        assert (result.spill_load_bytes, result.spill_store_bytes, result.stack_bytes) == (
            0,
            0,
            0,
        ), name


@pytest.mark.slow
@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_every_other_kernel_of_a_lab_that_is_launched_there_compiles(path):
    found = loaded(path)
    for name in set(found.kernels) - {e.name for e in load_lab(path).exercises}:
        try:
            assert compile_kernel(found.kernel(name), cc=CCS[0]).registers
        except ToolchainError as error:  # one that nothing launches, or that is left to students
            why = "types of" in str(error) or "no body yet" in str(error)
            assert why and f"{name}[" not in path.read_text("utf-8"), error


@pytest.mark.slow
@pytest.mark.parametrize("stem", programs.stems())
def test_what_the_simulator_runs_the_compiler_takes(stem):
    launches = ((one.kernel, one.args) for one in programs.launches(stem))
    unlike = dict.fromkeys((kernel, argument_types(kernel, args)) for kernel, args in launches)
    assert unlike
    for kernel, types in share(unlike, 4):
        assert compile_kernel(kernel, types).registers


# Kernels made for a question.


@cuda.jit
def multiply_add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        total = value * SCALE + value
        y[i] = total


@cuda.jit
def big_local_array(x, n):
    own = cuda.local.array(300, np.float32)
    for k in range(300):
        own[k] = x[k]
    x[n] = own[n]


@cuda.jit
def shared_half(x):
    tile = cuda.shared.array(6000, np.float32)
    tile[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    cuda.syncthreads()
    x[cuda.threadIdx.x] = tile[5999 - cuda.threadIdx.x]


@cuda.jit
def too_much_shared_memory(x):
    tile = cuda.shared.array(20000, np.float32)
    tile[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    cuda.syncthreads()
    x[cuda.threadIdx.x] = tile[5999 - cuda.threadIdx.x]


@cuda.jit
def count(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, x[i], 1)


@cuda.jit
def constants_from_a_table(x):
    table = cuda.const.array_like(TABLE)
    x[cuda.grid(1)] = table[cuda.grid(1) % 64]


def many_sums(x, out):
    """24 sums at a time, all of them needed at the end."""
    a = cuda.local.array(24, np.float32)
    for k in range(24):
        a[k] = x[k]
    for n in range(x.size):
        for k in range(24):
            a[k] = a[k] * a[(k + 1) % 24] + x[n]
    for k in range(24):
        out[k] = a[k]


sums_freely = cuda.jit(many_sums)


@cuda.jit(max_registers=24)
def sums_in_few_registers(x, out):
    a = cuda.local.array(24, np.float32)
    for k in range(24):
        a[k] = x[k]
    for n in range(x.size):
        for k in range(24):
            a[k] = a[k] * a[(k + 1) % 24] + x[n]
    for k in range(24):
        out[k] = a[k]


def test_a_small_kernel_takes_few_registers_and_no_memory():
    result = compiled(multiply_add, f"{VECTOR}, {VECTOR}")
    assert result.signature == "multiply_add(float32[::1], float32[::1])"
    assert 8 <= result.registers <= 24
    assert (
        result.shared_bytes,
        result.stack_bytes,
        result.spill_load_bytes,
        result.spill_store_bytes,
    ) == (0, 0, 0, 0)
    assert result.constant_bytes >= 2 * 7 * 8  # two arrays are parameters, seven words each


def test_a_local_array_that_is_indexed_by_a_variable_is_on_the_stack():
    result = compiled(big_local_array, f"{VECTOR}, int64")
    assert result.stack_bytes == 300 * 4
    assert result.spill_store_bytes == 0
    assert lines_of(big_local_array, result)["x[n] = own[n]"]["load"] >= 1


def test_too_few_registers_spill_and_only_then():
    free, few = (
        compiled(kernel, f"{VECTOR}, {VECTOR}") for kernel in (sums_freely, sums_in_few_registers)
    )
    assert free.registers > 24 >= few.registers
    assert (free.spill_load_bytes, free.spill_store_bytes) == (0, 0)
    assert few.spill_load_bytes > 0 and few.spill_store_bytes > 0 and few.stack_bytes > 0


def test_static_shared_memory_is_that_of_the_array():
    assert compiled(shared_half, VECTOR).shared_bytes == 6000 * 4


def test_a_table_of_constants_is_in_constant_memory():
    with_table, without = (
        compiled(kernel, VECTOR, (9, 0)) for kernel in (constants_from_a_table, shared_half)
    )
    assert with_table.constant_bytes - without.constant_bytes == TABLE.nbytes


@pytest.mark.parametrize("threads", [32, 256, 1024])
def test_occupancy_is_that_of_the_registers_and_the_shared_memory(threads):
    result = compiled(shared_half, VECTOR)
    assert result.device.compute_capability == (9, 0)
    found = result.occupancy(threads)
    wanted = occupancy(H100, threads, registers=result.registers, shared_bytes=24_000)
    assert (found.blocks, found.fraction, found.limiter) == (
        wanted.blocks,
        wanted.fraction,
        wanted.limiter,
    )
    assert (found.limiter == "shared memory") == (threads < 256)


def test_registers_limit_occupancy():
    free = compiled(sums_freely, f"{VECTOR}, {VECTOR}")
    found = free.occupancy(256)
    assert found == occupancy(free.device, 256, free.registers)
    assert found.blocks_by_registers == 4 * (16384 // (-(-free.registers * 32 // 256) * 256)) // 8


def test_occupancy_is_not_made_up_for_a_gpu_that_is_not_in_the_table():
    assert compiled(multiply_add, f"{VECTOR}, {VECTOR}", (12, 1)).occupancy(256) is None


@pytest.mark.parametrize("cc", CCS, ids=lambda cc: f"cc{cc[0]}{cc[1]}")
def test_machine_code_is_put_to_the_line_that_it_comes_from(cc):
    lines = lines_of(multiply_add, compiled(multiply_add, f"{VECTOR}, {VECTOR}", cc))
    assert lines["value = x[i]"]["load"] == 1
    assert lines["y[i] = total"]["store"] == 1
    assert lines["total = value * SCALE + value"]["fma"] == 1
    assert lines["if i < x.size:"]["branch"] >= 1
    for kind in ("load", "store", "fma"):
        assert sum(counts[kind] for counts in lines.values()) == 1


def test_an_atomic_is_one():
    lines = lines_of(count, compiled(count, "int32[::1], int32[::1]"))
    assert lines["cuda.atomic.add(out, x[i], 1)"]["atomic"] == 1


LISTING = """
.text.kernel:
	//## File "/tmp/some kernel.py", line 4
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/tmp/some kernel.py", line 6
        /*0010*/              @!P0 LDG.E.64 R2, desc[UR6][R2.64] ;
.L_x_1:
        /*0020*/               @P0 BRA `(.L_x_1) ;
        /*0030*/                   EXIT ;
.L_x_0:
        /*0040*/                   BRA `(.L_x_0);
        /*0050*/                   NOP;
"""


def test_a_listing_is_read_with_places_and_without_padding():
    found = instructions_in(LISTING)
    assert [(i.address, i.opcode, i.line) for i in found] == [
        (0, "LDC", 4),
        (16, "LDG.E.64", 6),
        (32, "BRA", 6),
        (48, "EXIT", 6),
    ]
    assert {i.file for i in found} == {"/tmp/some kernel.py"}
    assert [i.kind for i in found] == ["other", "load", "branch", "branch"]


TABLE_OF_BRANCHES = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry chosen(.param .u64 x, .param .u32 n) {
    .reg .u64 %x; .reg .u32 %n, %way, %v;
    ld.param.u64 %x, [x]; cvta.to.global.u64 %x, %x;
    ld.param.u32 %n, [n]; and.b32 %way, %n, 3;
    ways: .branchtargets A, B, C, D;
    brx.idx %way, ways;
    A: ld.global.u32 %v, [%x]; bra END;
    B: ld.global.u32 %v, [%x+64]; mul.lo.u32 %v, %v, %v; bra END;
    C: st.global.u32 [%x+8], %n; mov.u32 %v, 1; bra END;
    D: atom.global.add.u32 %v, [%x+12], %n;
    END: st.global.u32 [%x], %v; ret;
}
"""


def test_an_indirect_branch_comes_with_its_targets(tmp_path):
    path = tmp_path / "chosen.cubin"
    done, log = run("ptxas", "-arch=sm_90", "-", "-o", str(path), text=TABLE_OF_BRANCHES)
    assert done, log
    (branch,) = [i.text for i in disassembled(path.read_bytes()) if i.opcode == "BRX"]
    assert branch.count(".L_x_") == 4


def test_labels_of_a_nop_belong_to_the_next_instruction():
    """As code for a B200 has them, where the ways past a sine's rare case meet."""
    found = instructions_in("""
        /*0000*/              @!P0 BRA `(.L_x_1) ;
        /*0010*/              @!P1 BRA `(.L_x_2) ;
.L_x_1:
        /*0020*/                   NOP ;
.L_x_2:
        /*0030*/                   BSYNC.RECONVERGENT B0 ;
""")
    assert [(i.text, i.label) for i in found] == [
        ("@!P0 BRA `(.L_x_1)", ""),
        ("@!P1 BRA `(.L_x_1)", ""),
        ("BSYNC.RECONVERGENT B0", ".L_x_1"),
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("LDS R5, [R5]", "load"),
        ("STL.128 [R1], RZ", "store"),
        ("@P1 RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R5", "atomic"),
        ("FFMA R0, R10, R10, R3", "fma"),
        ("HFMA2.MMA R1, -RZ, RZ, 0, 0", "other"),
        ("MUFU.RSQ R5, R4", "float"),
        ("IMAD.WIDE R2, R5, UR4, R2", "integer"),
        ("IMAD.MOV.U32 R14, RZ, RZ, 0x1", "other"),
        ("UIADD3 UR4, UR4, 0x1, URZ", "integer"),
        ("ULDC.64 UR4, c[0x0][0x238]", "other"),
        ("@!P0 BRA `(.L_x_3)", "branch"),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", "other"),
    ],
)
def test_an_instruction_is_of_a_kind(text, kind):
    assert Instruction(0, text).kind == kind
    assert kind in KINDS


def test_every_instruction_is_counted_once():
    result = compiled(multiply_add, f"{VECTOR}, {VECTOR}")
    lines = by_line(result.machine_code)
    assert sum(sum(line.counts.values()) for line in lines) == len(result.machine_code) > 10


# Names around a kernel.


@cuda.jit(device=True)
def cube(x):
    return x * x * x


@cuda.jit(device=True)
def ninth_power(x):
    return cube(cube(x))


def threefold(factor):
    @cuda.jit
    def inner(x):
        i = cuda.grid(1)
        x[i] = factor * ninth_power(x[i]) + math.sqrt(SCALE)

    return inner


@cuda.jit
def names_in_other_ways(x):
    i = grid(1) + warpwise.cuda.laneid - ww.cuda.threadIdx.x
    x[i] = cube(x[i])


@cuda.jit
def warp_level(x):
    i = cuda.grid(1)
    value = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 16)
    cuda.syncwarp()
    x[i] = max(value, x[i]) if cuda.all_sync(0xFFFFFFFF, value > 0) else min(value, x[i])


@cuda.jit
def dynamic_shared_memory(x):
    tile = cuda.shared.array(0, np.float32)
    tile[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    x[cuda.grid(1)] = tile[0]


@cuda.jit
def whole_grid(x):
    x[cuda.grid(1)] = 1
    cuda.cg.this_grid().sync()
    x[0] = x[1] + x[2]


@cuda.jit
def printed(x):
    print("x is", x[0])


SEEN = [threefold(2), names_in_other_ways, warp_level, dynamic_shared_memory]


@pytest.mark.parametrize("kernel", SEEN, ids=lambda kernel: kernel.name)
def test_a_kernel_sees_what_is_around_it(kernel):
    assert compiled(kernel, VECTOR).registers > 0


@pytest.mark.parametrize(
    ("kernel", "type", "unlinked"),
    [
        (whole_grid, "float32", ("cudaCGGetIntrinsicHandle", "cudaCGSynchronize")),
        (
            whole_grid,
            "float16",
            ("_ZplRK6__halfS1__nbst", "cudaCGGetIntrinsicHandle", "cudaCGSynchronize"),
        ),
        (printed, "float32", ()),
    ],
)
def test_functions_that_are_linked_in_later_are_named(kernel, type, unlinked):
    result = compiled(kernel, f"{type}[::1]")
    assert result.unlinked == unlinked
    assert sum(i.kind == "branch" for i in result.machine_code) > len(unlinked)


def test_a_device_function_has_lines_of_its_own():
    lines = lines_of(SEEN[0], compiled(SEEN[0], VECTOR))
    assert lines["return x * x * x"]["float"] == 4


def on_numba():
    """Return the kernels of ``threefold`` and ``random_numbers``, by Numba's own decorator."""

    @numba_cuda.jit(device=True)
    def cubed(x):
        return x * x * x

    @numba_cuda.jit
    def inner(x):
        i = numba_cuda.grid(1)
        x[i] = 2 * cubed(cubed(x[i])) + math.sqrt(SCALE)

    @numba_cuda.jit
    def random_numbers(states, out):
        i = numba_cuda.grid(1)
        out[i] = xoroshiro128p_uniform_float32(states, i)

    return inner, random_numbers


def test_both_decorators_lead_to_the_same_machine_code():
    ours, theirs = compiled(threefold(2), VECTOR), compiled(on_numba()[0], VECTOR)
    assert [i.text for i in ours.machine_code] == [i.text for i in theirs.machine_code]


def test_library_functions_written_in_python_compile_without_a_gpu():
    states = numba.types.Array(xoroshiro128p_type, 1, "C")
    assert compile_kernel(on_numba()[1], (states, float32[::1])).registers > 8


def test_nothing_is_left_changed_by_a_compilation_that_works_or_fails():
    asked, before = dispatcher.get_current_device, dict(globals())
    compiled(threefold(2), VECTOR)
    with pytest.raises(ToolchainError):
        compiled(threefold(2), "int64")
    assert dispatcher.get_current_device is asked
    assert {name for name in before if globals()[name] is not before[name]} == set()
    assert cube.function.__globals__ is globals()


# Types.


@numba_cuda.jit
def pair(x, n):
    x[n] = n


@cuda.jit("void(float32[:, ::1], int32)", fastmath=True)
def with_signature(x, n):
    x[n, n] = x[n, 0] / x[0, n]


@cuda.jit(fastmath=False)
def precise(x, n):
    x[n, n] = x[n, 0] / x[0, n]


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("float32[:], int64", "float32[:], int64"),
        (" float32[::1],int32, ", "float32[::1], int32"),
        ("void(float64[::1], uint8)", "float64[::1], uint8"),
        ((np.zeros(3, np.float32), 4), "float32[::1], int64"),
        ((np.zeros((4, 3), np.float16).T[0], np.int32(2)), "float16[:], int32"),
        ((np.zeros((4, 3), np.int8)[0], np.dtype(np.uint16)), "int8[::1], uint16"),
    ],
)
def test_types_can_be_given(given, written):
    assert compile_kernel(pair, given).signature == f"pair({written})"


def test_any_strides_take_more_instructions_than_c_order():
    sizes = [
        len(compiled(multiply_add, types).machine_code)
        for types in (f"{VECTOR}, {VECTOR}", "float32[:], float32[:]")
    ]
    assert sizes[0] < sizes[1]


def test_types_and_options_are_those_of_the_decorator():
    result = compile_kernel(with_signature)
    assert result.signature == "with_signature(float32[:, ::1], int32)"
    slow = compiled(precise, f"{MATRIX}, int32")
    assert len(result.machine_code) < len(slow.machine_code)  # a division's


def test_types_are_those_of_the_first_launch():
    kernel = threefold(3)
    with pytest.raises(ToolchainError, match=r"the types of inner\(x\) are not known"):
        compile_kernel(kernel)
    warpwise.trace(kernel, 1, 32, np.ones(32, np.float64))
    warpwise.trace(kernel, 1, 32, np.ones(32, np.float32))
    assert compile_kernel(kernel).signature == "inner(float64[::1])"


Parameters = namedtuple("Parameters", "factor start")


@cuda.jit
def with_named_tuple(parameters, states, x):
    i = cuda.grid(1)
    x[i] = (
        parameters.factor * cuda.random.xoroshiro128p_uniform_float32(states, i) + parameters.start
    )


@pytest.mark.parametrize(
    "start", [np.float32(1), np.int64(1)], ids=["types_alike", "types_not_alike"]
)
def test_named_tuples_and_states_of_random_numbers_have_types_by_a_launch(start):
    with_named_tuple.programs.clear()
    states = cuda.random.create_xoroshiro128p_states(32, seed=1)
    warpwise.trace(
        with_named_tuple, 1, 32, Parameters(np.float32(2), start), states, np.ones(32, np.float32)
    )
    assert compile_kernel(with_named_tuple).registers > 8


@pytest.mark.parametrize(
    "given",
    [
        "float31[:], int64",
        "float32[:",
        "3, 4",
        "__import__('os'), int64",
        "float32[:]",
        "",
        "'x', 'y'",
    ],
)
def test_types_that_are_none_are_one_line(given):
    with pytest.raises(ToolchainError, match="--types") as error:
        compile_kernel(pair, given)
    assert "\n" not in str(error.value)


# Refusals.


def attribute_of_a_number(x):
    i = numba_cuda.grid(1)
    x[i] = i.foo(3)


def name_that_nothing_defines(x):
    x[0] = undefined_thing  # noqa: F821


def value_returned(x):
    return x[0]


def shape_that_is_computed(x, n):
    tile = numba_cuda.shared.array(n, float32)
    x[0] = tile[0]


def root_by_numpy(x):
    x[0] = np.sqrt(x[1])


def size_by_numpy(x):
    x[0] = np.abs(x[1])


@cuda.jit(device=True)
def root(value):
    return np.sqrt(value)


def root_in_a_device_function(x):
    x[0] = root(x[1])


REFUSED = {
    attribute_of_a_number: "Unknown attribute 'foo' of type int64    x[i] = i.foo(3)",
    name_that_nothing_defines: "name 'undefined_thing' is not defined",
    value_returned: "CUDA kernel must have void return type",
    shape_that_is_computed: "No implementation of function",
    root_by_numpy: (
        "np.sqrt: write math.sqrt(x[1]): Numba's compiler has no such code for a GPU"
        "    x[0] = np.sqrt(x[1])"
    ),
    size_by_numpy: "np.abs: write abs(x[1])",
    root_in_a_device_function: (
        "np.sqrt: Numba has no code for it on a GPU    def root_in_a_device_function(x):"
    ),
    too_much_shared_memory: (
        "ptxas: Entry function 'too_much_shared_memory' uses too much shared data"
    ),
}


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.__name__)
def test_a_refused_kernel_is_one_line_with_its_place(kernel):
    parameters = VECTOR if kernel is not shape_that_is_computed else f"{VECTOR}, int64"
    with pytest.raises(ToolchainError) as error:
        compiled(kernel, parameters)
    said = str(error.value)
    assert said.startswith("test_toolchain.py:") and REFUSED[kernel] in said
    assert "\n" not in said and len(said) < 450
    line = int(said.split(":")[1])
    assert (
        0
        <= line - Path(__file__).read_text().split(f"def {kernel.__name__}(")[0].count("\n") - 1
        <= 2
    )


@pytest.mark.parametrize("cc", [(6, 0), (7, 0), (9, 1), (99, 0)])
def test_a_compute_capability_that_the_compiler_does_not_know_is_named(cc):
    with pytest.raises(ToolchainError, match=rf"does not know compute capability {cc[0]}\.{cc[1]}"):
        compiled(multiply_add, f"{VECTOR}, {VECTOR}", cc)


def test_a_kernel_read_from_text_has_no_function_to_compile():
    (kernel,) = warpwise.simt.kernels_in(
        "from warpwise import cuda\n@cuda.jit\ndef k(x):\n    x[0] = 1\n"
    ).values()
    with pytest.raises(ToolchainError, match="was read from text"):
        compiled(kernel, VECTOR)


# Files.

MODULE = """
from warpwise import cuda
import numpy as np
import neighbour

print("not to be seen")

@cuda.jit(device=True)
def half(x):
    return x * neighbour.HALF

@cuda.jit
def halve(x):
    x[cuda.grid(1)] = half(x[cuda.grid(1)])

@cuda.jit
def begun(x):
    ...

def plain(x):
    x[cuda.grid(1)] = neighbour.HALF

halve[1, 32](np.ones(32, np.float32))
"""
TEXT_NOTEBOOK = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---

# A notebook

```{code-cell} ipython3
%matplotlib inline
from warpwise import cuda
```

```{code-cell} ipython3
:tags: [given]

1 / 0
```

```{code-cell} ipython3
@cuda.jit("void(int32[::1])")
def one(x):
    x[cuda.grid(1)] += 1  # here
```
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "module.py").write_text(MODULE)
    (tmp_path / "neighbour.py").write_text("HALF = 0.5\n")
    (tmp_path / "notes.md").write_text(TEXT_NOTEBOOK)
    code = [
        part.split("```")[0].split("\n", 1)[1].removeprefix(":tags: [given]\n\n")
        for part in TEXT_NOTEBOOK.split("```{code-cell}")[1:]
    ]
    cells = [
        {
            "cell_type": "code",
            "source": c.rstrip(),
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for c in code
    ]
    cells.insert(0, {"cell_type": "markdown", "source": "# Title", "metadata": {}})
    (tmp_path / "book.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    )
    (tmp_path / "broken.py").write_text("def k(:\n")
    (tmp_path / "broken.ipynb").write_text("{")
    (tmp_path / "empty.py").write_text("")
    return tmp_path


def test_a_module_is_executed_quietly_and_its_launches_give_the_types(folder, capsys):
    found = load(folder / "module.py")
    assert list(found.kernels) == ["halve", "begun"] and found.failure == ""
    assert compile_kernel(found.kernel("halve")).signature == "halve(float32[::1])"
    assert compiled(found.kernel("plain"), VECTOR).registers > 0
    assert capsys.readouterr().out == ""
    assert "module" not in sys.modules and str(folder) not in sys.path


@pytest.mark.parametrize(
    ("name", "place"), [("notes.md", ("notes.md", 27)), ("book.ipynb", ("book.ipynb, cell 3", 3))]
)
def test_cells_of_a_notebook_are_gone_through_and_lines_are_those_of_the_file(folder, name, place):
    found = load(folder / name)
    assert "ZeroDivisionError" in found.failure
    result = compile_kernel(found.kernel("one"))
    stores = [line for line in by_line(result.machine_code) if line.counts["store"]]
    assert [(Path(line.file).name, line.line) for line in stores] == [place]
    if name == "notes.md":
        assert TEXT_NOTEBOOK.splitlines()[place[1] - 1].endswith("# here")


ON_NUMBA = """
import numba as nb
from numba import cuda, float32, void
from numba.cuda import jit

@cuda.jit("void(float32[:], float32)", fastmath=True)
def text(x, a):
    x[cuda.grid(1)] *= a

@cuda.jit([void(float32[:, ::1]), "void(float64[:, ::1])"])
def several(x):
    x[cuda.grid(1), 0] = 1

@nb.cuda.jit((float32[::1],))
def types(x):
    x[nb.cuda.grid(1)] = doubled(x[0])

@jit("float32(float32)", device=True)
def doubled(a):
    return a + a

def made(factor):
    @jit("void(int32[:])")
    def inner(x):
        x[cuda.grid(1)] *= factor
    return inner

closure = made(3)
called = cuda.jit("void(int64[:])")(lambda x: None)

@cuda.jit
def last(x):
    x[0] = 1
"""
SIGNED = {
    "text": "float32[:], float32",
    "several": "float32[:, ::1]",
    "types": "float32[::1]",
    "closure": "int32[:]",
}


@pytest.fixture(params=["signed.py", "signed.ipynb", "signed.md"])
def signed(tmp_path, request) -> Path:
    """A file for Numba with signatures, as a module or as a notebook with a kernel a cell."""
    import jupytext
    from nbformat.v4 import new_code_cell, new_notebook

    path = tmp_path / request.param
    notebook = new_notebook(cells=[new_code_cell(text) for text in ON_NUMBA.strip().split("\n\n")])
    if path.suffix == ".py":
        path.write_text(ON_NUMBA)
    else:
        jupytext.write(notebook, path, fmt="md:myst" if path.suffix == ".md" else "ipynb")
    return path


def test_signatures_for_numba_need_no_gpu_and_give_the_types(signed):
    found = load(signed)
    assert found.failure == ""
    assert list(found.kernels) == ["text", "several", "types", "closure", "called", "last"]
    for name, types in SIGNED.items():
        assert compile_kernel(found.kernel(name)).signature.partition("(")[2] == f"{types})"
    assert compiled(found.kernel("last"), VECTOR).registers > 0


def test_a_signature_for_the_simulator_stays(tmp_path):
    (tmp_path / "ours.py").write_text("from warpwise import cuda\n" + ON_NUMBA.split("\n\n")[1])
    assert len(load(tmp_path / "ours.py").kernel("text").signatures) == 1


def command(*arguments: object, **options) -> subprocess.CompletedProcess:
    call = [sys.executable, "-m", "warpwise.cli", "compile", *map(str, arguments)]
    return subprocess.run(call, capture_output=True, text=True, cwd=ROOT, **options)


@pytest.mark.slow
def test_the_command_prints_tables():
    done = command(
        "solutions/08_coalescing.md:transpose",
        "--cc",
        "8.0",
        "--cc",
        "9.0",
        "--ptx",
        "--sass",
        "--threads",
        "1024",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("transpose(float32[:, ::1], float32[:, ::1])  08_coalescing.md:")
    for said in (
        "4,224 B",
        "blocks of 1024 threads",
        "cc 8.0",
        ".target sm_90",
        "dst[row, col] = tile[x, y]",
        "BAR.SYNC",
    ):
        assert said in done.stdout


@pytest.mark.slow
def test_the_command_prints_json(folder):
    done = command(
        folder / "module.py:halve", "--types", "float32[::1]", "--json", "--ptx", "--sass"
    )
    (found,) = json.loads(done.stdout)
    assert (found["kernel"], found["cc"], found["threads"]) == ("halve", "9.0", 256)
    assert found["occupancy"]["fraction"] == 1 and ".target sm_90" in found["ptx"]
    line = next(line for line in found["lines"] if line["instructions"]["store"])
    assert line["source"].strip() == "x[cuda.grid(1)] = half(x[cuda.grid(1)])"
    assert sum("ST" in text for text in line["sass"]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.py:k"], "no file at nothing.py"),
        ([":k"], "no file at"),
        (["{}/module.py:nothing"], "no kernel 'nothing' in {}/module.py; it has halve, begun"),
        (["{}/module.py"], "which kernel of {}/module.py? Write FILE:KERNEL; it has halve, begun"),
        (
            ["{}/module.py:half"],
            "half is a device function, compiled as part of a kernel that calls it",
        ),
        (["{}/module.py:begun"], "begun in {}/module.py has no body yet"),
        (
            ["{}/module.py:halve", "--types", "float32[:], int64"],
            "halve(x) takes 1 argument, and 2 types are given",
        ),
        (["{}/module.py:halve", "--types", "int"], "is not a list of Numba's types"),
        (
            ["{}/module.py:halve", "--cc", "ninety"],
            "'ninety' is not a compute capability; write it as 9.0",
        ),
        (
            ["{}/module.py:halve", "--cc", "7.0"],
            "this compiler does not know compute capability 7.0",
        ),
        (["{}/module.py:halve", "--types", "unicode_type"], "module.py:13: "),
        (["{}/empty.py:k"], "no kernel 'k' in {}/empty.py; it has none"),
        (["{}/broken.py:k"], "it has none (broken.py:1: "),
        (["{}/broken.ipynb:k"], "broken.ipynb cannot be read"),
        (["{}:k"], "no file at {}"),
    ],
)
def test_a_mistake_is_one_line(folder, arguments, said):
    from typer.testing import CliRunner

    from warpwise.cli import app

    done = CliRunner().invoke(app, ["compile", *(a.replace("{}", str(folder)) for a in arguments)])
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith("warpwise: ") and done.stderr.count("\n") == 1
    assert said.replace("{}", str(folder)) in done.stderr


@pytest.mark.slow
@pytest.mark.unix("its packages are symbolic links")
@pytest.mark.parametrize("without", ["nvidia", "numba_cuda", "jupytext"])
def test_a_machine_without_the_toolchain_is_told_what_to_install(tmp_path, without):
    """An interpreter that sees all installed packages but one."""
    for path in Path(numba.__file__).parents[1].iterdir():
        if without not in path.name:
            (tmp_path / path.name).symlink_to(path)
    code = (
        f"import site, sys; sys.path[:0] = [{str(ROOT)!r}]; site.addsitedir({str(tmp_path)!r}); "
        "from warpwise.cli import app; app()"
    )
    call = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        code,
        "compile",
        "solutions/08_coalescing.md:transpose",
    ]
    done = subprocess.run(call, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.startswith("warpwise: ") and done.stderr.count("\n") == 1
    assert "python -m pip install -e '.[toolchain]'" in done.stderr


def test_numbas_simulator_is_no_compiler():
    import os

    done = command(
        "tests/programs/oracle/loops.py:collatz",
        "--types",
        "int64[::1], int64[::1]",
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )
    assert done.returncode == 2
    assert (
        done.stderr
        == "warpwise: Numba's simulator stands in for its compiler: unset NUMBA_ENABLE_CUDASIM\n"
    )
