"""Chapter 7: its form, and its claims.

Counts of accesses follow from the graph of the three sigmoids, by ``warpwise.model.fusion``; times
from datasheets, by hand; memory of a chain from a set that is filled and emptied step by step."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number

from warpwise.model.fusion import Operation, kernels, unfused

pytestmark = pytest.mark.slow  # its cells are run

SIGMOIDS = [
    Operation(made, "sigmoid", (of,), 2, 1)
    for made, of in (("s1", "x"), ("s2", "s1"), ("out", "s2"))
]
SLOPES = [
    Operation(f"d{of}", "slope", (s, f"d{s}"), 3)
    for of, s in (("s2", "out"), ("s1", "s2"), ("x", "s1"))
]
RESULTS = ("out", "dx")
PLANS = {
    "a kernel each": unfused(SIGMOIDS + SLOPES, RESULTS),
    "all stored": kernels([SIGMOIDS, SLOPES], RESULTS),
    "out again": kernels([SIGMOIDS, SIGMOIDS[2:] + SLOPES], RESULTS),
    "all again": kernels([SIGMOIDS, SIGMOIDS + SLOPES], RESULTS),
}
# From datasheets: float32 FLOP/s, bytes/s from DRAM, special functions/s (16 lanes of 132 or 148
# SMs at the clock of the FLOP).
H100 = 67e12, 3350e9, 67e12 / (2 * 128) * 16
B200 = 75e12, 8000e9, 75e12 / (2 * 128) * 16


def accesses(name: str) -> int:
    return sum(len(kernel.accesses) for kernel in PLANS[name])


def picoseconds(name: str, device: tuple, itemsize: int) -> float:
    """Return the time of both passes for each element.

    Each kernel takes the longest of memory, float32, and special functions (two a sigmoid)."""
    flops, bytes_per_s, special = device
    total = 0
    for kernel in PLANS[name]:
        work = (
            sum(one.flops for one in kernel.operations),
            sum(2 * one.special for one in kernel.operations),
        )
        total += max(
            len(kernel.accesses) * itemsize / bytes_per_s, work[0] / flops, work[1] / special
        )
    return 1e12 * total


def held(layers: int, every: int) -> tuple[int, int]:
    """Return the most inputs in memory, and how many are made again."""
    memory = set(range(0, layers, every))
    most, again = len(memory), 0
    for last in reversed(range(layers)):
        made = {i for i in range(last // every * every, last + 1)} - memory
        memory |= made
        again += len(made)
        most = max(most, len(memory))
        memory.remove(last)
    return most, again


class TestForm(ChapterForm):
    stem = "07_recomputation"
    sourced = {
        "30": "% more time, measured (chen2016, figure 7)",
        "7": "GB (chen2016)",
        "48": "GB (chen2016)",
        "1,000": "layers (chen2016)",
        "90": "% of the time that recomputation costs (korthikanti2022); minutes, as the lab says",
        "37:00": "lecture",
        "40:30": "lecture",
        "45": "minutes",
        "120": "minutes, as the lab says",
    }
    chosen = {
        "64": "layers of the chain",
        "1": "in the formula of the peak",
        "16": "bits of the values in the cell below",
    }

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("eager", accesses("a kernel each")),
            ("stored", accesses("all stored")),
            ("again_1", accesses("out again")),
            ("again_3", accesses("all again")),
            ("flop_more", 3 * 2),
            ("exp_more", 3),
            ("ridge", 67 / 3.35),
            ("fp32_lanes", 128),
            ("special_lanes", 16),
            ("elements", 6),
            ("runs", 12),
            ("layers", 64),
            ("least", 8),
            ("least_peak", held(64, 8)[0]),
            ("least_extra", held(64, 8)[1]),
            ("only_first", held(64, 64)[0]),
            ("flat", 6),
            ("flat_extra", held(64, 6)[1]),
            ("chain_1", 5 * 64),
            ("chain_8", 5 * 64 + 2 * (64 - 8)),
            ("chain_more", round(100 * 112 / 320)),
            ("share", round(100 * (64 - 8) / 64 / 3)),
            ("depth", 4096),
            ("even", round(989e12 * 4 / 3350e9 / 2)),
            ("times_dearer", round(4096 / (989e12 * 4 / 3350e9 / 2))),
            ("before", round(9 / 20, 2)),
            ("after", round(15 / 12, 2)),
            ("special_share", round(100 * (6 / H100[2]) / (12 / H100[1]))),
        ],
    )
    def test_value_of(self, chapter, name, value):
        assert number(chapter.glued[name]) == pytest.approx(value, abs=0.006)

    def test_lecture_counts_eight_and_five(self, chapter):
        assert [accesses(name) for name in PLANS] == [15, 9, 8, 5]
        assert (chapter.glued["eighths"], chapter.glued["ninths"]) == ("5/8", "5/9")
        assert re.findall(r"(\d+) kernels, (\d+) loads and (\d+) stores", chapter.printed) == [
            (
                str(len(plan)),
                str(sum(len(k.reads) for k in plan)),
                str(sum(len(k.writes) for k in plan)),
            )
            for plan in PLANS.values()
        ]

    def test_work_of_each_variant(self, chapter):
        rows = re.findall(
            r"^([^\d\n]+?) +(\d+) FLOP and (\d+) exps$", chapter.printed, flags=re.MULTILINE
        )
        for name, flop, exps in rows:
            done = [one for kernel in PLANS[name] for one in kernel.operations]
            assert (int(flop), int(exps)) == (
                sum(one.flops for one in done),
                sum(one.special for one in done),
            )
        assert len(rows) == 4

    def test_modelled_times(self, chapter):
        for name in PLANS:
            times = [
                picoseconds(name, device, itemsize)
                for device in (H100, B200)
                for itemsize in (4, 2)
            ]
            assert f"{name:13} " + " ".join(f"{time:6.2f}" for time in times) in chapter.printed

    def test_when_it_pays(self, chapter):
        gain = [
            picoseconds("all stored", device, size) / picoseconds("all again", device, size)
            for device, size in ((H100, 4), (B200, 2))
        ]
        # The ratio of the accesses.
        assert chapter.glued["gain_h100"] == f"{gain[0]:.2f}" and gain[0] == pytest.approx(9 / 5)
        assert chapter.glued["gain_b200"] == f"{gain[1]:.2f}" and gain[1] < 1
        assert min(PLANS, key=lambda name: picoseconds(name, B200, 2)) == "out again"

    def test_what_a_chain_holds(self, chapter):
        for every in range(1, 65):
            assert held(64, every) == (64 // every + every - 1, 64 - -(-64 // every))
        assert min(held(64, every)[0] for every in range(1, 65)) == 15 == 2 * 8 - 1
        rows = re.findall(
            r"every (\d): +(\d+) inputs, +([\d.]+) GB, +([\d.]+) % more time", chapter.printed
        )
        assert [int(row[0]) for row in rows] == [1, 2, 4, 8]
        for every, most, gigabytes, share in rows:
            peak, again = held(64, int(every))
            assert (int(most), gigabytes, share) == (
                peak,
                f"{peak * 8 * 2048 * 4096 * 2 / 1e9:.1f}",
                f"{100 * again / 64 / 3:.1f}",
            )

    def test_chens_measurement_is_near_the_model(self, chapter):
        assert abs(number(chapter.glued["share"]) - 30) < 5

    def test_slope_of_a_sigmoid_follows_from_its_result(self):
        v = np.linspace(-5, 5, 41)
        s = 1 / (1 + np.exp(-v))
        assert np.allclose(np.gradient(s, v, edge_order=2), s * (1 - s), atol=3e-3)
        assert np.allclose(1 / (4 * np.cosh(v / 2) ** 2), s * (1 - s))

    def test_right_answers_are_right(self, chapter):
        right = {
            name.removeprefix("recomputation-"): question.right
            for name, question in chapter.quiz.items()
        }
        assert right["needs"] == "`y`, or `x` to make `y` again"
        assert right["bytes"] == str(2 * accesses("all again"))
        assert right["compute-bound"] == "It takes about a quarter longer"
        assert right["what"] == "What goes into GELU"
        assert right["interval"] == str(held(100, 10)[0])
        assert (
            right["only-input"].startswith("Nothing")
            and held(50, 50) == (50, 49)
            and held(50, 1) == (50, 0)
        )
        assert right["goals"].startswith("Backward kernels")

    def test_answers_of_the_exercises(self, chapter):
        longer = next(m for m in range(1, 50) if 2 * m + 3 >= 4 * 5)
        within = next((k, held(100, k)[1]) for k in range(1, 101) if held(100, k)[0] <= 25)
        assert f"\n{longer}\n" in chapter.printed and f"{within}" in chapter.printed
        assert (
            min(held(1000, k)[0] for k in range(1, 1001)) == 62
            and "(28, 1800, 62)" in chapter.printed
        )

    def test_two_levels_of_checkpoints(self):
        """A chain of 1,000, every 100th kept, and every 10th while a segment is made again."""
        memory, most, runs = set(range(0, 1000, 100)), 0, 0
        for part in reversed(range(0, 1000, 10)):
            if part not in memory:
                segment = part // 100 * 100
                memory |= set(range(segment, segment + 100, 10))
                runs += 90  # up to the segment's last checkpoint
            memory |= set(range(part, part + 10))
            runs += 9
            most = max(most, len(memory))
            memory -= set(range(part, part + 10))
        assert not memory
        assert (most, runs) == (28, 1800)


def test_accesses_of_m_sigmoids():
    for m in range(1, 12):
        names = [f"s{i}" for i in range(m + 1)]
        up = [Operation(above, "", (below,)) for below, above in itertools.pairwise(names)]
        down = [
            Operation(f"d{below}", "", (above, f"d{above}"))
            for below, above in reversed(list(itertools.pairwise(names)))
        ]
        results = (names[-1], "ds0")
        assert sum(len(kernel.accesses) for kernel in kernels([up, down], results)) == 2 * m + 3
        assert sum(len(kernel.accesses) for kernel in kernels([up, up + down], results)) == 5
