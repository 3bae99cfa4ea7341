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
from warpwise.toolchain import missing

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
# From datasheets: bytes/s from DRAM.
DRAM = {"H100 SXM": 3350e9, "B200": 8000e9}


def accesses(name: str) -> int:
    return sum(len(kernel.accesses) for kernel in PLANS[name])


def held(layers: int, every: int) -> tuple[int, int]:
    """Return the most inputs in memory, and how many are recomputed."""
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
        "34": "bytes a channel and token (korthikanti2022)",
        "5": "bytes a head and pair of tokens (korthikanti2022)",
        "45": "minutes",
        "120": "minutes, as the lab says",
    }
    chosen = {
        "64": "layers of the chain",
        "1": "in the formula of the peak",
        "16": "bits of the values in the cell below",
        "8": "layers from one checkpoint to the next, and as many checkpoints",
        "2,048": "tokens in the cell below",
        "4,096": "channels in the cell below",
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
            ("knee", 67 / 3.35),
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
            ("even_real", round(2 / 3 * 989e12 * 4 / 3350e9 / 2)),
            ("memory_faster", round(8000 / 3350, 1)),
            ("head_depth", 4096 // 32),
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

    @pytest.mark.skipif(bool(missing()), reason="no compiler here")
    def test_when_it_pays(self, chapter):
        rows = re.findall(
            r"^(H100 SXM|B200) +(all stored|out again|all again) +([\d.]+) \+ ([\d.]+) = "
            r"([\d.]+) ms\n    bound by (.*)$",
            chapter.printed,
            re.MULTILINE,
        )
        times = {(device, name): float(both) for device, name, _, _, both, _ in rows}
        for (device, name), ms in times.items():
            assert ms > 0.99e3 * 4 * accesses(name) * 2**28 / DRAM[device]
        gain = {device: times[device, "all stored"] / times[device, "all again"] for device in DRAM}
        assert number(chapter.glued["gain_h100"]) == pytest.approx(gain["H100 SXM"], abs=0.02)
        assert number(chapter.glued["gain_b200"]) == pytest.approx(gain["B200"], abs=0.02)
        # The ratio of the accesses is the most that there is to gain; on a B200 nothing is left.
        assert 0.9 < gain["B200"] < 1.15 < 1.4 < gain["H100 SXM"] < 9 / 5
        bound = {(device, name): binds for device, name, _, _, _, binds in rows}
        assert "issue slots" in bound["B200", "all again"]

    def test_careful_kernels_gain_nearly_what_accesses_say(self, chapter):
        assert 1.6 < number(chapter.glued["tuned"]) < 9 / 5

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
        assert right["needs"] == "`y`, or `x` to recompute `y`"
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

    def test_bytes_of_a_layer(self, chapter):
        """Korthikanti: s b h (34 + 5 a s / h) bytes, beside an input of 2 s b h."""
        s, h, a = 2048, 4096, 32
        whole = s * h * (34 + 5 * a * s // h)
        assert chapter.glued["layer_times"] == f"{whole / (2 * s * h):.0f}" == "57"
        assert chapter.glued["layer_mb"] == f"{round(whole / 1e6)}"
        assert (
            f"{'all but attention' + chr(39) + 's matrices':28}   285 MB, 17 times"
            in chapter.printed
        )

    def test_two_layers_of_tanh_are_read_once(self, chapter):
        assert "2 loads, 1 store, sum of the slopes " in chapter.printed

    def test_no_cell_in_sight_solves_the_lab(self, chapter):
        hidden = {"remove-input", "remove-cell"}
        shown = [
            cell.source
            for cell in chapter.code
            if not hidden & set(cell.metadata.get("tags", [])) and "@cuda.jit" in cell.source
        ]
        assert shown and not any("forward_lean" in text or "all_again" in text for text in shown)


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
