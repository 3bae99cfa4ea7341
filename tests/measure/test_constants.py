"""The constants suite: kernels as they should be compiled, and a reduction that gives back what
the stopwatch's own engine was given."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpwise import trace
from warpwise.errors import MeasureError
from warpwise.kernels import pointer_chase as chase
from warpwise.measure import micro
from warpwise.measure.constants import REDUCED, constants_of
from warpwise.measure.place import in_simulator
from warpwise.measure.worker import measured
from warpwise.stopwatch import Card, find
from warpwise.toolchain import Instruction, compile_kernel, loops, missing

compiles = pytest.mark.skipif(bool(missing()), reason=f"no {', '.join(missing())}")
U32 = np.uint32
once = cache(compile_kernel)  # many ask about the same kernels


# --- the kernels ---


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    """The suite's record of a rehearsal in the simulator."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPWISE_BACKEND", "simulator")
        *_, last = measured(in_simulator(), "constants", "warpwise measure constants")
    return last


def test_the_suite_computes_what_it_should_and_the_simulator_has_no_clock(record):
    rows = record["rows"]
    assert len(rows) == 9 and not any(row["problem"] for row in rows)
    assert all(row["parameters"]["of"] in REDUCED for row in rows)
    assert record["constants"] == constants_of(rows) == {}
    assert all(row["predicted_ms"] is None for row in rows)


def compiled(number: int) -> tuple[Instruction, ...]:
    (built,) = micro.STEPS[number].built
    return once(built.kernel, built.types, (9, 0)).machine_code


