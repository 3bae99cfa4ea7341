"""Chapter 10: its form, and its claims.

Tiles, waves and sectors are worked out here by hand; measurements are read from the record
itself."""

from __future__ import annotations

import json
import re
from typing import ClassVar

import numpy as np
import pytest
from support import measured
from support.cells import in_sight
from support.chapter_form import ChapterForm, number, run
from support.paths import ROOT

pytestmark = pytest.mark.slow  # its cells are run

STEM = "10_matmul_mystery"
A100_SMS, H100_SMS, A6000_SMS, TURING_SMS = 108, 132, 84, 68


def up(a: int, b: int) -> int:
    return -(-a // b)


def covered(n: int, rows: int = 256, cols: int = 128) -> int:
    return up(n, rows) * up(n, cols)


def used(n: int, sms: int) -> float:
    """Return the percentage of the room in all waves that holds elements of the result."""
    return 100 * n * n / (up(covered(n), sms) * sms * 256 * 128)


def sectors_a_row(n: int) -> float:
    """Return the mean sectors of 32 two-byte numbers at the start of a row, over 64 rows."""
    return sum((2 * n * row + 63) // 32 - 2 * n * row // 32 + 1 for row in range(64)) / 64


def begins(sms: int, rows: int, cols: int, least: int = 1025, most: int = 4096) -> list[int]:
    """Return the sizes at which a GPU needs another wave.

    They lie just behind a whole number of tiles on either side."""
    behind = sorted({1 + side * k for side in (rows, cols) for k in range(most // side + 1)})
    return [
        n
        for n in behind
        if least <= n <= most
        and up(covered(n, rows, cols), sms) > up(covered(n - 1, rows, cols), sms)
    ]


def record(folder: str) -> dict:
    return json.loads((ROOT / f"measurements/{folder}/square_matmul.json").read_text("utf-8"))


class TestForm(ChapterForm):
    stem = STEM
    sourced: ClassVar = {
        "3090": "RTX 3090",
        "1,536": "where the claim has the ramp end",
        "1,792": "the step (he2024shapes)",
        "1,793": "likewise",
        "1,794": "a row and a column more",
        "257": "columns, one more than two tiles have; TFLOP/s (he2024predictable)",
        "50,257": "karpathy2023vocab",
        "50,304": "karpathy2023vocab",
        "25": "% (karpathy2023vocab)",
        "1.19": "steps a second (nanopalm2023)",
        "1.24": "steps a second (nanopalm2023)",
        "295": "TFLOP/s (he2024predictable)",
        "330": "W (he2024predictable)",
        "45": "minutes",
        "90": "minutes, as the lab says",
        "120": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "1": "size to begin at; divisor",
        "4,096": "size to end at",
        "2": "divisor; bytes of a number",
        "4": "divisor",
        "8": "divisor",
        "16": "divisor; side of our tile; bytes of the widest load",
        "32": "divisor; columns of the tile that is read",
        "64": "rows of it; sides of tiles, and what the vocabulary is padded to",
        "128": "side of tiles",
        "256": "side of tiles; threads",
        "1,535": "a size in the first picture",
        "255": "registers of a thread (chapter 3)",
        "1,537": "a size in the first picture",
        "2,304": "likewise",
        "2,305": "likewise",
        "2,303": "the size that the scale is taken from",
        "2,049": "the cliff that the cell above prints",
        "1,025": "the smallest size that is searched",
        "4,095": "the largest size that is searched",
        "40": "registers beside the sums, as in the cell below",
    }

    def test_value_of_shares(self, chapter):
        for name, n, sms in (
            ("a100_before", 1792, A100_SMS),
            ("a100_after", 1793, A100_SMS),
            ("h100_before", 1792, H100_SMS),
            ("h100_after", 1793, H100_SMS),
            ("h100_cliff_before", 2048, H100_SMS),
            ("h100_cliff_after", 2049, H100_SMS),
        ):
            assert chapter.glued[name] == f"{used(n, sms):.1f}", name

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("tiles_before", 7 * 14),
            ("tiles_after", 8 * 15),
            ("a100_idle", 2 * 108 - 120),
            ("a100_sms", 108),
            ("h100_sms", 132),
            ("needed_more", round(100 * (33**3 / 32**3 - 1))),
            ("a6000_sms", 84),
            ("cliffs", 6),
            ("searched", (4096 - 1024) // 2),
            ("tiles_1536", 72),
            ("filled", round(100 * 72 / 108)),
            ("knee_n", round(3 * 312e12 / 2039e9)),
            ("useful_1537", round(100 * (1537 / 1664) ** 2)),
            ("loads_factor", 8),
            ("row_best", 2),
            ("row_8", 2.5),
            ("tokens_more", 47),
            ("gain_3090", round(100 * (1.24 / 1.19 - 1))),
            ("small_gives", 32),
            ("warps_held", 8),
            ("stages_fit", 163 // 24),
        ],
    )
    def test_value_of(self, chapter, name, value):
        assert number(chapter.glued[name]) == value

    def test_ragged_tiles_do_what_three_tiles_a_side_do(self, chapter):
        assert "n = 32:  65,536 FLOP done, 65,536 needed" in chapter.printed
        assert f"n = 33: {2 * 48**3:,} FLOP done, {2 * 33**3:,} needed" in chapter.printed
        assert chapter.glued["done_more"] == f"{48**3 / 32**3:.1f}"

    def test_257_columns(self, chapter):
        assert "256 x 257: 6 tiles, 67 % useful" in chapter.printed
        assert round(100 * 257 * 256 / (6 * 16384)) == 67

    def test_the_record_falls_as_the_text_says(self, chapter):
        speed = [0, *record("nvidia-rtx-a6000")["tflops"]]
        assert len(speed) == 4097
        assert chapter.glued["odd_before"] == f"{speed[1535]:.0f}"
        for before, after, n in (("before", "after", 1536), ("before_2", "after_2", 2304)):
            assert chapter.glued[before] == f"{speed[n]:.0f}"
            assert chapter.glued[after] == f"{speed[n + 1]:.0f}"
            assert speed[n] > 2 * speed[n + 1]  # "less than half"

    def test_all_predicted_cliffs_are_among_the_eight_largest_drops(self, chapter):
        predicted = begins(A6000_SMS, 256, 128)
        assert f"predicted: {' '.join(map(str, predicted))}" in chapter.printed
        speed = [0, *record("nvidia-rtx-a6000")["tflops"]]
        by_drop = sorted(range(1027, 4096, 2), key=lambda n: speed[n] / speed[n - 2])
        assert set(predicted) <= set(by_drop[:8]) | {1025}
        marked = re.findall(r"\d+ to (\d+): [\d.]+ to [\d.]+ predicted", chapter.printed)
        assert sorted(map(int, marked)) == predicted
        assert number(chapter.glued["other_1"]) in begins(A6000_SMS, 256, 64)
        assert number(chapter.glued["other_2"]) in begins(A6000_SMS, 128, 128)

    def test_correlation_of_the_odd_line(self, chapter):
        speed = np.array([0, *record("nvidia-rtx-a6000")["tflops"]])
        odd = np.arange(1025, 4096, 2)
        model = [used(int(n), A6000_SMS) for n in odd]
        assert chapter.glued["alike"] == f"{np.corrcoef(model, speed[odd])[0, 1]:.2f}"
        assert number(chapter.glued["alike"]) > 0.9

    def test_sectors_of_the_tiles_rows(self, chapter):
        printed = re.findall(
            r"n = (\d+), by +(\d+): +(\d+) B a lane, +(\d+) loads, ([\d.]+) sectors a row",
            chapter.printed,
        )
        assert len(printed) == 6
        for n, by, width, loads, sectors in printed:
            assert int(by) == min(int(n) & -int(n), 32)
            assert int(width) == min(2 * int(by), 16)
            assert int(loads) == 64 * 64 // (32 * int(width))
            assert float(sectors) == pytest.approx(sectors_a_row(int(n)), abs=0.006)
        assert chapter.glued["row_odd"] == f"{sectors_a_row(2049):.2f}"

    def test_even_sizes_are_alike_in_two_records(self, chapter):
        spreads = []
        for folder in ("nvidia-rtx-a6000", "nvidia-geforce-rtx-2080-ti"):
            speed = np.array([0, *record(folder)["tflops"]])
            n = np.arange(3072, 4097)
            middle = [np.median(speed[n[np.minimum(n & -n, 32) == k]]) for k in (2, 4, 8)]
            spreads.append(max(middle) / min(middle))
            assert np.median(speed[n[n % 2 == 1]]) < 0.8 * min(middle)
        assert chapter.glued["even_spread"] == f"{100 * (max(spreads) - 1):.0f}"

    def test_odd_sizes_lose_less_in_the_records_than_in_the_model(self, chapter):
        # a step along k: 32 clocks of products; 384 numbers loaded and stored, 32 in a clock
        assert chapter.glued["odd_modelled"] == f"{100 * 32 / (32 + 2 * 384 / 32):.0f}"
        for name, folder in (("odd_first", "a6000"), ("odd_turing", "2080-ti")):
            (line,) = re.findall(rf"{folder}\S* +odd: ([\d.]+)", chapter.printed)
            assert number(chapter.glued[name]) == round(100 * float(line)) > 60

    def test_bits_that_change(self, chapter):
        share = {
            name.strip(): float(bits)
            for name, bits in re.findall(
                r"^(\w[\w ,]+?) +([\d.]+) of 16 bits", chapter.printed, re.MULTILINE
            )
        }
        assert (
            share["zeros"]
            == 0
            < share["random, sorted"]
            < share["whole numbers"]
            < share["random"]
            < 8
        )

    def test_padding_in_the_record(self, chapter):
        n = np.arange(1025, 4088, 2)
        for folder in (
            "nvidia-rtx-a6000",
            "nvidia-geforce-rtx-2080-ti",
            "nvidia-rtx-6000-ada-generation",
        ):
            speed = np.array([1, *record(folder)["tflops"]])
            wide = (n + 7) // 8 * 8
            gain = (n / wide) ** 3 * speed[wide] / speed[n]
            assert (
                f"{folder[7:]:24} {100 * np.mean(gain > 1):3.0f} % of sizes gain, "
                f"median {np.median(gain):.2f} times"
            ) in chapter.printed

    def test_home_page_step(self, chapter):
        from warpwise.devices import A100
        from warpwise.model import matmul

        step = matmul.product(1792, A100).flops_per_s / matmul.product(1793, A100).flops_per_s
        assert chapter.glued["home"] == f"{step:.1f}" and step > 3
        # twice the waves for a little more work
        assert number(chapter.glued["home_waves"]) == round(2 * (1792 / 1793) ** 2, 1)
        # of even sizes the loads cost nothing
        even = matmul.product(1794, A100).flops_per_s
        whole = matmul.product(1794, A100, ("memory", "tiles", "waves")).flops_per_s
        assert even == whole and number(chapter.glued["home_waves"]) < step

    @pytest.mark.parametrize("name", ["product_tiled", "tiles", "wave_count", "cliffs"])
    def test_no_cell_in_sight_solves_a_lab(self, chapter, name):
        assert in_sight(chapter.code, "operations") and not in_sight(chapter.code, name)

    def test_dares_can_be_met(self, chapter):
        wasted = {n: 1 - n**3 / (16 * up(n, 16)) ** 3 for n in range(33, 49)}
        assert min(n for n in wasted if wasted[n] < 0.1) == 47
        assert up(256, 64) * up(257, 257) * 64 * 257 == 256 * 257
        assert max(n for n in range(2000, 3000) if up(covered(n), A100_SMS) == 2) == 2560

    def test_quiz_answers(self, chapter):
        right = {
            name.removeprefix("matmul-"): question.right for name, question in chapter.quiz.items()
        }
        assert int(right["tiles"]) == covered(300, 128, 128)
        assert right["waves"] == f"{100 * 140 / (2 * 132):.0f} %"
        assert (
            up(covered(1792), A6000_SMS) == up(covered(1793), A6000_SMS) == 2
            and right["cliff"] == "It stays at two"
        )
        assert right["width"] == "8 bytes" and 8200 % 8 == 0 != 8200 % 16
        assert covered(1536) == 72 and right["ramp"] == "SMs without a tile"
        assert round(25 / (100 * (1.24 / 1.19 - 1))) == 6  # "a sixth of it"


@pytest.mark.parametrize(
    "folder", ["nvidia-rtx-a6000", "nvidia-geforce-rtx-2080-ti", "nvidia-rtx-6000-ada-generation"]
)
def test_records_say_where_they_come_from(folder):
    facts = record(folder)
    assert {
        "device",
        "compute_capability",
        "sms",
        "what",
        "how",
        "versions",
        "date",
        "author",
        "source",
        "commit",
        "licence",
    } < set(facts)
    assert (
        len(facts["tflops"]) == 4096
        and "MIT" in facts["licence"]
        and "Permission is hereby granted" in facts["licence"]
    )


def test_the_lab_shows_what_was_recorded():
    speed = [0, *record("nvidia-rtx-a6000")["tflops"]]
    shown = re.findall(
        r"\((\d+), (\d+)\): \(([\d.]+), ([\d.]+)\)",
        (ROOT / f"solutions/{STEM}.md").read_text("utf-8"),
    )
    assert len(shown) == 10
    for before, after, fast, slow in shown:
        assert (f"{speed[int(before)]:.1f}", f"{speed[int(after)]:.1f}") == (fast, slow)


class TestH200:
    """What the section on an H200 says, read from the records."""

    def rates(self, suite: str, variant: str) -> dict[int, float]:
        return {
            row["parameters"]["n"]: row["TFLOP_per_s"]
            for row in measured.record(suite)["rows"]
            if row["variant"] == variant
        }

    def of_power(self, variant: str, power: int) -> float:
        rates = self.rates("matmul_plot", variant)
        sizes = [n for n in rates if n >= 2048 and n % power == 0]
        if power < 64:
            sizes = [n for n in sizes if n % (2 * power)]
        return float(np.median([rates[n] for n in sizes]))

    def test_lines_part_at_rows_of_16_bytes(self):
        glued = run(STEM).glued
        for name, variant, low, high in (
            ("step_2", "cupy bf16", 1, 2),
            ("step_8", "cupy bf16", 4, 8),
            ("step_tf32", "cupy tf32", 2, 4),
        ):
            times = self.of_power(variant, high) / self.of_power(variant, low)
            assert number(glued[name]) == pytest.approx(times, abs=0.051)
        assert number(glued["step_8"]) > 2.5 and number(glued["step_tf32"]) > 2
        fp32 = [self.of_power("cupy fp32", power) for power in (1, 2, 4, 8, 16, 32, 64)]
        assert round(100 * (max(fp32) / min(fp32) - 1)) == number(glued["fp32_spread"]) < 15

    def test_padding_and_whole_tiles(self):
        glued, rates = run(STEM).glued, self.rates("matmul_plot", "cupy bf16")
        seconds = {n: n**3 / rate for n, rate in rates.items()}
        odd = [128 * k + 1 for k in range(8, 33) if 128 * k + 1 in rates]
        times = np.median([seconds[n] / seconds[n + 7] for n in odd])
        assert number(glued["pad_h200"]) == pytest.approx(times, abs=0.051)
        more = [rates[128 * k + 64] / rates[128 * k] for k in range(8, 32)]
        assert number(glued["tile_gain"]) == round(100 * (np.median(more) - 1)) > 0
        less = [covered(128 * k, 128, 128) / covered(128 * k + 64, 128, 128) for k in range(8, 32)]
        grown = [((128 * k + 64) / (128 * k)) ** 2 for k in range(8, 32)]
        said = 100 * (1 - np.median(np.multiply(less, grown)))
        assert number(glued["tile_said"]) == round(said)

    def test_falls_beside_cliffs(self):
        chapter, near = run(STEM), self.rates("waves", "cupy bf16")
        sizes = begins(H100_SMS, 256, 128, most=4200)
        assert sizes == [2049, 2817, 3585, 4097]
        for n in sizes:
            fall = 100 * (used(n, H100_SMS) / used(n - 1, H100_SMS) - 1)
            eight, odd = (
                100 * (near[after] / near[before] - 1)
                for before, after in ((n - 9, n + 7), (n - 2, n))
            )
            line = f"{n:,} {fall:9.0f} % {eight:8.0f} % {odd:8.0f} %"
            assert line in chapter.printed
            assert fall < min(eight, odd)  # smaller than the model's

    def test_a_second_wave_of_our_kernel(self):
        glued = run(STEM).glued
        took = {
            row["parameters"]["blocks"]: row["median_ms"]
            for row in measured.record("waves")["rows"]
            if row["by"] == "numba"
        }
        for name, blocks in (("stair_before", 264), ("stair_after", 265), ("few", 33)):
            assert number(glued[name]) == round(took[blocks], 2)
        assert took[265] - took[264] == pytest.approx(took[33], rel=0.02)
        assert took[33] / took[264] == pytest.approx(0.5, abs=0.05)
