"""Chapter 12: its form, and its claims.

Bytes are counted here by going over the tiles and listing what each block fetches; results are
compared with plain sums in float64."""

from __future__ import annotations

import math
import re
from typing import ClassVar

import numpy as np
import pytest
from support import measured
from support.chapter_form import ChapterForm, number

from warpwise.devices import A100, B200, H100, H100_PCIE, MEASURED, T4

pytestmark = pytest.mark.slow  # its cells are run

STEM = "12_flash_attention"


def fetched(n: int, d: int, rows: int, columns: int) -> int:
    """Count the elements of Q, K and V that all blocks read, tile by tile."""
    total = 0
    for first in range(0, n, rows):
        total += len(range(first, min(first + rows, n))) * d
        for start in range(0, n, columns):
            total += 2 * len(range(start, min(start + columns, n))) * d
    return total


def standard(n: int, d: int) -> int:
    """Count the elements of three kernels: Q, K to S; S to P; P, V to O."""
    return (2 * n * d + n * n) + (n * n + n * n) + (n * n + n * d + n * d)


def held(rows: int, columns: int, d: int) -> int:
    """Count the bytes of 16-bit tiles of Q, K and V, and of float32 scores and outputs."""
    return 2 * d * (rows + 2 * columns) + 4 * rows * (columns + d)


def slope(sizes, counts) -> float:
    """Fit a line through logarithms by least squares, with the textbook formula."""
    x, y = np.log(sizes), np.log(counts)
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


