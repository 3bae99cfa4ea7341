"""Chapter 3: its form, and its claims on memories, latencies, barriers and overlapped copies."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from support.cells import cells
from support.chapter_form import ChapterForm, number, run

from warpwise.devices import A100, H100, H100_PCIE, MEASURED, V100

pytestmark = pytest.mark.slow  # its cells are run


class TestForm(ChapterForm):
    stem = "03_memory_hierarchy"
    sourced: ClassVar = {
        "255": "registers of a thread at most (cuda_guide)",
        "20": "clocks, as is often said",
        "200": "clocks, as is often said, and of L2 (abdelkhalik2022)",
        "300": "clocks, as is often said",
        "23": "clocks of a load from shared memory (abdelkhalik2022)",
        "19": "clocks of a store there (abdelkhalik2022)",
        "33": "clocks of L1 (abdelkhalik2022)",
        "290": "clocks of global memory (abdelkhalik2022)",
        "466": "clocks of global memory, on an A100 (luo2024hopper)",
        "64": "KiB of constant memory (cuda_guide)",
        "3.0": "of PCIe (cuda_best_practices)",
        "7.0": "compute capability (cuda_guide)",
        "8.0": "compute capability (cuda_guide)",
        "9.0": "compute capability (cuda_guide)",
        "378": "clocks of the far part of an A100's L2 (ernst_gpu_benches)",
        "45": "minutes",
        "75": "minutes, as the lab says",
        "100": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "128": "threads of a block in the cells beside it",
        "16": "warps tried",
        "0": "block that writes",
        "1": "block that looks; chapter",
        "2": "ms of a step; chapter",
        "3": "ms of a step",
    }


@pytest.fixture(scope="module")
def chapter():
    return run("03_memory_hierarchy")


# Measurements of an A100: gpu-benches, NVIDIA's datasheet.
CLOCKS, HZ, BYTES_PER_S, SMS = Fraction("571.8"), 1_410_000_000, 2_039_000_000_000, 108


def value(chapter, name: str) -> float:
    return number(chapter.glued[name])


def under_way(clocks: Fraction, hz: int, bytes_per_s: int) -> Fraction:
    return clocks * bytes_per_s / hz


def test_rank_1_asks_129_times_for_each_element(chapter):
    warps = 256 // 32
    assert value(chapter, "warps") == warps
    assert value(chapter, "requests_1") == warps * (1 + 128)
    assert value(chapter, "asked") == 4 * 256 * (1 + 128) and value(chapter, "held") == 4 * 256
    assert value(chapter, "again") == 1 + 128


def test_staging_asks_once(chapter):
    assert value(chapter, "requests_3") == 256 // 32
    assert value(chapter, "fewer") == 129


def test_the_waits_are_sums_of_latencies(chapter):
    staged = 572 + 129 * 29
    assert value(chapter, "times_uncached") == round(129 * 572 / staged)
    assert value(chapter, "times_cached") == pytest.approx((572 + 128 * 36.2) / staged, abs=0.051)


def test_the_instructions_and_not_the_bytes_limit_rank_3(chapter):
    slots, for_bytes = map(
        int, re.search(r"(\d+) ms for the slots, (\d+) for the bytes", chapter.printed).groups()
    )
    assert for_bytes == round(8 * 2**28 / BYTES_PER_S * 1e3)
    # Each trip of the loop issues at least a load, a comparison and a branch, 128 times a warp, in
    # 4 slots a clock and SM.
    assert slots > 3 * 128 * 2**28 / 32 / (SMS * 4 * HZ) * 1e3 > for_bytes


def test_latencies_are_the_measured_ones(chapter):
    seen = MEASURED[A100.name]
    assert [value(chapter, f"{level}_clocks") for level in ("shared", "l1", "l2", "dram")] == [
        29,
        36,
        211,
        572,
    ]
    assert (
        seen.dram_clocks.source == seen.l1_clocks.source == "ernst_gpu_benches"
        and seen.shared_clocks.source == "luo2024hopper"
    )
    assert re.search(r"^H100 PCIe .* 652$", chapter.printed, re.MULTILINE)
    assert value(chapter, "l2_over_l1") == round(211 / 36.2) and value(
        chapter, "dram_over_l1"
    ) == round(571.8 / 36.2)
    assert "1,410 MHz" in seen.dram_clocks.how
    assert value(chapter, "least_over_l1") == round(290 / 33)


def test_our_own_latencies_lie_near_the_others_and_half_of_l2_is_near(chapter):
    (seen,) = re.findall(r"^H200, ours +\? +(\d+) +(\d+) +(\d+) +(\d+)$", chapter.printed, re.M)
    others = MEASURED[H100_PCIE.name]
    for clocks, level in zip(seen, ("shared", "l1", "l2", "dram"), strict=True):
        assert abs(int(clocks) / getattr(others, f"{level}_clocks").value - 1) < 0.2
    assert value(chapter, "stays") < value(chapter, "l2_driver") / 2 < value(chapter, "leaves")
    assert value(chapter, "dram_step") == int(seen[-1]) + value(chapter, "address")
    (of_sm,) = re.findall(r"^H200, loaded .* (\d+) warps of at most 64$", chapter.printed, re.M)
    assert int(of_sm) == round(1312.75 / 1.9785 * 4800 / 132 / 128)  # constants.json


def test_sizes_of_the_memories_on_the_chip(chapter):
    """An A100's whitepaper: 108 SMs with 256 KiB of registers, 192 of L1, at most 164 to share."""
    found = re.findall(r"(\d+) KiB on an SM, (\d+) MiB on all 108", chapter.printed)
    assert [(int(of_sm), int(in_all)) for of_sm, in_all in found] == [
        (kib, round(108 * kib / 1024)) for kib in (256, 192, 164)
    ]
    assert value(chapter, "registers_kib") == 256


