"""The microbenchmarks: models against the simulator, loops against the compiler."""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from warpwise import trace
from warpwise.devices import H200, T4
from warpwise.errors import MeasureError
from warpwise.kernels import banks, divergence, ffma, launches, pointer_chase, strides
from warpwise.measure import ceilings
from warpwise.measure.case import Case
from warpwise.measure.correctness import rehearse
from warpwise.measure.graphs import replayed
from warpwise.measure.place import Place
from warpwise.measure.suites import latency, launch, offset, stride
from warpwise.metrics import Metrics
from warpwise.toolchain import Instruction, compile_kernel, loops

DTYPES = {2: "float16", 4: "float32", 8: "float64", 16: "complex128"}
PLACE = Place(np, "the simulator", H200.compute_capability, H200.sms, H200.l2_bytes, rehearsal=True)
U32 = np.uint32


@cache
def compiled(step) -> tuple[Instruction, ...]:
    return compile_kernel(step.built[0].kernel, step.built[0].types, (9, 0)).machine_code


def longest_loop(step) -> tuple[Instruction, ...]:
    """Return the loop with most instructions among those without a loop inside."""
    found = loops(compiled(step))
    return max(
        (loop for loop in found if not any(set(other) < set(loop) for other in found)), key=len
    )


def count(loop: tuple[Instruction, ...], opcode: str) -> int:
    return sum(i.opcode.startswith(opcode) for i in loop)


def registers(instruction: Instruction) -> list[str]:
    return re.findall(r"\bR\d+\b", instruction.text)


# --- global memory: sectors ---


def of_one_warp(width: int, stride_: int, shift: int) -> Metrics:
    source = np.arange(shift + 31 * stride_ + 1).astype(DTYPES[width])
    target = np.zeros(32, source.dtype)
    counted = trace(
        strides.strides_1_elements,
        1,
        32,
        source,
        target,
        U32(stride_),
        U32(shift),
        U32(32),
        record=(),
    ).metrics
    assert np.array_equal(target, source[shift::stride_] if stride_ else np.full(32, source[shift]))
    return counted


@pytest.mark.parametrize("width", DTYPES)
def test_the_sectors_of_strides_and_shifts_are_those_that_the_simulator_counts(width):
    for stride_ in (0, *range(1, 13), 16, 31, 32, 33, 40):
        for shift in (0, 1, 3, 8):
            assert (
                strides.sectors(width, stride_, shift)
                == of_one_warp(width, stride_, shift).global_load_sectors
            ), (stride_, shift)


def test_known_sectors():
    assert [strides.sectors(4, s) for s in (0, 1, 2, 3, 4, 5, 6, 7, 8, 40)] == [
        1,
        4,
        8,
        12,
        16,
        20,
        24,
        28,
        32,
        32,
    ]
    assert [strides.sectors(4, 1, o) for o in (0, 1, 7, 8, 9)] == [4, 5, 5, 4, 5]
    assert [strides.sectors(8, s) for s in (1, 2, 4)] == [8, 16, 32] and [
        strides.sectors(16, s) for s in (1, 2)
    ] == [16, 32]


