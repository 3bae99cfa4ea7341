"""One modelled SM against what follows from its rates and latencies by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT

from warpwise.stopwatch import engine

RATES = np.array([2.0, 4.0])  # clocks for a sector of L2, of DRAM
LATENCY = np.array([25.0, 30.0, 200.0, 500.0, 0.0])  # shared memory, L1, L2, DRAM, its load
START = 100.0


def run(
    instructions: list[tuple],
    walks: list[list[int]],
    warps: list[int],
    slots: int = 1,
    blocks: int = 1,
    second: bool = False,
    more: float = 0.0,
    reads: list[tuple[int, int]] | None = None,
    waits: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Run (kind, results, sources, clocks, latency, lsu, sectors, dram) along some walks.

    ``reads``: of each bank of registers, by instruction; none unless said. ``waits``: the share of
    accesses that wait for DRAM."""
    n = len(instructions)
    results, sources = np.full((n, 2), -1, np.int16), np.full((n, 3), -1, np.int16)
    for i, row in enumerate(instructions):
        results[i, : len(row[1])] = row[1]
        sources[i, : len(row[2])] = row[2]
    kinds = np.array([row[0] for row in instructions], np.int8)
    answer = np.where(kinds == engine.LSU, engine.LONG, engine.WAIT).astype(np.int8)
    columns = [np.array([row[k] for row in instructions], float) for k in range(3, 8)]
    clocks, latencies, lsu, sectors, dram = columns
    streams = np.zeros((len(walks), max(map(len, walks))), np.int32)
    for row, walk in enumerate(walks):
        streams[row, : len(walk)] = walk
    ends, stalls, _ = engine.simulate(
        kinds, results, sources, clocks, latencies, answer, lsu, sectors, dram,
        np.full(n, waits), np.array(reads or [(0, 0)] * n, float),
        streams, np.array([len(w) for w in walks]), np.array(warps), slots, blocks,
        np.append(LATENCY[:4], more), RATES, START, second,
    )  # fmt: skip
    return ends, stalls


def fma(result: int, *sources: int) -> tuple:
    return (engine.FP32, (result,), sources, 2, 4, 0, -1, 0)


def load(sectors: float, dram: float, lsu: float = 1, result: int = 9) -> tuple:
    return (engine.LSU, (result,), (), 1, 0, lsu, sectors, dram)


BARRIER = (engine.BARRIER, (), (), 1, 1, 0, -1, 0)
HUNDRED = [0] * 100


def clocks(*args: object, **options: object) -> float:
    ends, _ = run(*args, **options)  # type: ignore[arg-type]
    return ends[-1] - START


def test_a_chain_of_additions_takes_their_latency():
    assert clocks([fma(1, 1)], [HUNDRED], [0]) == pytest.approx(400, abs=8)


def test_independent_additions_take_their_pipe():
    assert clocks([fma(1)], [HUNDRED], [0]) == pytest.approx(200, abs=8)
    assert clocks([fma(1)], [HUNDRED], [0], second=True) == pytest.approx(100, abs=8)


@pytest.mark.parametrize(
    ("reads", "expected"),
    [((1, 1), 100), ((2, 0), 200), ((1, 2), 200), ((0, 3), 300)],
)
def test_additions_take_the_busier_bank_of_their_registers(reads: tuple, expected: float):
    """Two pipes take one in each clock, and a bank gives one register."""
    took = clocks([fma(1)], [HUNDRED], [0], second=True, reads=[reads])
    assert took == pytest.approx(expected, abs=8)


def test_banks_even_out_between_instructions():
    """Two of one bank and one of the other in turn: three clocks for two."""
    took = clocks([fma(1), fma(2)], [[0, 1] * 50], [0], second=True, reads=[(1, 2), (2, 1)])
    assert took == pytest.approx(150, abs=8)


def test_warps_of_one_scheduler_share_its_pipe_and_others_do_not():
    assert clocks([fma(1)], [HUNDRED], [0] * 4) == pytest.approx(200, abs=8)
    assert clocks([fma(1)], [HUNDRED], [0] * 8) == pytest.approx(400, abs=8)


