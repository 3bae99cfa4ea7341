"""Chapter 9: its form, and its claims.

Counts are checked against closed forms worked out here by hand, and not against the simulator."""

from __future__ import annotations

import re
from math import isclose
from typing import ClassVar

import pytest
from support import measured
from support.cells import in_sight
from support.chapter_form import ChapterForm, number

from warpwise.devices import H100

pytestmark = pytest.mark.slow  # its cells are run

N, T = 256, 16
LANES_PER_CLOCK = 128  # an SM of compute capability 9.0


def elements(height: float, width: float) -> float:
    """Return the elements that a block asks for, per product."""
    return 1 / height + 1 / width


def roof_of_shared(rows: int, columns: int) -> float:
    """Return the share of the peak when a warp's request is served in one pass.

    It compares products per load with an SM's products in a clock."""
    return min(1, rows * columns / (rows + columns) / (LANES_PER_CLOCK / 32))


def passes(words) -> int:
    banks = [word % 32 for word in set(words)]
    return max(map(banks.count, banks))


class TestForm(ChapterForm):
    stem = "09_tiling"
    sourced: ClassVar = {
        "4092": "rows of the matrices measured (boehm2022)",
        "423": "TFLOP/s, measured (gordic2025)",
        "498": "TFLOP/s, measured (gordic2025)",
        "4096": "rows of the matrices measured (gordic2025)",
        "8.0": "compute capability (ptx_isa)",
        "9.0": "compute capability (ptx_isa)",
        "10.0": "compute capability (ptx_isa)",
        "60": "minutes",
        "120": "minutes, as the lab says",
        "180": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "1": "a side of a patch; padding to try; a barrier of the table",
        "2": "a side of a tile; FLOP of a multiply-add; a barrier of the table",
        "4": "bytes of a float; a barrier of the table",
        "8": "a side of a patch",
        "16": "a side of a tile; bytes of a wide load",
        "64": "multiply-adds of a patch, which the next cell computes",
        "32": "lanes of a warp; a side of a tile, and the stride to try",
        "128": "columns of a block to count",
        "256": "threads of the block above",
        "0": "a pair of the table",
        "3": "a pair of the table",
        "6": "of the formula N/6",
    }

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("bad_a", 16),
            ("good_a", 2),
            ("good_b", 16 * 4 / 32),
            ("plain_asked", 2 * N**3),
            ("different", 2 * N**2),
            ("each_asked", N),
            ("at_best", round(N / 6)),
            ("knee", round(67e12 / 3350e9)),
            ("tiled_asked", 2 * N**3 // T),
            ("tiled_sectors", 32 * 4 // 32),
            # A warp covers 2 x 16 results. Plain: for each k, 2 sectors of A and 2 of B. Tiled: for
            # 16 k, 4 of A and 4 of B.
            ("ratio_elements", T),
            ("ratio_sectors", 16 * (2 + 2) / (4 + 4)),
            ("ratio_different", 1),
            ("passes_one", 2),
            ("warps_per_clock", LANES_PER_CLOCK / 32),
            ("share_one", 100 * roof_of_shared(1, 1)),
            ("global_one", 2 / (4 * elements(16, 16))),
            ("global_patch", 2 / (4 * elements(128, 128))),
            ("shared_one", 2 / (4 * 2)),
            ("shared_patch", 2 / (4 * elements(8, 8))),
            ("roof_column", 100 * roof_of_shared(4, 1)),
            ("roof_eight", 100 * roof_of_shared(8, 8)),
            ("slots", 4),
            ("turned_worst", 32),
            ("turned_four", passes(36 * lane for lane in range(32))),
            ("end_one", 4 * (3 + 4)),
            ("end_two", 3 + 3 * max(3, 4) + 4),
            ("barriers_single", 2 * 64 // 16),
            ("barriers_double", 64 // 16),
        ],
    )
    def test_value_of(self, chapter, name, value):
        assert number(chapter.glued[name]) == value

    def test_counts_of_the_lecture(self, chapter):
        assert chapter.glued["plain_asked"] == "33,554,432"
        assert chapter.glued["tiled_asked"] == "2,097,152"

    def test_product_in_numpy_fetches_as_the_formula_says(self, chapter):
        counted = re.findall(r"T = +(\d+): +([\d,]+) elements fetched", chapter.printed)
        assert [(int(t), number(count)) for t, count in counted] == [
            (t, 2 * N**3 // t) for t in (8, 16, 32, 64)
        ]

    def test_shapes_of_a_block(self, chapter):
        counted = re.findall(r"(\d+) x +(\d+): ([\d.]+) elements a product", chapter.printed)
        assert [(int(h), int(w)) for h, w, _ in counted] == [(2, 128), (4, 64), (8, 32), (16, 16)]
        assert all(
            isclose(float(asked), elements(int(h), int(w)), abs_tol=1e-4) for h, w, asked in counted
        )
        assert chapter.glued["row_times"] == f"{elements(2, 128) / elements(16, 16):.1f}"
        assert chapter.glued["near_times"] == f"{elements(8, 32) / elements(16, 16):.2f}"

    def test_depth_changes_barriers_and_shared_memory_only(self, chapter):
        counted = re.findall(
            r"depth +(\d+): ([\d.]+) elements a product, +(\d+) barriers, ([\d,]+) bytes",
            chapter.printed,
        )
        assert [
            (int(d), float(asked), int(barriers), number(size))
            for d, asked, barriers, size in counted
        ] == [
            (depth, elements(16, 16), 2 * 128 // depth, 4 * 2 * 16 * depth)
            for depth in (4, 8, 16, 32)
        ]

    def test_levels_of_each_patch(self, chapter):
        counted = re.findall(
            r"(\d) x (\d) +(\d+) x +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) %", chapter.printed
        )
        assert len(counted) == 4
        for rows, columns, height, width, of_global, of_shared, roof in (
            map(float, row) for row in counted
        ):
            assert (height, width) == (16 * rows, 16 * columns)
            assert isclose(of_global, 0.5 / elements(height, width), abs_tol=0.05)
            assert isclose(of_shared, 0.5 / elements(rows, columns), abs_tol=0.005)
            assert isclose(roof, 100 * roof_of_shared(int(rows), int(columns)), abs_tol=0.05)

    def test_loads_take_slots_from_multiply_adds(self, chapter):
        found = re.findall(r"loads of +(\d+) bytes: +(\d+), at most (\d+) %", chapter.printed)
        assert [tuple(map(int, row)) for row in found] == [
            (4, 16, round(100 * 64 / 80)),
            (16, 4, round(100 * 64 / 68)),
        ]

    def test_registers_of_a_patch(self, chapter):
        assert f"{8 * 8 + 8 + 8} of the 255 registers" in chapter.printed

    def test_a_swizzle_takes_one_pass_either_way(self, chapter):
        assert "swizzled: 1.0 passes a store, 1.0 a load" in chapter.printed
        for fixed in range(32):
            stored = [32 * lane + (fixed ^ lane) for lane in range(32)]
            loaded = [32 * fixed + (lane ^ fixed) for lane in range(32)]
            assert passes(stored) == passes(loaded) == 1

    def test_gains_of_the_ladders_last_steps(self, chapter):
        steps = measured.rows("sgemm_ladder", "sgemm 4096")
        reached = {name: row["TFLOP_per_s"] for name, row in steps.items()}
        predicted = {
            name: row["flops"] / row["predicted_ms"][0]
            for name, row in steps.items()
            if row["predicted_ms"]
        }
        plain, tiled = "sgemm_2_coalesced", "sgemm_3_shared"
        wider, warps = "sgemm_6_vectorised", "sgemm_7_warp_tile"
        for name, speed, before, after in (
            ("warp_gain", reached, wider, warps),
            ("warp_said", predicted, wider, warps),
            ("patch_gain", reached, warps, "sgemm_8_wide_thread"),
            ("async_gain", reached, warps, "sgemm_9_async"),
            ("async_said", predicted, warps, "sgemm_9_async"),
        ):
            assert number(chapter.glued[name]) == round(100 * (speed[after] / speed[before] - 1))
        for name, speed in (("tile_gain", reached), ("tile_said", predicted)):
            assert chapter.glued[name] == f"{speed[tiled] / speed[plain]:.1f}"
        light = 132 * 128 * 2 * 1.98 / 1e3  # TFLOP/s of its multiply-add lanes
        assert number(chapter.glued["beyond"]) == round(100 * reached[tiled] / light, 1)
        assert number(chapter.glued["beyond"]) > number(chapter.glued["share_one"])
        best = max(reached[name] for name in predicted)
        assert number(chapter.glued["of_cublas"]) == round(100 * best / reached["cupy"])

    def test_padding_of_a_turned_tile(self, chapter):
        counted = re.findall(r"padding (\d): +([\d.]+) passes a store", chapter.printed)
        assert [(int(p), float(n)) for p, n in counted] == [
            (p, passes((32 + p) * lane for lane in range(32))) for p in range(5)
        ]

    def test_measured_steps_are_those_of_the_source(self, chapter):
        cell = next(cell.source for cell in chapter.code if cell.source.startswith("measured = "))
        assert re.findall(r": ([\d.]+)", cell) == [
            "1.3",
            "8.5",
            "12.8",
            "36.5",
            "68.7",
            "78.4",
            "84.8",
            "93.7",
        ]
        assert (
            "coalesced, with_tiles = 1986.5, 2980.3" in chapter.text
            and "1.5 times as fast" in chapter.printed
        )

    def test_both_barriers_are_needed_and_two_are_enough(self, chapter):
        found = [
            (line, after.strip())
            for line, after in re.findall(
                r"after loads: (\d, after products: \d)\n(.*)", chapter.printed
            )
        ]
        assert [line for line, said in found if said == "no race"] == ["1, after products: 1"]
        assert sum(said.startswith("race on tile_") for _, said in found) == 2
        assert "double: 4 barriers, 4,096 bytes, races: False" in chapter.printed
        assert "wrong: 4 barriers, 2,048 bytes, races: True" in chapter.printed

    def test_large_patches_are_compute_bound_even_without_caches(self, chapter):
        moved = 4 * (2 * N**3 / 128 + N**2)
        assert 2 * N**3 / moved > H100.fp32_flops_per_s / H100.dram_bytes_per_s
        tiled = 4 * (2 * N**3 / 16 + N**2)
        assert 2 * N**3 / tiled < H100.fp32_flops_per_s / H100.dram_bytes_per_s

    def test_the_three_tiles_to_scale_nest_and_say_what_they_fetch(self, chapter):
        sides = {(128, 128): "0.016", (64, 32): "0.047", (8, 8): "0.25"}
        label = next(cell.source for cell in chapter.code if "def draw_nested" in cell.source)
        for (height, width), each in sides.items():
            assert float(each) == round(elements(height, width), 3)
            assert f"({height}, {width}, " in label and each in label
        assert 64 * 32 // (8 * 8) == 32  # the patches of a warp

    def test_the_sister_of_the_labs_kernel_multiplies_a_transposed_matrix(self, chapter):
        (cell,) = [one.source for one in chapter.code if "def matmul_3(" in one.source]
        assert "tile_a[k, y] * tile_b[k, x]" in cell and "= at[start + y, top + x]" in cell

    @pytest.mark.parametrize("kernel", ["matmul_2", "matmul_tiled", "matmul_4", "matmul_5"])
    def test_no_cell_in_sight_solves_the_lab(self, chapter, kernel):
        assert in_sight(chapter.code, "matmul_1") and in_sight(chapter.code, "matmul_3")
        assert not in_sight(chapter.code, kernel)

    def test_right_answers_are_right(self, chapter):
        right = {
            name.removeprefix("tiling-"): question.right for name, question in chapter.quiz.items()
        }
        assert right["shape"] == f"{100 * (elements(16, 64) / elements(32, 32) - 1):.0f} % more"
        assert right["depth"] == "The barriers"
        assert right["second-barrier"].startswith("It keeps warps that are ahead")
        assert right["dram"].startswith("Caches had served")
        assert right["early-return"].startswith("Nobody loads their part")
