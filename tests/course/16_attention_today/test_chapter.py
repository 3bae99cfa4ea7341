"""Chapter 16: its form, and its claims, worked out here in another way."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number
from support.measured import off, rows
from support.paths import ROOT

from warpwise.model.exponentials import POLYNOMIAL_INSTRUCTIONS

pytestmark = pytest.mark.slow  # its cells are run

#: FLOP of 16-bit tensor cores in a clock of an SM, as whitepapers and papers count them
TENSOR_FLOP = {"A100": 2048, "H100": 4096, "B200": 8192}


def source(chapter, name: str) -> str:
    """Return the cell that defines a function."""
    (found,) = (one.source for one in chapter.code if f"\ndef {name}(" in "\n" + one.source)
    return found


class TestForm(ChapterForm):
    stem = "16_attention_today"
    sourced: ClassVar = {
        "2022": "year (dao2022)",
        "25": "% of the peak (dao2023); % of powers on the lanes (zadouri2026)",
        "40": "% of the peak (dao2023)",
        "50": "% of the peak (dao2023)",
        "73": "% of the peak (dao2023)",
        "35": "% of the peak (shah2024)",
        "2.6": "times the error (shah2024)",
        "10": "% of powers on the lanes (zadouri2026)",
        "16": "powers of 2 in a clock (cuda_guide); elements of a row; nodes (yang2024)",
        "256": "2 to the threshold (zadouri2026)",
        "448": "largest of E4M3 (micikevicius2022)",
        "512": "elements of a value (deepseek_v2)",
        "128": "heads (flashmla2025); GPUs (yang2024); a side of a tile",
        "405": "billion parameters (yang2024)",
        "20": "% (kwon2023)",
        "38": "% (kwon2023)",
        "26": "% (kwon2023)",
        "13": "billion parameters (xiao2023)",
        "5,158": "perplexity (xiao2023)",
        "5.40": "perplexity (xiao2023)",
        "71": "% of the peak (zadouri2026)",
        "77": "seconds (yang2024)",
        "2026": "year",
        "3.9": "version of Triton",
        "75": "minutes; % of the peak (shah2024)",
        "150": "minutes, as the lab says",
        "210": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "1": "a leading bit",
        "2": "a base",
        "2.0": "Apache's licence",
        "3": "a version's number",
        "4": "a version's number",
        "8": "a threshold; heads in a group",
        "12": "a chapter",
        "32": "queries of the exchange",
        "64": "queries and keys of a tile",
        "8,192": "tokens of the published run",
    }

    def test_powers_beside_products_follow_from_rates_in_a_clock(self, chapter):
        for name, gpu in (("ratio_a", "A100"), ("ratio_h", "H100"), ("ratio_b", "B200")):
            expected = TENSOR_FLOP[gpu] / (4 * 128) / 16
            assert number(chapter.glued[name]) == pytest.approx(expected, rel=0.08)

    def test_the_exchange_is_what_the_divisions_differ_by(self, chapter):
        kib = 64 * 64 / 1024  # elements of a tile, in units of 1,024
        assert number(chapter.glued["exchange"]) == 4 * (4 + 4) * kib
        assert number(chapter.glued["by_keys"]) == (4 + 8 + 4 * 8) * kib
        assert number(chapter.glued["by_queries"]) == 4 * 4 * kib
        assert "16,384 bytes of shared memory" in chapter.printed  # 4 x 16 x 32 x 4 bytes, twice

    def test_each_step_by_counting(self, chapter):
        """Clocks of an SM for a score of 128 elements, in lowest terms: FLOP, bytes, powers."""
        glued = {name: number(chapter.glued[name]) for name in ("first_a", "turn_a", "turn_b")}
        products = {"A100": 4 * 128 / 2048, "B200": 4 * 128 / 8192}
        power, softmax = 1 / 16, 3.5  # clocks; instructions of a lane
        second = products["A100"] + power + (softmax + 1) / 64
        first = products["A100"] + 32 / 128 + power + (softmax + 2) / 64
        assert glued["turn_a"] == round(100 * products["A100"] / second)
        assert glued["first_a"] == pytest.approx(100 * products["A100"] / first, abs=1)
        in_turn = products["B200"] / (products["B200"] + power + (softmax + 1) / 128)
        assert glued["turn_b"] == pytest.approx(100 * in_turn, rel=0.08)
        assert re.search(r"^4 .* 100% products +100% products +7\d% powers", chapter.printed, re.M)

    def test_shared_memory_of_a_b200_is_read_as_the_paper_counts(self, chapter):
        """256 queries, 128 keys, d = 128: 1,536 clocks (zadouri2026, table 1)."""
        bytes_of_a_score = 4 * 128 / 128 + 2 * 128 / 128  # K and V, Q
        assert 256 * 128 * bytes_of_a_score / 128 == 1536
        assert "SHARE = {A100: 32, H100: 64, B200: 128}" in source(chapter, "bound")

    def test_any_reference_up_to_tau_below_the_maximum_is_exact(self, chapter):
        s = np.random.default_rng(1).normal(size=64) * 40
        for below in (0, 5, 8):
            w = 2.0 ** (s - (s.max() - below))
            assert np.allclose(w / w.sum(), 2.0 ** (s - s.max()) / (2.0 ** (s - s.max())).sum())
            assert 1 <= w.max() <= 256

    def test_tensor_memory_is_full_and_a_block_has_sixteen_warps(self, chapter):
        assert "scores 256 + outputs 256 of 512 columns" in chapter.printed
        assert "16 warps:" in chapter.printed  # as flash_fwd_sm100.py numbers them, 0 to 15

    def test_the_bound_of_the_backward_pass(self, chapter):
        assert number(chapter.glued["backward"]) == round(100 * 2560 / 3328)
        assert number(chapter.glued["paired"]) == round(100 * 2560 / 2688)
        assert number(chapter.glued["factors"]) * 128 * 128 * 2 == 3328 * 128

    def test_what_mla_keeps(self, chapter):
        assert re.search(r"^128 heads +65,536 bytes", chapter.printed, re.MULTILINE)
        assert re.search(r"^MLA +1,152 bytes", chapter.printed, re.MULTILINE)
        assert 64 * 512 * 4 == 65_536 * 4 / 2  # half of an SM's registers

    def test_a_window_of_a_sixteenth_leaves_about_an_eighth_of_the_scores(self, chapter):
        n, w = 65_536, 4096
        expected = 1 - ((n - w) / n) ** 2
        assert f"scores: {expected:.0%} of a causal" in chapter.printed
        assert "rows kept: 6%; 32 layers look 131,072 back" in chapter.printed

    def test_tile_languages_name_no_thread_and_the_others_do(self, chapter):
        for what in ("threads and lanes", "shuffles", "banks", "barriers"):
            row = re.search(rf"^{what} +(.*)$", chapter.printed, re.MULTILINE)[1].split()
            assert row[:2] == ["-", "-"] and "-" not in row[2:], what
        names = {"triton": 30, "cutile": 28}
        for name, most in names.items():
            program = (ROOT / f"chapters/programs/attend_{name}.py").read_text("utf-8")
            body = program.partition("jit")[2] or program.partition("kernel")[2]
            assert "thread" not in body and len(body.splitlines()) <= most

    def test_programs_fit_the_page(self):
        for path in (ROOT / "chapters/programs").glob("attend_*.py"):
            shown = path.read_text("utf-8").partition("import")[2]
            assert max(map(len, shown.splitlines())) <= 72, path.name

    def test_the_polynomial_hides_behind_bfloat16_from_degree_three_on(self, chapter):
        found = re.findall(r"^(\d) off by (\S+)", chapter.printed, re.MULTILINE)
        worst = {int(degree): float(error) for degree, error in found}
        assert worst[3] < 2.0**-8 / 40 and 2.0**-9 < worst[2] < 2.0**-8
        x = np.linspace(0, 1, 100_001)
        theirs = np.polynomial.Polynomial([1, 0.69514614, 0.22756439, 0.07711909])
        off = abs(theirs(x) / 2**x - 1).max()
        assert number(chapter.glued["theirs"]) == pytest.approx(off, abs=1e-6)
        assert "nine instructions" in chapter.text and POLYNOMIAL_INSTRUCTIONS == 9

    def test_a_running_maximum_rises_once_in_t_at_tile_t(self, chapter):
        expected = sum(1 / t for t in range(2, 65))
        assert number(chapter.glued["always"]) == pytest.approx(expected, abs=0.5)

    def test_rotation_makes_outputs_more_exact_about_as_published(self, chapter):
        assert 1.5 < number(chapter.glued["cure"]) < 3

    def test_tokens_that_hide_a_transfer(self, chapter):
        assert re.search(r"NVLink +: from +2,198 ", chapter.printed)  # 989e12 / 450e9
        assert re.search(r"InfiniBand: from 19,780 ", chapter.printed)  # 989e12 / 50e9

    def test_what_an_h200_made_of_it(self, chapter):
        glued, seen = chapter.glued, rows("attention", "attention bfloat16, 4096 keys")
        ours = seen["flash_bf16_3_async"]["median_ms"]
        times = seen["torch flash"]["median_ms"] / ours
        assert number(glued["over_flash"]) == pytest.approx(times, abs=0.0051)
        assert times > 1  # it is faster than FlashAttention-2, and not than cuDNN's
        share = 100 * seen["torch cudnn"]["median_ms"] / ours
        assert number(glued["of_cudnn"]) == round(share) < 100
        assert number(glued["said_async"]) == round(-off(seen["flash_bf16_3_async"]))
        assert number(glued["said_mma"]) == round(off(seen["flash_bf16_1_mma"]))