def test_an_h100_sxm_needs_more_warps_than_it_holds(chapter):
    """652 clocks at 1.755 GHz on a PCIe card of the same chip; 3,350 GB/s, and 132 SMs."""
    needed = under_way(Fraction(652), 1_755_000_000, 3_350_000_000_000) / 132 / 128
    assert value(chapter, "warps_h100") == round(needed) > value(chapter, "most_h100")
    assert value(chapter, "most_h100") == H100.sm.warps == 64
    half = under_way(Fraction(290), HZ, BYTES_PER_S) / SMS / 128
    assert half == pytest.approx(value(chapter, "warps_a100") / 2, rel=0.03)


def test_moving_one_load_up_nearly_doubles_the_used_slots(chapter):
    """The dare below the kernel of one's own; 32 warps use more still."""
    source = next(cell.source for cell in chapter.code if "def mix(" in cell.source)
    load, work = (
        "        b = x[i + step]\n",
        "        for _ in range(8):\n            total = total",
    )
    moved = source.replace(load, "").replace(work, load + work, 1)
    plain, early, many = (
        slots_used(text) for text in (source, moved, source.replace("WARPS = 4", "WARPS = 32"))
    )
    assert 1.7 * plain < early < 2 * plain < many


def slots_used(text: str) -> int:
    shown = cells(text + "\nshown = line_by_line(trace(mix, 1, 32 * WARPS, ones, mixed))")["shown"]
    return int(shown.shown["rows"][0][2].split(" of ")[0].replace(",", ""))


def test_warps_that_hide_the_latency(chapter):
    of_a100 = under_way(CLOCKS, HZ, BYTES_PER_S)
    assert value(chapter, "kb_a100") == round(of_a100 / 1000)
    assert value(chapter, "kib_a100") == round(of_a100 / 1024)
    assert value(chapter, "warps_a100") == round(of_a100 / SMS / 128)
    assert value(chapter, "warps_four") == round(of_a100 / SMS / 512)
    assert value(chapter, "warps_v100") == round(
        under_way(Fraction("436.3"), 1_380_000_000, 900_000_000_000) / 80 / 128
    )
    assert value(chapter, "most_a100") == 64 and value(chapter, "line") == 32 * 4


def test_the_simulated_queue_keeps_littles_law(chapter):
    shares = {
        int(warps): int(share)
        for warps, share in re.findall(r"^ ?(\d+) warps: +(\d+)%", chapter.printed, re.MULTILINE)
    }
    full = under_way(CLOCKS, HZ, BYTES_PER_S) / SMS / 128
    for warps, share in shares.items():
        assert share == pytest.approx(float(min(100, 100 * warps / full)), abs=1.5)
    assert sorted(shares) == [8, 16, 32, 64] and value(chapter, "at_16") == shares[16]


def test_the_barrier_and_only_the_barrier_makes_rank_2_right(chapter):
    assert (
        "race on part[" in chapter.printed
        and "only 72 of 128 threads of block (1, 0, 0) reach this barrier" in chapter.printed
    )
    source = "\n".join(cell.source for cell in chapter.code)
    second, third = (
        re.search(rf"def rank_{n}\(.*?rank\[i\] = smaller", source, re.DOTALL)[0] for n in (2, 3)
    )
    assert third == second.replace("rank_2", "rank_3").replace(
        "part[t] = x[i]\n", "part[t] = x[i]\n    cuda.syncthreads()\n"
    )


def test_what_the_simulator_refuses(chapter):
    assert "box[0] is read, but nothing was written there" in chapter.printed
    assert "is a constant, and a kernel cannot write to it" in chapter.printed


def test_a_pointer_chase_is_one_load_after_another(chapter):
    assert f"50 loads, the last at {50 * 7 % 64}" in chapter.printed


def test_a_v100_reads_its_memory_75_times_while_a_link_brings_it_once(chapter):
    assert value(chapter, "passes") == 900 // 12 and V100.dram_gb_per_s == 900


def test_four_chunks_one_after_another_and_overlapped(chapter):
    took, free, back = (2, 3, 1), [0, 0, 0], 0
    for _ in range(4):
        now = 0
        for engine, time in enumerate(took):
            now = free[engine] = max(now, free[engine]) + time
        back = now
    assert value(chapter, "overlapped_ms") == back == 15
    assert value(chapter, "serial_ms") == 4 * sum(took) and value(chapter, "step_ms") == max(took)


def test_quiz_answers_that_are_numbers(chapter):
    assert chapter.quiz["memory-overlap"].right == f"About {max(10, 1, 10)} ms"
    assert chapter.quiz["memory-little"].right.startswith("Twice")


def test_exercise_answers(chapter):
    assert -(-under_way(CLOCKS, HZ, BYTES_PER_S) // (SMS * 512)) == 15
    assert [48 / n + (n - 1) * 24 / n for n in (1, 2, 4, 8)] == [48, 36, 30, 27]
    passes = np.arange(1, 10)
    assert passes[1000 / 12 + passes * 1000 / 900 < passes * 1000 / 40][0] == 4
