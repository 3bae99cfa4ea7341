"""Chapter 4: its form, and its claims.

The claims are checked against closed forms worked out by hand, and against figures of the data
sheets typed a second time."""

from __future__ import annotations

import re
from math import ceil

import pytest
from support.chapter_form import ChapterForm, number

pytestmark = pytest.mark.slow  # its cells are run

N = 2**15  # elements of the chapter's arrays
H100_FP32, H100_DRAM = 67e12, 3350e9


class TestForm(ChapterForm):
    stem = "04_roofline"
    sourced = {
        "790": "GB/s, measured by NVIDIA (cuda_best_practices)",
        "70": "% of peak, the bar of llmc_profile",
        "85": "% of peak, its stretch goal",
        "3620": "rows and columns of the benchmark (mlsystems_notes)",
        "32.3": "ms, its first run of cuBLAS",
        "4.0": "version of PCIe (hpc_notes_pcie)",
        "130": "bits of a code word of PCIe (hpc_notes_pcie)",
        "128": "bits of data in it",
        "8.5": "% of cuBLAS, measured (boehm2022)",
        "45": "minutes",
        "75": "minutes, as the lab says",
        "100": "minutes, as the lab says",
    }
    chosen = {
        "32": "the question's ratio, which a test computes",
        "64": "a degree that is traced",
        "4": "bytes of a float",
        "8": "bytes of two floats",
        "16": (
            "bits of a number; lanes of the link and 10^9 bits/s of each, "
            "with which the next cell computes"
        ),
        "4090": "a GPU's name",
        "3": "times faster, in an example of what says little",
        "1,024": "the size that the widget shows",
    }

    def test_question(self, chapter):
        assert number(chapter.glued["work_ratio"]) == 32 == 2 * 16
        assert "does 32 times as much arithmetic" in chapter.text

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("same_ns", round(1e9 * 8 * N / H100_DRAM, 1)),
            ("kilobytes", round(8 * N / 1e3)),
            ("corner", 8 * 20),
            ("knee_h100", 20),
            ("knee_a100", 9.6),
            ("knee_4090", 82),
            ("tensor_h100", 295),
            ("at_64", 64 / 4),
            ("faster", round(82.6 / 19.5, 1)),
            ("slower", round(2039 / 1008, 1)),
            ("extra", round(4 * 1024 / N, 2)),
            ("relu_counted", 0),
            ("relu_bytes", 8),
            ("relu_half", 4),
            ("relu_share", round(100 * 0.125 * H100_DRAM / H100_FP32, 1)),
            # 3 / 8, and a little less for the two elements more
            ("times_moved", 32 // 4),
            ("average_high", 0.37),
            ("n_h100", 120),
            ("n_4090", round(6 * 82.6e3 / 1008)),
            ("copy_percent", round(100 * 790 / 900)),
            ("saxpy_share", round(100 * H100_DRAM / 6 / H100_FP32, 1)),
            ("benchmark_intensity", round(3620 / 6)),
            ("library_percent", 4.3),
            ("published_ratio", 1.6),
            ("least_ms", round(1e3 * 2 * 3620**3 / 82.6e12, 2)),
            ("copies_ms", round(1e3 * 12 * 3620**2 / (16 * 16e9 * 128 / 130 / 8), 1)),
            ("difference_ms", 16.3),
        ],
    )
    def test_value_of(self, chapter, name, value):
        assert number(chapter.glued[name]) == value

    def test_matmul_is_one_order_faster(self, chapter):
        """By the data sheets: 16-bit products on tensor cores against float32."""
        sheets = {"v100": 125 / 15.7, "a100": 312 / 19.5, "h100": 989 / 67, "b200": 2250 / 75}
        assert number(chapter.glued["ratio_4090"]) == round(165.2 / 82.6)
        shown = {name: number(chapter.glued[f"ratio_{name}"]) for name in sheets}
        assert shown == {name: round(one) for name, one in sheets.items()}
        assert all(8 <= one <= 30 for one in shown.values())

    def test_average_without_a_cache(self, chapter):
        """The three loads begin at an aligned float, one later and two later.

        The store is aligned."""
        sectors = 4 + 5 + 5 + 4
        assert chapter.glued["average_low"] == f"{3 * 32 / (32 * sectors):.2f}"

    def test_plain_product_asks_for_the_same_at_every_size(self, chapter):
        n = 128
        assert chapter.glued["asked"] == f"{2 * n**3 / (8 * n**3 + 4 * n**2):.2f}" == "0.25"
        # A warp of a 16 x 16 block is two rows of 16: two elements of a, in two sectors, and 16
        # neighbours of b, in two.
        moved = n**3 / 32 * 32 * (2 + 2) + 4 * n**2
        assert chapter.glued["uncached"] == f"{2 * n**3 / moved:.2f}"

    def test_product_meets_its_intensity(self, chapter):
        for n in (16, 32, 64, 128):
            assert f"to {n / 6:5.2f} a byte; n/6 = {n / 6:5.2f}" in chapter.printed

    def test_slope_of_the_mystery(self, chapter):
        knee = 312e12 / 2039e9
        assert number(chapter.glued["first_full"]) == ceil(3 * knee)
        tiles = (1024 // 256) * (1024 // 128)
        assert chapter.glued["at_1024"] == f"{100 * tiles / 108:.0f}"

    def test_parts_of_the_benchmark(self, chapter):
        difference = 43.1279 - 26.7959
        library = difference / (1 / 0.085 - 1)
        least = 1e3 * 2 * 3620**3 / 82.6e12
        assert f"plain kernel: {2 * 3620**3 / 43.1279e9:.1f} TFLOP/s, 2.7 %" in chapter.printed
        assert f"cuBLAS      : {2 * 3620**3 / 26.7959e9:.1f} TFLOP/s, 4.3 %" in chapter.printed
        assert (
            f"cuBLAS {library:.1f} ms" in chapter.printed
            and chapter.glued["library_roof"] == f"{100 * least / library:.0f}"
        )
        assert f"in both: {26.7959 - library:.1f} ms" in chapter.printed
        assert chapter.glued["in_both_share"] == f"{100 * (1 - library / 26.7959):.0f}"
        assert chapter.glued["true_ratio"] == f"{1 / 0.085:.0f}"
        assert chapter.glued["plain_least_ms"] == f"{difference + least:.1f}"
        assert chapter.glued["plain_most_percent"] == f"{100 * least / (difference + least):.1f}"
        # This much of the link's peak would do for the copies.
        assert 12 * 3620**2 / (1e-3 * (26.7959 - library)) < 31.5e9
        assert least < library

    def test_elementwise_kernels_count_what_is_counted_by_hand(self, chapter):
        for name, flop, moved in (("saxpy", 2, 12), ("polynomial", 32, 8)):
            assert (
                f"{name:10} {flop:6} {flop:5.2f} {moved:5} {moved:5.2f} {flop / moved:5.3f} "
                f"{flop / moved:5.3f}"
            ) in chapter.printed

    def test_loop_of_the_polynomial_issues_more_than_it_computes(self, chapter):
        slots, dram = (
            number(chapter.printed.split(f" ns  {name}")[0].split()[-1])
            for name in ("issue slots", "DRAM")
        )
        assert dram == round(1e9 * 8 * N / H100_DRAM, 1)
        assert chapter.glued["slot_times"] == f"{slots / dram:.1f}"
        # Two operations and the loop's own for each of 64 trips, at four warp instructions a clock
        # on each of 128 SMs with a block.
        clock = H100_FP32 / (2 * 128 * 132)
        assert slots > 1e9 * (2 * 64 * N / 32) / (4 * 128 * clock)

    def test_a_known_degree_costs_the_model_no_time(self, chapter):
        """And an argument does, which is counted to in 64 bits."""
        shown = dict(
            re.findall(r"^(scale|degree \d+)\n +([\d.]+) us", chapter.printed, re.MULTILINE)
        )
        times = [float(shown[name]) for name in ("scale", "degree 1", "degree 16", "degree 64")]
        assert times[0] == times[1] == times[2] < times[3]
        least = 1e6 * 8 * 2**25 / H100_DRAM
        assert number(chapter.glued["least_us"]) == round(least)
        assert number(chapter.glued["known_ratio"]) == pytest.approx(92.5 / least, abs=0.06)
        assert number(chapter.glued["counted_ratio"]) > 2

    def test_each_kernel_of_the_profile_waits_for_something_else(self, chapter):
        reasons = {
            "scale": "long scoreboard",
            "counted": "math pipe throttle",
            "spread_out": "LG throttle",
            "sums_of_blocks": "barrier",
            "chase_nearby": "short scoreboard",
        }
        for name, reason in reasons.items():
            (line,) = re.findall(rf"^{name} +(\w.*%)$", chapter.printed, re.MULTILINE)
            assert reason in line and f"| {reason} |" in chapter.text
        assert number(chapter.glued["sol_memory"]) > 2 * number(chapter.glued["sol_compute"])

    def test_saxpy_at_its_roof(self, chapter):
        assert (
            f"{H100_DRAM / 6 / 1e9:.0f} GFLOP/s on an H100: {100 * H100_DRAM / 6 / H100_FP32:.1f} %"
            in chapter.printed
        )

    def test_full_sms_have_too_few_bytes_under_way_for_the_memory(self, chapter):
        names = "plain_rate", "wide_rate", "h200_peak", "law_rate", "law_start"
        plain, wide, peak, law, start = (number(chapter.glued[name]) for name in names)
        # constants.json: clocks of a load while others copy, of a block's start, and GHz
        for clocks, rate in ((1312.75, law), (1312.75 + 330, start)):
            assert abs(2 * 132 * 2048 * 4 / (clocks / 1.9785) - rate) < 1
        assert abs(plain / start - 1) < 0.03 and plain < law < wide < peak == 4800
        assert number(chapter.glued["copy_share"]) == round(100 * 4273 / peak)
        assert number(chapter.glued["ffma_share"]) == round(100 * 64.95 / 67)

    def test_the_model_had_let_a_busy_memory_answer_too_soon(self, chapter):
        names = "plain_said", "plain_ms", "wide_said", "wide_ms"
        plain_said, plain_ms, wide_said, wide_ms = (number(chapter.glued[name]) for name in names)
        assert plain_said < 0.8 * plain_ms and abs(wide_said / wide_ms - 1) < 0.03

    def test_right_answers_are_right(self, chapter):
        right = {
            name.removeprefix("roofline-"): question.right
            for name, question in chapter.quiz.items()
        }
        assert right["two-kernels"] == "Neither" and max(4, 8) < 20
        assert (
            right["bandwidth"] == "Not at all"
            and H100_FP32 / H100_DRAM < 100
            and round(4800 / 3350, 1) == 1.4
        )
        assert right["matmul-size"] == "It doubles"
        assert (
            right["percent"] == "It is close to its roof"
            and round(100 * H100_DRAM / 12 / H100_FP32, 2) == 0.42
        )
        assert (
            right["impossible"] == "The clock was stopped before the kernel had ended"
            and round(1e9 / H100_DRAM * 1e3, 1) == 0.3
        )
        assert right["stretch"].startswith("The trace cannot tell")