class TestForm(ChapterForm):
    stem = STEM
    sourced: ClassVar = {
        "2": "llm.c's version 2 (llmc_attention); FlashAttention-2; the slope of N^2",
        "1": "llm.c's version 1 (llmc_attention)",
        "20": "times as fast (llmc_attention)",
        "3": "llm.c's version 3 (llmc_attention); FlashAttention-3",
        "40.3": "GB, measured (dao2022)",
        "4.4": "GB, measured (dao2022)",
        "41.7": "ms, measured (dao2022)",
        "7.3": "ms, measured (dao2022)",
        "75.2": "GFLOP (dao2022)",
        "66.6": "GFLOP (dao2022)",
        "8": "batch in llm.c's benchmark (llmc_attention)",
        "1,024": "tokens, in llm.c's benchmark (llmc_attention) and in that of dao2022",
        "12": "heads in llm.c's benchmark (llmc_attention)",
        "60": "minutes",
        "150": "minutes, as the lab says",
        "210": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "128": "d of the explorer, in the cell beside it",
        "16": "bits of an element; floats of a row in the port, as in its cell",
        "32": "queries of a block, as in flash_1",
        "64": "queries that the cell below traces",
        "256": "tokens of the shortest sequence in the cell below",
        "4,096": "tokens of its longest",
        "8,192": "keys in the cell below",
        "4": "side of a patch in the cell below",
        "0": "the first key; a weight",
    }

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("share", round(100 * 128 / (128 + 16))),
            ("long", 8192),
            ("head", 64),
            ("long_share", round(100 * 8192 / 8256, 1)),
            ("matrix_mb", 2 * 8192**2 / 2**20),
            ("inputs_mb", 2 * 8192 * 64 / 2**20),
            ("touched", 4 * 128 * 16 + 128),
            ("limit_gain", 2 * 128 / 64),
            ("port_blocks", 8 * 12),
            ("flash_blocks", 8 * 12 * 1024 / 32),
            ("held", 108 * 64),
            ("port_share", 1.4),
            ("knee", round(989e12 / 3350e9)),
            ("port_sectors", 32),
            ("rows_on", 256),
            ("rows_off", 128),
            ("second_a100", 73),  # %, measured (dao2023)
            ("second_h100", 35),  # %, measured (shah2024)
        ],
    )
    def test_value_of(self, chapter, name, value):
        assert number(chapter.glued[name]) == value

    def test_three_kernels_move_what_is_said(self, chapter):
        rows = dict(
            re.findall(
                r"^(scores|softmax|weigh) +([\d,]+) elements$", chapter.printed, re.MULTILINE
            )
        )
        n, d = 128, 16
        assert [number(rows[name]) for name in ("scores", "softmax", "weigh")] == [
            2 * n * d + n * n,
            2 * n * n,
            n * n + 2 * n * d,
        ]
        assert f"together  {standard(n, d):,}" in chapter.printed

    def test_share_of_the_large_matrices(self):
        for n, d in ((128, 16), (8192, 64)):
            assert 4 * n * n / standard(n, d) == pytest.approx(n / (n + d))

    def test_merging_without_the_factors_is_wrong(self, chapter):
        off = dict(
            re.findall(r"^(merge|plain_sum) +is off by (\S+)$", chapter.printed, re.MULTILINE)
        )
        assert float(off["merge"]) < 1e-5 and float(off["plain_sum"]) > 0.1

    def test_tiles_fetch_what_is_said(self, chapter):
        rows = re.findall(
            r"^ *(\d+) x +(\d+): +([\d,]+) elements fetched$", chapter.printed, re.MULTILINE
        )
        assert len(rows) == 5
        for r, c, count in rows:
            assert number(count) == fetched(128, 16, int(r), int(c))
        by_rows = {r: count for r, _, count in rows}
        assert sum(r == "32" for r, _, _ in rows) == 2 and {
            count for r, _, count in rows if r == "32"
        } == {by_rows["32"]}
        assert fetched(128, 16, 32, 32) == 128 * 16 + 2 * (128 // 32) * 128 * 16

    def test_what_the_kernel_asks_for(self, chapter):
        assert f"asked for: {fetched(128, 16, 32, 32):,} elements" in chapter.printed
        assert (
            f"different elements touched: {4 * 128 * 16 + 128:,}, "
            f"three kernels {standard(128, 16):,}"
        ) in chapter.printed
        assert f"{2 * 32 * 16 * 4:,} bytes a block, {2 * 16 * 4} bytes a thread" in chapter.printed

    def test_what_fits(self, chapter):
        lines = re.findall(
            r"^ *(\d+) +(\d+) +(\d+) KiB +(\d+) MB   (.*)$", chapter.printed, re.MULTILINE
        )
        assert len(lines) == 5
        for rows, columns, kib, megabytes, names in lines:
            size = held(int(rows), int(columns), 128)
            assert int(kib) == round(size / 1024)
            assert int(megabytes) == round(2 * fetched(8192, 128, int(rows), int(columns)) / 1e6)
            assert names == (
                ", ".join(
                    g.name.split()[0]
                    for g in (T4, A100, H100)
                    if size <= g.sm.shared_bytes_per_block
                )
                or "none"
            )
        assert lines[2][3] == lines[3][3]  # more columns change nothing

    def test_most_rows_that_fit(self):
        fits = {rows: held(rows, 128, 128) <= H100.sm.shared_bytes_per_block for rows in (128, 256)}
        assert fits == {128: True, 256: False}
        shared, under_way = (
            (lambda rows: 2 * 128 * (rows + 2 * 128)),
            (lambda rows: 4 * rows * (128 + 128)),
        )
        assert shared(256) <= H100.sm.shared_bytes_per_block and under_way(
            256
        ) <= 65_536 * 4 < under_way(512)

    def test_exponentials_take_half_the_time_of_the_products(self, chapter):
        shares = {}
        for device, peak in ((H100, 989e12), (B200, 2250e12)):
            exps = 16 * device.fp32_tflops * 1e12 / (128 * 2)  # SMs cancel
            shares[device.name] = peak / (4 * 128) / exps
            line = f"exponentials, {device.name}: {shares[device.name]:.2f} of the time of both"
            assert line in chapter.printed
        assert shares[H100.name] == pytest.approx(0.46, abs=0.03)
        assert shares[B200.name] == pytest.approx(0.94, abs=0.03)
        assert chapter.glued["exp_b200"] == f"{shares[B200.name]:.2f}"
        off = re.search(r"by powers of 2: off by (\S+)", chapter.printed)[1]
        assert float(off) < 1e-5

    def test_corrections_in_random_order(self):
        tops = np.random.default_rng(1).normal(size=(2000, 64))
        seen = (np.diff(np.maximum.accumulate(tops, axis=1), axis=1) > 0).sum(axis=1).mean()
        assert seen == pytest.approx(sum(1 / t for t in range(2, 65)), rel=0.05)

    def test_slopes(self, chapter):
        sizes = [256, 512, 1024, 2048, 4096]
        usual, tiles = (
            [2 * standard(n, 64) for n in sizes],
            [2 * (fetched(n, 64, 128, 64) + n * 64) for n in sizes],
        )
        assert chapter.glued["slope_standard"] == f"{slope(sizes, usual):.2f}"
        assert chapter.glued["slope_tiles"] == f"{slope(sizes, tiles):.2f}"
        assert chapter.glued["gain"] == f"{usual[-1] / tiles[-1]:.1f}"
        traced = [4 * (fetched(n, 16, 32, 32) + n * 16 + n) for n in (32, 64, 128)]
        assert f"traced: slope {slope([32, 64, 128], traced):.2f}" in chapter.printed
        long = [2**20, 2**21]
        assert slope(long, [standard(n, 64) for n in long]) == pytest.approx(2, abs=1e-3)
        assert slope(long, [n * 64 + 2 * n // 128 * n * 64 for n in long]) == pytest.approx(
            2, abs=1e-3
        )

    def test_what_the_chips_memory_buys(self):
        n, d, M = 2**20, 64, 51_200
        reads = n * d + 2 * n * n * d / (M / (4 * d))
        assert reads == pytest.approx(8 * n * n * d * d / M, rel=1e-2)
        assert 4 * n * n / reads == pytest.approx(M / (2 * d * d), rel=1e-2)

    def test_intensities(self, chapter):
        n, d = 8192, 128
        flop = 4 * n * n * d
        usual, tiles = flop / (2 * standard(n, d)), flop / (2 * (fetched(n, d, 128, 64) + n * d))
        assert (chapter.glued["at_standard"], chapter.glued["at_tiles"]) == (
            f"{usual:.0f}",
            f"{tiles:.0f}",
        )
        assert usual == pytest.approx(d / 2, rel=0.02) and tiles == pytest.approx(128, rel=0.02)
        assert usual < tiles < 989 / 3.35
        once = flop / (2 * 4 * n * d)
        assert chapter.glued["at_least"] == f"{once:,.0f}"
        assert 2 * 2 * n * d / 2**20 == number(chapter.glued["head_mb"]) < 50 < 2 * n * n / 2**20
        l2_knee = 756e12 / (MEASURED[H100_PCIE.name].l2_gb_per_s.value * 1e9)
        assert chapter.glued["l2_knee"] == f"{l2_knee:.0f}"
        assert flop / (2 * fetched(n, d, 64, 64)) < l2_knee < tiles  # 64 and 128 queries
        rows = re.findall(
            r"^(standard, DRAM|tiles, DRAM|tiles, L2) +(\d+) FLOP/byte, knee +(\d+): "
            r"at most +(\d+) %",
            chapter.printed,
            re.MULTILINE,
        )
        assert [int(share) for *_, share in rows] == [round(100 * usual / (989 / 3.35)), 100, 100]

    def test_causal_tiles(self, chapter):
        rows = re.findall(
            r"^N = +([\d,]+): +([\d,]+) of +([\d,]+) skipped, ([\d.]+) times fewer bytes$",
            chapter.printed,
            re.MULTILINE,
        )
        for n, skipped, tiles, times in rows:
            t = int(number(n)) // 64
            assert (number(skipped), number(tiles)) == (t * (t - 1) / 2, t * t)
            every, seen = t + 2 * t * t, t + t * (t + 1)
            assert times == f"{every / seen:.2f}"
        assert len(rows) == 3

    def test_kept_keys_and_values(self, chapter):
        assert [int(m) for m in re.findall(r"(\d+) MiB of K and V", chapter.printed)] == [
            2 * 32_768 * 128 * h * 2 // 2**20 for h in (32, 8, 1)
        ]

    def test_blocks_of_one_query(self, chapter):
        assert re.findall(r"blocks: +(\d+), SMs: (\d+)", chapter.printed) == [
            (str(8 * p), "132") for p in (1, 4, 16, 64)
        ]
        assert H100.sms == 132

    def test_the_port_is_worse_in_each_counter(self, chapter):
        line = (
            r"^(port|flash_1) +([\d.]+) sectors a load, +([\d.]+) conflicts an access, "
            r"+([\d,]+) bytes moved$"
        )
        (slow, *port), (mended, *flash) = re.findall(line, chapter.printed, re.MULTILINE)
        assert (slow, mended) == ("port", "flash_1")
        assert all(number(one) > 2 * number(other) for one, other in zip(port, flash, strict=True))

    def test_a_lane_for_each_row_needs_a_sector_for_each_lane(self):
        for width in (16, 32):
            assert len({4 * width * lane // 32 for lane in range(32)}) == 32
        assert (
            len({16 * lane % 32 for lane in range(32)}) == 2
            and len({32 * lane % 32 for lane in range(32)}) == 1
        )

    def test_right_answers_are_right(self, chapter):
        right = {
            name.removeprefix("flash-"): question.right for name, question in chapter.quiz.items()
        }
        assert right["columns"] == "Nothing" and fetched(512, 32, 64, 64) == fetched(
            512, 32, 64, 128
        )
        assert right["factor"] == "It is multiplied by $e^{-2}$" and math.exp(
            1.5 - 5
        ) == pytest.approx(math.exp(1.5 - 3) * math.exp(-2))
        assert right["quadratic"] == "Four times, in both ways"
        assert fetched(2**15, 64, 128, 64) / fetched(2**14, 64, 128, 64) == pytest.approx(
            4, rel=0.01
        )
        assert standard(2**15, 64) / standard(2**14, 64) == pytest.approx(4, rel=0.01)
        assert right["first-tile"] == "$e^{-\\infty}$, which is 0" and math.exp(-math.inf - -7) == 0
        assert right["log-sum-exp"] == "Nothing that attention needs"
        assert right["decode"] == "16 blocks keep at most 16 of 108 SMs busy" and A100.sms == 108

    def test_what_an_h200_made_of_it(self, chapter):
        glued = chapter.glued
        long, short = (measured.rows("attention", f"attention {n} float32") for n in (4096, 512))
        best = long["attention_6_tensor"]
        assert best["median_ms"] == min(row["median_ms"] for row in long.values())
        assert glued["run_heads"] == str(best["parameters"]["heads"])
        assert glued["run_d"] == str(best["parameters"]["d"])
        for name, variant in (
            ("by_unfused", "attention_1_unfused"),
            ("by_math", "torch math"),
            ("by_tiles", "torch efficient"),
        ):
            times = long[variant]["median_ms"] / best["median_ms"]
            assert number(glued[name]) == pytest.approx(times, abs=0.051)
        errors = [
            measured.off(short[name]) for name in sorted(short) if name.startswith("attention_")
        ]
        assert number(glued["said_others"]) == round(max(map(abs, errors[:4])))
        assert number(glued["said_async"]) == pytest.approx(1 + errors[4] / 100, abs=0.051)
        assert number(glued["said_tensor"]) == round(-errors[5])