@pytest.mark.parametrize(
    ("access", "expected"),
    [(load(-1, 0), 26), (load(0, 0), 31), (load(4, 0), 209), (load(4, 4), 517)],
    ids=["shared", "L1", "L2", "DRAM"],
)
def test_a_load_takes_the_latency_of_where_it_ends(access: tuple, expected: float):
    """And the clocks of its sectors: four take 8 of L2 and 16 of DRAM."""
    assert clocks([access, fma(1, 9)], [[0, 1]], [0]) == pytest.approx(expected, abs=4)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_load_waits_for_dram_by_the_share_of_those_that_fetch(share: float):
    """The way back is longer by 300 clocks from DRAM, for one in four of them by 75 on average."""
    walk, access = [[0, 1]], load(1, 0.01)
    took = clocks([access, fma(1, 9)], walk, [0], waits=share)
    assert took == pytest.approx(1 + 2 + LATENCY[2] + share * (LATENCY[3] - LATENCY[2]), abs=4)


def test_loads_that_l2_has_stand_in_line_behind_those_of_dram():
    """A queue of 100 loads, 16 clocks of DRAM each, and then the way from L2 alone."""
    walk = [[0] * 100 + [1]]
    took = clocks([load(4, 4), fma(1, 9)], walk, [0], waits=0.0)
    assert took == pytest.approx(1_600 + LATENCY[2], abs=8)


def test_many_loads_take_the_rate_of_dram():
    """100 loads of 4 sectors in each of 8 warps, 4 clocks a sector."""
    walk = [0] * 100 + [1]
    assert clocks([load(4, 4), fma(1, 9)], [walk], [0] * 8) == pytest.approx(12_800 + 500, rel=0.02)


def test_conflicts_take_the_load_store_units():
    assert clocks([load(-1, 0, lsu=8), fma(1, 9)], [[*HUNDRED, 1]], [0] * 4) == pytest.approx(
        3_200, rel=0.02
    )


def test_a_barrier_waits_for_the_slowest_warp():
    slow, quick = [*HUNDRED, 1], [1]
    ends, stalls = run([fma(1, 1), BARRIER], [slow, quick], [0, 1])
    assert ends[-1] - START == pytest.approx(400, abs=8)
    after, _ = run([fma(1, 1), BARRIER], [slow + HUNDRED, quick + HUNDRED], [0, 1])
    assert after[-1] - START == pytest.approx(400 + engine.BARRIER_CLOCKS + 400, abs=12)
    assert stalls[:, engine.WAIT].sum() > 250


def test_waiting_for_memory_is_called_the_long_scoreboard():
    _, stalls = run([load(4, 4), fma(1, 9)], [[0, 1]], [0])
    assert stalls.sum(axis=0).argmax() == engine.LONG
    assert stalls[1, engine.LONG] == pytest.approx(516, abs=4)


def test_a_block_takes_the_place_of_one_that_ended():
    ends, _ = run([fma(1, 1)], [HUNDRED], [0], slots=1, blocks=3)
    assert np.diff(ends) == pytest.approx([500, 500], abs=8)
    together, _ = run([fma(1, 1)], [HUNDRED], [0], slots=3, blocks=3)
    assert together[-1] < ends[0] + 10


def test_walks_that_disagree_on_a_barrier_end_all_the_same():
    ends, _ = run([fma(1, 1), BARRIER], [[0, 1, 0, 1, 0], [0, 1, 0]], [0, 1])
    assert ends[-1] < engine.LIMIT


@pytest.mark.slow
def test_it_compiles_where_no_folder_can_be_written(tmp_path: Path):
    """Numba keeps what it compiled beside the module, or in the user's cache."""
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder")
    code = (
        "from numba.core import caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "from warpwise.stopwatch import engine\n"
        "print(engine.compiled(lambda x: x + 1)(1))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "2", done.stderr[-500:]


def test_loads_wait_longer_for_dram_the_busier_it_is():
    """One load alone does not; of a stream of them each waits for its share of what load adds."""
    once, many = [load(4, 4), fma(1, 9)], [[0, 1] * 200]
    assert clocks(once, [[0, 1]], [0], more=600) == clocks(once, [[0, 1]], [0])
    rounds = [clocks(once, many, [0] * 8, more=more) / 200 for more in (0, 6000)]
    share = 8 * 4 * RATES[1] / rounds[1]
    assert rounds[1] - LATENCY[3] == pytest.approx(6000 * share, rel=0.1)
    assert rounds[1] > 1.5 * rounds[0]
