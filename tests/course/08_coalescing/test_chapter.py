"""Chapter 8: its form, and its claims.

The claims are checked against sectors counted here, by the rule of the Best Practices Guide, and
not by the simulator."""

from __future__ import annotations

import re
from typing import ClassVar

import pytest
from support.chapter_form import ChapterForm, number

from warpwise.devices import A100, H100
from warpwise.toolchain import compile_kernel, load, missing

pytestmark = pytest.mark.slow  # its cells are run

STEM = "08_coalescing"
COPY = """
from warpwise import cuda


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
"""


def sectors(addresses, itemsize: int) -> int:
    """Return the sectors that lanes at these byte addresses touch."""
    return len({byte // 32 for address in addresses for byte in range(address, address + itemsize)})


def strided(stride: int, offset: int = 0, itemsize: int = 4) -> int:
    return sectors([itemsize * (offset + stride * lane) for lane in range(32)], itemsize)


def rows_of_tile(pitch: int, width: int, height: int) -> float:
    """Return mean sectors per request for warps that read ``height`` rows of ``width`` floats.

    The rows begin ``pitch`` floats apart."""
    starts = [(row, col) for row in range(0, 64, height) for col in range(0, 64, width)]
    counts = [
        sectors([4 * (pitch * (r + i) + c + j) for i in range(height) for j in range(width)], 4)
        for r, c in starts
    ]
    return sum(counts) / len(counts)


class TestForm(ChapterForm):
    stem = STEM
    sourced: ClassVar = {
        "64": "data wires of an HBM2 pseudo channel (amd_hbm); the next cell computes with it",
        "6.0": "compute capability (cuda_best_practices)",
        "790": "GB/s, measured by NVIDIA (cuda_best_practices)",
        "309": "GFLOP/s, measured (boehm2022)",
        "1986.5": "GFLOP/s, measured (boehm2022)",
        "68.7": "% of cuBLAS, measured (boehm2022)",
        "78.4": "% of cuBLAS, measured (boehm2022)",
        "16": "bytes of the widest load (cuda_guide)",
        "10.0": "compute capability with loads of 32 bytes (ptx_isa)",
        "128": "bytes that L2 may fetch at most (cuda_runtime)",
        "10.2.1": "section of cuda_best_practices",
        "6": "chapter of hwu2022",
        "50": "minutes",
        "90": "minutes, as the lab says",
        "120": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "0": "stride to try",
        "1": "stride to try, and the one that is shifted",
        "2": "stride to try",
        "8": "stride to try; a block's width",
        "4": "bytes of a float; a block's height",
        "32": "lanes of a warp",
        "72": "the padded pitch",
        "65": "columns used of it",
    }

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("line_bytes", 4 * 32),
            ("floats_per_sector", 32 // 4),
            ("sectors_1", strided(64)),
            ("sectors_2", strided(1)),
            ("times_more", strided(64) // strided(1)),
            ("shuffled", strided(1)),
            ("same", strided(0)),
            ("half_best", strided(1, itemsize=2)),
            ("single_best", strided(1)),
            ("double_best", strided(1, itemsize=8)),
            ("full_16", next(s for s in range(99) if strided(s, itemsize=2) == 32)),
            ("full_32", next(s for s in range(99) if strided(s) == 32)),
            ("full_64", next(s for s in range(99) if strided(s, itemsize=8) == 32)),
            ("aligned", strided(1)),
            ("misaligned", strided(1, 1)),
            ("narrow_before", rows_of_tile(64, 8, 4)),
            ("narrow_after", rows_of_tile(65, 8, 4)),
            ("wide_before", rows_of_tile(64, 32, 1)),
            ("wide_after", rows_of_tile(65, 32, 1)),
            ("rows_sectors", strided(64)),
            ("columns_sectors", strided(1)),
            ("repaired", strided(1)),
            ("quarter_gi", 2**28),
            ("knee", round(67e12 / 3350e9)),
            ("narrow_sectors", strided(1)),
            ("wide_sectors", strided(1, itemsize=16)),
            ("fewer", 16 // 4),
        ],
    )
    def test_value_of(self, chapter, name, value):
        assert number(chapter.glued[name]) == value

    def test_factors_of_the_extra_column(self, chapter):
        assert chapter.glued["narrow_factor"] == f"{rows_of_tile(65, 8, 4) / 4:.2f}"
        assert chapter.glued["wide_factor"] == f"{rows_of_tile(65, 32, 1) / 4:.2f}"

    def test_random_places_cost_about_a_sector_a_lane(self, chapter):
        assert 30 <= number(chapter.glued["anywhere"]) <= 32

    def test_times_on_the_roofline(self, chapter):
        bytes_used = 8 * 2**28
        fast = 1e3 * bytes_used / (H100.dram_gb_per_s * 1e9)
        assert chapter.glued["fast_ms"] == f"{fast:.1f}"
        assert chapter.glued["slow_ms"] == f"{8 * fast:.1f}"
        assert (
            chapter.glued["best_share"]
            == f"{100 * 0.125 * H100.dram_gb_per_s / (H100.fp32_tflops * 1e3):.1f}"
        )

    def test_nvidias_measurement_lies_between_our_bounds(self, chapter):
        low, high = (
            float(bound)
            for bound in re.search(
                r"([\d.]+) % to ([\d.]+) % of the aligned speed", chapter.printed
            ).groups()
        )
        assert low == 100 * 4 / 5
        assert low < 90 < high < 100

    def test_dram_moves_64_bytes_for_a_float_that_stands_alone(self, chapter):
        rows = re.findall(
            r"stride +(\d+): +(\d+) GB/s; of DRAM ([\d,]+) in sectors, ([\d,]+) by 64 bytes",
            chapter.printed,
        )
        by_64 = {int(stride): number(rate) for stride, _, _, rate in rows}
        assert list(by_64) == [8, 12, 16, 24, 32]
        for stride, useful, by_32, rate in rows:
            # 8 useful bytes: 4 that are read, with what comes with them, and 4 that are written
            for piece, of_dram in ((32, number(by_32)), (64, number(rate))):
                moved = min(4 * int(stride), piece) + 4
                assert abs(moved / 8 * int(useful) / of_dram - 1) < 0.002
        assert max(by_64.values()) < 4800 and min(by_64.values()) == by_64[32]

    def test_a_shift_without_a_fifth_sector_was_measured_as_dear(self, chapter):
        assert strided(1, 8) == strided(1) == 4
        assert chapter.glued["kept_8"] == chapter.glued["kept_1"] == "97"

    def test_question_says_five_times_for_eight_times_the_sectors(self, chapter):
        assert "Why is one of them five times as slow?" in chapter.text
        assert chapter.glued["watch_times"] == "5" and chapter.glued["times_more"] == "8"

    def test_stopwatch_says_who_pays(self, chapter):
        bound = re.findall(r"bound by (L2|DRAM); modelled", chapter.printed)
        dram = re.findall(r"(\d+) bytes of DRAM a float", chapter.printed)
        # both kernels read and write each float once; the spread read takes a sector for each
        assert bound == ["L2", "DRAM", "DRAM"] and dram == ["8", "8", str(32 + 4)]
        slow, fast = (float(chapter.glued[name]) for name in ("watch_slow", "watch_fast"))
        assert 4 < slow / fast < 8 and fast >= float(chapter.glued["fast_ms"])
        assert chapter.glued["watch_far"] == "4"

    def test_wider_elements_move_the_same_sectors_in_fewer_requests(self, chapter):
        rows = re.findall(
            (
                r"(\d+) bytes: +(\d+) loads, +([\d.]+) sectors each, (\d+) in all; "
                r"(\d+) warp instructions"
            ),
            chapter.printed,
        )
        assert [
            (int(size), int(loads), float(each), int(all)) for size, loads, each, all, _ in rows
        ] == [
            (size, 4096 * 4 // (32 * size), strided(1, itemsize=size), 4096 * 4 // 32)
            for size in (4, 8, 16)
        ]
        instructions = [int(row[-1]) for row in rows]
        assert instructions == [instructions[0] // by for by in (1, 2, 4)]

    def test_loads_under_way(self, chapter):
        # ernst_gpu_benches: clocks of an A100 at 1,410 MHz; 108 SMs
        in_flight = 571.8 / 1.41e9 * 2039e9 / 108
        assert (
            chapter.glued["loads_4"] == f"{in_flight / 128:.0f}"
            and chapter.glued["loads_16"] == f"{in_flight / 512:.0f}"
        )
        assert (
            number(chapter.glued["loads_4"]) < number(chapter.glued["most_warps"]) == A100.sm.warps
        )

    def test_a_slice_that_begins_at_the_second_float_is_misaligned(self, chapter):
        assert "float64 is read and written at multiples of 8 bytes" in " ".join(
            chapter.printed.split()
        )

    def test_right_answers_are_right(self, chapter):
        right = {
            name.removeprefix("coalescing-"): question.right
            for name, question in chapter.quiz.items()
        }
        assert right["float64"] == str(strided(1, itemsize=8))
        assert (
            right["reversed"] == "The same as in order"
            and sectors([4 * (31 - lane) for lane in range(32)], 4) == strided(1) == 4
        )
        assert right["even-lanes"] == str(sectors([4 * lane for lane in range(0, 32, 2)], 4))
        assert right["half-precision"].startswith(
            f"They go from {strided(2)} to {strided(2, itemsize=2)}, and half"
        )
        assert 32 * 2 / (32 * strided(2, itemsize=2)) == 32 * 4 / (32 * strided(2)) == 0.5
        assert (
            right["row-starts"] == "One in eight"
            and sum(4 * 1001 * row % 32 == 0 for row in range(800)) == 100
        )
        assert 1001 == 125 * 8 + 1 and 1008 == -(-1001 // 8) * 8
        assert right["wide"] == "It moves the same bytes in a quarter of the requests"
        assert (
            f"rise from {strided(1)} to {strided(1, itemsize=16)}"
            in chapter.quiz["coalescing-wide"].text
        )
        assert right["row-sums"] == "At each step, the lanes of a warp are a whole row apart"


def test_a_multiple_of_eight_columns_aligns_every_row():
    assert rows_of_tile(72, 8, 4) == rows_of_tile(72, 32, 1) == 4


@pytest.mark.skipif(
    bool(missing()), reason=f"no {', '.join(missing())}: python -m pip install -e '.[toolchain]'"
)
@pytest.mark.parametrize(
    ("dtype", "loads"), [("float64", ["LDG.E.64"]), ("complex128", ["LDG.E.64", "LDG.E.64"])]
)
def test_numba_keeps_a_float64_whole_and_splits_a_complex128(tmp_path, dtype, loads):
    (tmp_path / "copies.py").write_text(COPY)
    made = compile_kernel(
        load(tmp_path / "copies.py").kernel("copy"), f"{dtype}[::1], {dtype}[::1]"
    )
    assert [one.opcode for one in made.machine_code if one.opcode.startswith("LDG")] == loads


# --- the built site ---


@pytest.fixture
def page_of(browser, site):
    """Open the chapter in a window of a given width, with or without scripts."""
    contexts = []

    def open_page(width: int, scripts: bool = True):
        contexts.append(
            browser.new_context(
                viewport={"width": width, "height": 900}, java_script_enabled=scripts
            )
        )
        page = contexts[-1].new_page()
        page.goto(f"{site.url}/chapters/{STEM}.html")
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_page_is_no_wider_than_a_phone(page_of):
    page = page_of(390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_of_charts_follows_the_page(page_of, scheme):
    page = page_of(1000)
    page.emulate_media(color_scheme=scheme)
    page.reload()
    colours = page.evaluate(
        """() => [...document.querySelectorAll('svg[role=img] text')]
            .filter(t => t.closest('svg').style.maxWidth)
            .map(t => [t, t.closest('.cell_output')].map(e => getComputedStyle(e)))
            .map(([text, output]) => text.fill + output.color)"""
    )
    assert len(colours) > 50
    assert all(both == both[: len(both) // 2] * 2 for both in colours)
    light = [int(part) for part in re.findall(r"\d+", colours[0])[:3]]
    assert (sum(light) > 400) == (scheme == "dark")
