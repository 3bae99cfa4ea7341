"""Chapter 15: its form, and its claims.

Counts are compared with closed forms worked out here by hand, layouts with products that the
simulator makes, and narrow sums with whole numbers."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import floor, log2
from typing import ClassVar

import numpy as np
import pytest
from support.cells import cells
from support.chapter_form import ChapterForm, number
from support.measured import off, rows

from warpwise import cuda, trace
from warpwise.errors import AsyncCopyError
from warpwise.kernels.bfloat16 import pack_bfloat16, to_bfloat16
from warpwise.kernels.tensor_core import mma_bf16

pytestmark = [pytest.mark.slow, pytest.mark.threads]  # its cells are run

STEM = "15_tensor_cores"
H100 = [32.4, 488.5, 635.4, 658.4, 777.5, 799.1, 807.7]  # TFLOP/s, 8,192 rows (shankhdhar2024)
B200 = [155.0, 288.3, 293.6, 360.2, 1429.0, 1493.0, 1772.0]  # 4,096 rows (modular2025)


def cell(chapter, name: str) -> str:
    """Return the cell that defines a function."""
    (source,) = (one.source for one in chapter.code if f"\ndef {name}(" in "\n" + one.source)
    return source


class TestForm(ChapterForm):
    stem = STEM
    sourced: ClassVar = {
        "8,192": "rows of the H100's matrices (shankhdhar2024)",
        "4,096": "rows of the B200's matrices (modular2025); terms (deepseek_v3)",
        "57.3": "TFLOP/s (spatters_mma)",
        "127.3": "TFLOP/s (spatters_mma)",
        "4090": "GeForce RTX (spatters_mma)",
        "13": "bits (xie2025)",
        "14": "bits (deepseek_v3)",
        "65": "% of the peak of mma (luo2024hopper)",
        "15": "% for roles: 914.4 to 1053.6 TFLOP/s (learn_cuda)",
        "512": "columns of tensor memory (ptx_isa)",
        "60": "minutes; % with clusters of more than two (shankhdhar2024)",
        "150": "minutes, as the lab says",
        "210": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "0": "a parity",
        "1": "a parity",
        "2": "% of error (deepseek_v3); a rounded count",
        "6": "units of time",
        "8": "a side of a small matrix; bits",
        "12": "units of time",
        "16": "a side of a small matrix; bits; bytes",
        "32": "lanes; products that are added at once",
        "64": "bytes of a row; a side of a tile",
        "80": "bytes from row to row",
        "128": "bytes of a row; a side of a tile; terms",
        "256": "a side of a tile",
    }

    def test_the_steps_of_the_picture_by_hand(self, chapter):
        rungs = cells(chapter.code[0].source)["RUNGS"]
        assert all(rung.takes["tensor cores"] == 1 for rung in rungs[1:])
        assert rungs[0].takes["float32 lanes"] == 2048 / 128
        # Of 128 bytes: step 8 of chapter 14, four ladders traced, and rows of 32 bytes
        shared = [rung.takes["shared memory"] for rung in rungs]
        wide = (8 * 128 + 384) / 1024
        assert shared == [12, 0, (6 * 4 + 8 + 4) / 16, 1 + 0.5, wide, 1, 1]
        # Rows lie whole lines apart: eight words of A in a bank, and four of B, in four loads each
        assert int(chapter.glued["l1_one"]) == 4 * 8 + 4 * 4
        fetched = [rung.takes["L2"] * 37.5 for rung in rungs]
        assert fetched == pytest.approx([128, 24 * 32, 64, 64, 48, 48, 32], rel=1e-3)
        assert [rung.measured for rung in rungs if rung.measured] == [989 / 32.4, 989 / 807.7]

    def test_fragments_of_two_results_are_a_factor(self, chapter):
        """Multiply twice without moving a number between lanes."""
        assert "bfloat16: True" in chapter.printed and "TF32: False" in chapter.printed
        a, b, v = np.random.default_rng(1).integers(-2, 3, (3, 16, 16)).astype(np.float32)
        out = np.zeros((16, 8), np.float32)
        trace(twice, 1, 32, *(pairs(one) for one in (a, b.T, v.T)), out)
        assert np.array_equal(out, (a @ b @ v)[:, :8])

    def test_wavefronts_of_eight_rows(self, chapter):
        for pitch in (64, 80, 128):
            groups = Counter(pitch * row // 16 % 8 for row in range(8))
            assert int(chapter.glued[f"fronts_{pitch}"]) == 4 * max(groups.values())

    def test_padding_frees_loads_and_not_stores(self, chapter):
        # Four lanes store a row of 64 bytes, so eight lanes two rows, 80 bytes apart.
        chunks = [(80 * row + 16 * chunk) // 16 % 8 for row in (0, 1) for chunk in range(4)]
        assert max(Counter(chunks).values()) == 2
        assert chapter.glued["padded_load"] == "0"
        # Two tiles of A, each 128 x 32, in rows of 64 bytes: each phase twice, for two blocks.
        assert int(chapter.glued["padded_conflicts"]) == 2 * 2 * 128 * 64 // 128
        assert chapter.glued["swizzled_conflicts"] == "0"

    def test_dares_can_be_met(self, chapter):
        names = cells("import numpy as np\n" + cell(chapter, "busiest"))
        assert names["busiest"](64, lambda r, c: c ^ r // 2 % 4) == 1
        assert names["busiest"](32, lambda r, c: c ^ r // 4 % 2) == 1
        # Two orders with the same gains: (copy + product) / the longer, for both copies.
        copy, fast, product = 4, 1, 2
        assert (copy + product) / max(copy, product) == (fast + product) / max(fast, product)
        ring = [max((12 + 3) / stages, 3) for stages in range(1, 7)]
        assert ring.index(3) + 1 == 5

    def test_a_wait_that_spares_too_many_is_named(self, chapter):
        source = cell(chapter, "sums_of_columns")
        with pytest.raises(AsyncCopyError):
            cells(source.replace("cp_async_wait(1)", "cp_async_wait(2)"))
        last = "            total += tiles[k % 2 * 128 + i]\n        cuda.syncthreads()\n"
        assert last in source
        assert cells(source.replace(last, last.split("        cuda")[0]))["t"].races
        assert "may still be on its way" in chapter.printed

    def test_stages_follow_littles_law(self, chapter):
        told = re.findall(r"^ +(\d) +([\d.]+) +\d+%$", chapter.printed, re.MULTILINE)
        assert [int(stages) for stages, _ in told] == list(range(1, 7))
        for stages, units in told:
            assert float(units) == pytest.approx(max(18 / int(stages), 6), rel=0.04)
        assert chapter.glued["enough"] == "3"

    def test_a_stage_and_how_many_fit(self, chapter):
        assert int(chapter.glued["stage_kib"]) == (128 + 256) * 64 * 2 / 1024
        assert int(chapter.glued["stages_fit"]) == 227 // 48

    def test_the_producer_waits_once_the_ring_is_full(self, chapter):
        glued = chapter.glued
        assert int(glued["waited"]) == int(glued["trips"]) - int(glued["ring"]) == 4
        assert int(glued["asked"]) == 2 * 7 and glued["starved"] == "once"
        assert number(glued["bytes_expected"]) == (64 + 32) * 64 * 2
        assert "mbarrier_arrive_expect_tx" in chapter.printed
        assert "this copy overwrites tiles while line" in chapter.printed

    def test_the_table_of_machines(self, chapter):
        told = re.findall(r"^(\w\d+00, .*?)  +([\d.]+) +([\d.]+)$", chapter.printed, re.MULTILINE)
        assert [(float(t), float(s)) for _, t, s in told] == [
            (2, 1 + 0.5),  # 64 x 64 a warp: 128 rows of 32 bytes for 32 products
            (1, 1 + 0.5),
            (1, 640 / 1024 + 384 / 1024),
            (0.5, 2 * 384 / 1024),
            (0.5, 2 * 256 / 1024),
        ]
        assert chapter.glued["mma_share"] == f"{100 / 1.5:.0f}"
        assert chapter.glued["best"] == f"{989 / 807.7:.2f}"
        assert "asked of L2 for a product; 37.5 in a clock" in chapter.printed
        asked = re.findall(r"^a (?:block|cluster) of .* (\d+)$", chapter.printed, re.MULTILINE)
        assert [int(one) for one in asked] == [64, 48, 32]

    def test_registers_are_the_same_in_all(self, chapter):
        assert "168 registers for each thread, in all 64512" in chapter.printed
        assert "24 and 240: 64512" in chapter.printed
        assert chapter.glued["tmem_kib"] == "256" and 2 * 128 * 256 * 4 == 256 * 1024

    def test_narrow_sums_are_those_of_whole_numbers(self, chapter):
        names = cells(cell(chapter, "added"))
        for row in names["products"][:3]:
            total = Fraction(0)
            for k in range(0, len(row), 32):
                terms = [total, *map(Fraction, row[k : k + 32])]
                unit = Fraction(2) ** (floor(log2(max(terms))) - 13)
                total = sum((term // unit for term in terms), 0) * unit
            assert float(total) == names["added"](row[None], 14)[0]
        assert number(chapter.glued["worst"]) > 100 * number(chapter.glued["cured"])

    def test_what_a_number_of_four_bits_can_be(self, chapter):
        assert "[0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]" in chapter.printed
        assert (chapter.glued["mx_bits"], chapter.glued["nv_bits"]) == ("4.25", "4.5")

    def test_gains_of_the_ladders(self, chapter):
        told = re.findall(r"^  .*\d x *([\d.]+)$", chapter.printed, re.MULTILINE)
        gains = [b / a for steps in (H100, B200) for a, b in pairwise(steps)]
        assert [float(one) for one in told] == pytest.approx(gains, abs=0.006)
        assert chapter.glued["roles_b200"] == f"{1429 / 360.2:.1f}"
        assert chapter.glued["two_cublas"] == f"{100 - 100 * 1358.7 / 1763:.0f}"  # learn_cuda
        assert chapter.glued["b200_first"] == f"{100 * 155 / 1763:.0f}"
        assert chapter.glued["roles_h100"] == f"{635.4 / 488.5:.1f}"
        around = 658.4 / 635.4 * 799.1 / 777.5 * 807.7 / 799.1
        assert 1 + int(chapter.glued["parity"]) / 100 > around

    def test_one_change_has_two_gains(self, chapter):
        assert "overlap x1.25, fast x4.00" in chapter.printed
        assert "fast x2.50, overlap x2.00" in chapter.printed

    def test_what_an_h200_made_of_it(self, chapter):
        glued, seen = chapter.glued, rows("sgemm_ladder", "hgemm 8192")
        light = 132 * 4096 * 1.98 / 1e3  # TFLOP/s
        best, library = seen["hgemm_3_async"]["TFLOP_per_s"], seen["torch"]["TFLOP_per_s"]
        assert number(glued["ours_light"]) == round(100 * best / light)
        assert number(glued["library_light"]) == round(100 * library / light)
        assert number(glued["ours_library"]) == round(100 * best / library)
        assert number(glued["ours_light"]) < number(glued["mma_share"])
        errors = [off(row) for row in seen.values() if row["by"] == "numba"]
        assert number(glued["said_least"]) == round(-max(errors)) > 0
        assert number(glued["said_most"]) == round(-min(errors))

    def test_quiz_answers(self, chapter):
        right = {
            name.removeprefix("tensor-"): question.right for name, question in chapter.quiz.items()
        }
        assert right["lanes"] == f"Lanes {4 * 3} to {4 * 3 + 3}"
        assert right["pitch"] == str(4 * 8)
        assert right["stages"].endswith(f"every {(700 + 200) // 3} clocks")


def pairs(matrix: np.ndarray) -> np.ndarray:
    """Return rows of bfloat16, two in a word."""
    return to_bfloat16(np.ascontiguousarray(matrix)).view(np.uint32)


@cuda.jit
def twice(a, b, v, out):
    """(A B) V, 16 x 16 each: the first product's results are the second's factor."""
    g, t = cuda.laneid // 4, cuda.laneid % 4
    zero = np.float32(0)
    a0, a1, a2, a3 = a[g, t], a[g + 8, t], a[g, t + 4], a[g + 8, t + 4]
    p0, p1, p2, p3 = mma_bf16(a0, a1, a2, a3, b[g, t], b[g, t + 4], zero, zero, zero, zero)
    q0, q1, q2, q3 = mma_bf16(a0, a1, a2, a3, b[g + 8, t], b[g + 8, t + 4], zero, zero, zero, zero)
    d0, d1, d2, d3 = mma_bf16(
        pack_bfloat16(p0, p1), pack_bfloat16(p2, p3), pack_bfloat16(q0, q1), pack_bfloat16(q2, q3),
        v[g, t], v[g, t + 4], zero, zero, zero, zero,
    )  # fmt: skip
    out[g, 2 * t], out[g, 2 * t + 1] = d0, d1
    out[g + 8, 2 * t], out[g + 8, 2 * t + 1] = d2, d3