@pytest.mark.parametrize("suite", [stride, offset])
def test_a_suite_of_copies_finds_one_wrong_number_and_says_what_it_models(suite):
    for case in suite.cases(PLACE):
        (variant,) = case.variants
        variant.run()
        assert variant.result() == 0
        assert case.parameters["sectors"] == strides.sectors(
            case.parameters.get("width", 4),
            case.parameters.get("stride", 1),
            case.parameters.get("offset", 0),
        )
        target = variant.run.args[1]
        target[target.size // 2] += 1
        assert variant.result() == 1


def test_modelled_bytes_are_those_of_the_simulator():
    cases = {case.name: case for case in stride.cases(PLACE)}
    case = cases["stride 3 of float32"]
    source, target, *_ = case.variants[0].run.args
    m = trace(
        strides.strides_1_elements,
        4,
        256,
        source,
        target,
        U32(3),
        U32(0),
        U32(target.size),
        record=(),
    ).metrics
    assert case.parameters["modelled_bytes"] == 32 * (
        m.global_load_sectors + m.global_store_sectors
    )
    assert case.bytes == m.global_load_bytes + m.global_store_bytes


@pytest.mark.parametrize("n", [1, 255, 257, 1000])
def test_strides_at_ragged_sizes(n):
    x = np.random.default_rng(n).random(5 * n + 7, dtype="float32")
    y, wide = np.full(n, np.nan, "float32"), np.full(4 * n, np.nan, "float32")
    strides.run_1_elements(x, y, 5, 6)
    strides.run_2_quads(np.resize(x, 12 * n), wide, 3)
    assert np.array_equal(y, x[6::5][:n]) and np.array_equal(
        wide.reshape(n, 4), np.resize(x, 12 * n).reshape(-1, 4)[::3]
    )


# --- pointer chase ---


@pytest.mark.parametrize("lines", [1, 2, 3, 32, 1000])
@pytest.mark.parametrize("words", [1, 32])
def test_the_links_are_one_cycle_through_every_line(lines, words):
    order = pointer_chase.cycle(lines, seed=lines)
    links = pointer_chase.linked(np, order, words)
    assert links.size == lines * words and links.dtype == np.uint32 and order[0] == 0
    at, passed = 0, []
    for _ in range(lines):
        passed.append(at)
        at = int(links[at])
    assert at == 0 and sorted(passed) == [words * line for line in range(lines)]
    assert lines < 32 or passed != sorted(passed)
    assert [pointer_chase.walked(order, 0, place // words) for place in passed] == list(
        range(lines)
    )


def test_a_chase_goes_on_where_the_last_one_ended():
    order = pointer_chase.cycle(100)
    links, ends, clocks = (
        pointer_chase.linked(np, order),
        np.zeros(2, np.uint32),
        np.zeros(1, np.int64),
    )
    for run in range(1, 4):
        pointer_chase.run_1_global(links, 48, ends, clocks)
        assert list(ends) == [32 * order[48 * (run - 1) % 100], 32 * order[48 * run % 100]]


def test_a_chase_with_a_wrong_number_of_steps_is_found_out():
    case = latency.through_memory(PLACE, 2**13)
    good = list(rehearse(PLACE, iter([case])))
    assert [error for _, _, error in good] == [0]
    wrong = Case(case.name, case.variants, want=lambda: [case.want()[0] + 1], rtol=0, atol=0)
    with pytest.raises(MeasureError, match="expected"):
        list(rehearse(PLACE, iter([wrong])))


@pytest.mark.parametrize(
    ("step", "load", "addressed"), [(0, "LDG", "IMAD.WIDE"), (1, "LDS", "LEA")]
)
def test_each_step_of_a_chase_is_one_load_that_needs_the_one_before(step, load, addressed):
    assert chained(longest_loop(pointer_chase.STEPS[step]), load, addressed) == 64


def chained(loop: tuple[Instruction, ...], load: str, addressed: str) -> int:
    """Count a loop's loads, each of whose addresses must come from the load before it.

    Nothing else may touch memory."""
    assert count(loop, "LD") - count(loop, "LDC") == count(loop, load) and not count(
        loop, "ST"
    ) + count(loop, "BAR")
    loads = [i for i in loop if i.opcode.startswith(load)]
    brought = registers(loads[-1])[0]  # in the trip before
    for here in loads:
        last = [
            i for i in loop if i.address < here.address and registers(i)[:1] == registers(here)[1:2]
        ][-1]
        assert last.opcode.startswith(addressed) and brought in registers(last)[1:], (
            last.text,
            here.text,
        )
        brought = registers(here)[0]
    return len(loads)


def test_the_clock_is_read_before_the_first_step_and_after_the_last():
    for step, load in zip(pointer_chase.STEPS, ("LDG", "LDS"), strict=True):
        code = compiled(step)
        clocks = [i.address for i in code if "SR_CLOCKLO" in i.text]
        looped = [i.address for loop in loops(code) for i in loop if i.opcode.startswith(load)]
        assert len(clocks) == 2 and clocks[0] < min(looped) and max(looped) < clocks[1]


def test_footprints_are_named_in_their_largest_unit():
    assert [latency.size(n) for n in (96, 4096, 3 * 2**19, 2**21, 2**32)] == [
        "96 bytes",
        "4 KiB",
        "1536 KiB",
        "2 MiB",
        "4 GiB",
    ]


# --- divergence ---


def body(paths: int, group: int) -> Metrics:
    """Return the simulator's counts on the line that does a way's work."""
    n, trips = divergence.THREADS, 2
    traced = trace(
        divergence.divergence_ways,
        1,
        n,
        np.ones(n, np.float32),
        np.zeros(n, np.float32),
        U32(paths),
        U32(group),
        U32(trips),
    )
    (line,) = [number for number, text in traced.source.items() if "value = step +" in text]
    return traced.by_line[line]


@pytest.mark.parametrize("paths", [1, 2, 3, 5, 8, 31, 32])
def test_ways_that_lanes_choose_share_a_warp_and_those_that_warps_choose_do_not(paths):
    once = body(1, 1)
    by_lane, by_warp = body(paths, 1), body(paths, divergence.WARP)
    assert (
        by_lane.warp_instructions == paths * once.warp_instructions
        and by_warp.warp_instructions == once.warp_instructions
    )
    assert by_lane.thread_instructions == by_warp.thread_instructions == once.thread_instructions
    assert (by_lane.warp_efficiency, by_warp.warp_efficiency) == (pytest.approx(1 / paths), 1)


def test_a_way_is_branched_around_and_its_work_is_not_predicated():
    step = divergence.STEPS[0]
    work = longest_loop(step)
    assert count(work, "FFMA") == 64 >= 0.95 * len(work) and not [
        i.text for i in work if i.opcode.startswith(("SEL", "FSEL"))
    ]
    code = compiled(step)
    ways = max(loops(code), key=len)
    assert set(work) < set(ways) and count(ways, "BSSY") == count(ways, "BSYNC") == 1
    assert not [i.text for i in ways if i.text.startswith("@") and i.opcode.startswith("FFMA")]
    parts = next(n for n, i in enumerate(ways) if i.opcode.startswith("BSSY"))
    assert any(
        i.text.startswith("@") and i.opcode == "BRA" for i in ways[parts : ways.index(work[0])]
    )


def test_a_way_ends_where_its_closed_form_says():
    start = np.random.default_rng(1).random(512, dtype="float32")
    target = np.empty_like(start)
    divergence.run_1_lanes(start, target, 7, 64)
    assert np.allclose(target, divergence.expected(np, start, 7, 64, 1), rtol=1e-5)
    assert not np.allclose(target, divergence.expected(np, start, 7, 48, 1), rtol=1e-3)
    assert not np.allclose(target, divergence.expected(np, start, 7, 64, 32), rtol=1e-3)
    divergence.run_2_warps(start, target, 7, 64)
    assert np.allclose(target, divergence.expected(np, start, 7, 64, divergence.WARP), rtol=1e-5)


# --- shared memory ---


@pytest.mark.parametrize("stride_", range(34))
def test_the_wavefronts_of_a_stride_are_those_that_the_simulator_counts(stride_):
    target = np.zeros(banks.THREADS, np.uint32)
    m = trace(
        banks.banks_1_strided,
        1,
        banks.THREADS,
        banks.linked(),
        target,
        U32(stride_),
        U32(2),
        record=(),
    ).metrics
    assert m.shared_load_requests == 2 * banks.UNROLLED * banks.THREADS // 32
    assert m.shared_load_wavefronts == banks.wavefronts(stride_) * m.shared_load_requests
    assert np.array_equal(target, banks.expected(banks.THREADS, stride_, 2 * banks.UNROLLED))


def test_known_wavefronts():
    assert [banks.wavefronts(s) for s in (0, 1, 2, 3, 4, 8, 16, 31, 32, 33)] == [
        1,
        1,
        2,
        1,
        4,
        8,
        16,
        1,
        32,
        1,
    ]


def test_no_load_from_shared_memory_is_left_out_joined_or_moved():
    loop = longest_loop(banks.STEPS[0])
    assert chained(loop, "LDS", "LEA") == 64 and {
        i.opcode for i in loop if i.opcode.startswith("LD")
    } == {"LDS"}


# --- ceilings and launches ---


def test_the_peak_kernels_loop_is_multiply_adds_on_registers_alone():
    loop = longest_loop(ffma.STEPS[0])
    multiply_adds = [i for i in loop if i.opcode == "FFMA"]
    assert len(multiply_adds) == 2 * ffma.PAIRS * ffma.UNROLLED >= 0.95 * len(loop)
    assert all(not re.search(r"\bUR\d|c\[", i.text) for i in multiply_adds)
    assert 2 * 256 * len(multiply_adds) == ffma.flops(256, 1)


def test_turns_are_a_power_of_a_matrix():
    start = np.random.default_rng(2).random(256, dtype="float32")
    target = np.empty_like(start)
    ffma.run_1_peak(start, np.full(256, ffma.TURN, "float32"), target, 5)
    x, y = (
        start[:, None] + np.arange(ffma.PAIRS, dtype="float64"),
        np.repeat(-start[:, None].astype("float64"), ffma.PAIRS, axis=1),
    )
    for _ in range(5 * ffma.UNROLLED):
        x += ffma.TURN * y
        y -= ffma.TURN * x
    assert np.allclose(ffma.expected(start, 5), (x + y).sum(axis=1), rtol=1e-12)
    assert (
        np.abs(target - ffma.expected(start, 5)).max()
        < 1e-4
        < 0.05
        < np.abs(target - ffma.expected(start, 4)).min()
    )


def test_ceilings_are_computed_right():
    found = [
        (case.parameters["kind"], variant.by, error)
        for case, variant, error in rehearse(PLACE, ceilings.cases(PLACE))
    ]
    assert {kind for kind, _, _ in found} == {"copy", "ffma"} and {by for _, by, _ in found} == {
        "numba",
        "cupy",
    }
    assert all(error is not None and error <= 1 for _, _, error in found)


def test_a_copy_that_leaves_a_number_out_is_no_ceiling():
    case = ceilings.largest_copy(PLACE, 10)
    variant = case.variants[0]
    assert variant.result() == 2**10  # nothing was copied yet
    variant.run()
    variant.run.args[1][7] = 2
    assert variant.result() == 1


def test_as_many_blocks_as_a_gpu_holds():
    assert PLACE.resident_blocks(256) == 132 * 8
    t4 = Place(np, "T4", T4.compute_capability, T4.sms, T4.l2_bytes)
    assert t4.resident_blocks(256) == 40 * 4
    assert Place(np, "a new one", (99, 0), 10, 0).resident_blocks(256) == 10 * 4


@pytest.mark.parametrize(("arrays", "kernel"), launches.EMPTY.items())
def test_an_empty_kernel_is_empty(arrays, kernel):
    code = compile_kernel(kernel, ", ".join(["float32[::1]"] * arrays) or "()", (9, 0)).machine_code
    assert {i.opcode.partition(".")[0] for i in code} <= {"LDC", "EXIT"}


def test_a_graph_is_captured_once_after_its_work_was_done_once(monkeypatch):
    told = []

    class Stream(nullcontext):
        ptr = 7

        def __init__(self, non_blocking):
            super().__init__()
            # A stream that waits for the default one cannot be captured while that one works.
            assert non_blocking

        def begin_capture(self):
            told.append("begin")

        def end_capture(self):
            told.append("end")
            return SimpleNamespace(launch=lambda: told.append("replay"))

    synchronized = SimpleNamespace(synchronize=lambda: told.append("synchronize"))
    xp = SimpleNamespace(cuda=SimpleNamespace(Stream=Stream, Device=lambda: synchronized))
    monkeypatch.setattr("numba.cuda.external_stream", lambda pointer: f"stream {pointer}")
    place, ready = SimpleNamespace(xp=xp), lambda: told.append("ready")
    run = replayed(place, lambda stream: told.append(stream), ready)
    assert told == []  # a graph that cannot be captured is the problem of its variant alone
    run()
    run()
    assert told == [0, "synchronize", "begin", "stream 7", "end", "ready", "replay", "replay"]


def test_five_kernels_and_one_compute_the_same():
    for case in (launch.five(PLACE, 1000), launch.empty(PLACE, 4)):
        assert [variant.by for _, variant, _ in rehearse(PLACE, iter([case]))].count("numba") >= 1
    assert (
        launch.five(PLACE, 1000).variants[0].bytes == 11 * 4000
        and launch.five(PLACE, 1000).variants[1].bytes == 2 * 4000
    )