def longest(code: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    inner = [loop for loop in loops(code) if not any(set(o) < set(loop) for o in loops(code))]
    return max(inner, key=len)


def count(code, opcode: str) -> int:
    return sum(i.opcode.startswith(opcode) for i in code)


@compiles
@pytest.mark.parametrize(
    ("number", "load", "other"), [(0, "LDS.128", "LDG"), (1, "LDG.E.128", "LDS")]
)
def test_each_load_of_a_width_is_whole_and_needs_the_one_before(number, load, other):
    """An unrolled loop of nothing but loads of 16 bytes, and sums of their words."""
    loop = longest(compiled(number))
    loads = [i for i in loop if i.opcode.startswith("LD") and not i.opcode.startswith("LDC")]
    assert len(loads) % micro.UNROLLED == 0 and len(loads) >= micro.UNROLLED
    assert all(i.opcode.startswith(load) for i in loads) and not count(loop, other)
    assert not count(loop, "ST") + count(loop, "BAR")
    assert len(loop) < 8 * len(loads)


@compiles
def test_the_chase_under_load_is_a_chase():
    code = compiled(3)
    chases = [loop for loop in loops(code) if count(loop, "LDG") >= micro.UNROLLED]
    copies = [loop for loop in loops(code) if count(loop, "STG")]
    assert chases and copies
    assert not any(count(loop, "STG") for loop in chases if len(loop) < len(code) // 2)


@compiles
@pytest.mark.parametrize(("number", "clocks"), [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2)])
def test_clocks_are_read_before_and_after(number: int, clocks: int):
    code = compiled(number)
    assert sum("SR_CLOCKLO" in i.text for i in code) == clocks
    if number == 4:
        assert sum("GLOBALTIMER" in i.text for i in code) >= 2


@compiles
def test_multiply_adds_fill_their_loops():
    for number, chains in ((2, 1), (4, 8)):
        loop = longest(compiled(number))
        assert count(loop, "FFMA") >= chains * 16 and count(loop, "FFMA") > 0.9 * len(loop)
        assert not count(loop, "LD") + count(loop, "ST")


# --- the reduction ---


def of(name: str, **parameters: Any) -> dict[str, Any]:
    return {"parameters": {"of": name, **parameters}}


def test_a_start_is_the_gap_between_blocks_of_one_sm():
    clocks = [[0, 100, 200], [1, 90, 210], [0, 500, 620], [1, 520, 600], [0, 930, 999]]
    assert constants_of([of("start of a block", clocks=clocks)]) == {"start_clocks": 310.0}


def test_a_clock_is_the_median_over_blocks():
    clocks = [[1980, 1000], [3960, 2000], [10, 0], [1000, 1000]]
    assert constants_of([of("clock under load", clocks=clocks)]) == {"ghz": 1.98}


@pytest.mark.parametrize(("per_clock", "width"), [(63.1, 64), (64.0, 64), (124.5, 128), (65.9, 64)])
def test_a_width_is_the_one_that_what_was_measured_comes_near(per_clock: float, width: int):
    found = constants_of([of("L1 bytes", bytes=per_clock * 1000, clocks=[[5, 1005], [9, 900]])])
    assert found == {"l1_path": width, "l1_path_measured": pytest.approx(per_clock)}


def test_other_rows_say_nothing():
    assert constants_of([{"parameters": {"bytes": 1}}, of("something else", clocks=1)]) == {}


# --- a closed loop: the engine's own clocks give back the constants that it was given ---

GIVEN = {
    "shared_path": 64,
    "l1_path": 64,
    "shared_latency": 25.0,
    "l1_latency": 41.0,
    "l2_latency": 301.0,
    "dram_latency": 707.0,
    "start_clocks": 333.0,
}
CARD = find("H200").with_measured(GIVEN)


def clocks_of(card: Card, kernel: Any, types: str, launch: tuple[Any, ...], blocks: int = 1,
              level: str = "") -> float:  # fmt: skip
    """Return the clocks in which the engine runs some blocks on one SM.

    ``level``: "L1", "L2" or "DRAM", which then has all that loads of global memory ask for."""
    from warpwise.stopwatch.evidence import named_lines
    from warpwise.stopwatch.inlined import inlined
    from warpwise.stopwatch.predict import predicted
    from warpwise.stopwatch.program import program_of
    from warpwise.stopwatch.sass import read

    code = once(kernel, types, card.code_cc)
    made = trace(kernel, *launch, sanitize=False)
    ops = [*map(read, code.machine_code)]
    made = inlined(made, named_lines(made, ops))
    shared = max(code.shared_bytes, made.shared_bytes_per_block)
    program = program_of(made, ops, code.registers, shared)
    run = predicted(made, program, card, made.grid)
    table = run.columns
    if level:
        some = np.where(table.sectors >= 0, 1.0, table.sectors)
        far = np.where(table.sectors >= 0, 1.0, 0.0)
        table = replace(
            table,
            sectors=np.where(table.sectors >= 0, 0.0, some) if level == "L1" else some,
            dram=far if level == "DRAM" else 0 * far,
        )
    return float(replace(run.model.sm, table=table).ends(blocks, 1)[-1])


def per_trip(run: Any) -> float:
    """Return the clocks of one trip, from two launches with different numbers of them."""
    few, many = 2, 4
    return (run(many) - run(few)) / (many - few)


@compiles
@pytest.mark.slow
@pytest.mark.parametrize(("number", "name"), [(0, "shared bytes"), (1, "L1 bytes")])
def test_widths_come_back(number: int, name: str, width: int = 64):
    card = CARD.with_measured({"shared_path": width, "l1_path": width})
    (built,) = micro.STEPS[number].built
    level = "L1" if number else ""

    def run(trips: int) -> float:
        arrays = micro.links_in_quads(), np.zeros(micro.THREADS, U32)
        launch = 1, micro.THREADS, *arrays, U32(trips), np.zeros((micro.THREADS, 2), np.int64)
        return clocks_of(card, built.kernel, built.types, launch, level=level)

    loaded = micro.QUAD_BYTES * micro.THREADS * micro.UNROLLED
    row = of(name, bytes=loaded, clocks=[[0, per_trip(run)]])
    key = "l1_path" if number else "shared_path"
    assert constants_of([row])[key] == width


@compiles
@pytest.mark.slow
@pytest.mark.parametrize("name", ["shared", "L1", "L2", "DRAM"])
def test_latencies_come_back(name: str):
    (built,) = chase.STEPS[name == "shared"].built
    words, threads = (chase.SHARED_WORDS, chase.THREADS) if name == "shared" else (256, 1)

    def run(trips: int) -> float:
        links = chase.linked(np, chase.cycle(words), 1)
        launch = 1, threads, links, U32(trips), np.zeros(2, U32), np.zeros(1, np.int64)
        return clocks_of(CARD, built.kernel, built.types, launch, level=name)

    steps = chase.UNROLLED
    row = of(f"{name} latency", clocks_per_step=per_trip(lambda n: run(4 * n)) / (4 * steps))
    (found,) = constants_of([row]).values()
    assert found == pytest.approx(GIVEN[f"{name.lower()}_latency"], abs=3)


@compiles
@pytest.mark.slow
def test_the_start_of_a_block_comes_back():
    (built,) = micro.STEPS[2].built

    def ends(blocks: int) -> float:
        arrays = np.ones(32, np.float32), np.ones(32, np.float32)
        launch = 1, 32, *arrays, U32(4), np.zeros((32, 3), np.int64)
        return clocks_of(CARD, built.kernel, built.types, launch, blocks)

    one, two = ends(1), ends(2)
    alone = one - GIVEN["start_clocks"]
    row = of("start of a block", clocks=[[0, one - alone, one], [0, two - alone, two]])
    assert constants_of([row])["start_clocks"] == pytest.approx(GIVEN["start_clocks"], abs=2)


# --- a card with constants of its own ---


def test_a_card_takes_what_was_measured():
    published = find("H200")
    own = published.with_measured(GIVEN | {"ghz": 1.7, "l1_path_measured": 63.0}, "measured here")
    assert (own.ghz, own.core.l1_path, own.core.l1_latency) == (1.7, 64, 41.0)
    assert own.dram_latency == 707 and own.start_clocks == 333
    assert own.sources["ghz"] == own.sources["latencies"] == own.core.source == "measured here"
    assert published.core.l1_path == 128 and published.start_clocks is None
    assert published.with_measured({}) == published
    assert own.core.unified_bytes == published.core.unified_bytes


def test_a_file_of_measured_constants_is_found_by_name(tmp_path: Path):
    record = {
        "suite": "constants", "device": "NVIDIA H200", "date": "2026-01-02T03:04:05+00:00",
        "rows": [], "constants": {"ghz": 1.75, "dram_latency": 720.0},
    }  # fmt: skip
    path = tmp_path / "constants.json"
    path.write_text(json.dumps(record))
    card = find("H200", measured=path)
    assert (card.ghz, card.dram_latency, card.l2_latency) == (1.75, 720.0, find("H200").l2_latency)
    assert "NVIDIA H200" in card.sources["ghz"] and "2026-01-02" in card.sources["ghz"]
    with pytest.raises(MeasureError, match="constants of NVIDIA H200, and not of RTX A6000"):
        find("RTX A6000", measured=path)
    path.write_text(json.dumps(record | {"constants": {}}))
    with pytest.raises(MeasureError, match="no constants"):
        find("H200", measured=path)
