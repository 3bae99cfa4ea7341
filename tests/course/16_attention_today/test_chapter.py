"""The page on attention today: a chapter's form, and its claims, worked out here in another way."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number
from support.measured import off, rows

from warpwise.model.exponentials import POLYNOMIAL_INSTRUCTIONS

pytestmark = pytest.mark.slow  # its cells are run

#: FLOP of 16-bit tensor cores in a clock of an SM, as whitepapers and papers count them
TENSOR_FLOP = {"A100": 2048, "H100": 4096, "B200": 8192}


class TestForm(ChapterForm):
    stem = "attention_today"
    sourced: ClassVar = {
        "2022": "year (dao2022)",
        "25": "% of the peak (dao2023); % of powers on the lanes (zadouri2026)",
        "40": "% of the peak (dao2023)",
        "50": "% of the peak (dao2023)",
        "73": "% of the peak (dao2023)",
        "35": "% of the peak (shah2024)",
        "2.6": "times the error (shah2024)",
        "10": "% of powers on the lanes (zadouri2026)",
        "16": "powers of 2 in a clock (cuda_guide); elements of a row",
        "256": "2 to the threshold (zadouri2026)",
        "2,560": "clocks of products (zadouri2026)",
        "1,024": "clocks of powers (zadouri2026)",
        "3,328": "clocks of shared memory (zadouri2026)",
        "576": "elements of a key (flashmla2025)",
        "512": "elements of a value (flashmla2025)",
        "128": "heads (flashmla2025); GPUs (yang2024); a side of a tile",
        "20": "% (kwon2023)",
        "38": "% (kwon2023)",
        "26": "% (kwon2023)",
        "13": "billion parameters (xiao2023)",
        "5,158": "perplexity (xiao2023)",
        "5.40": "perplexity (xiao2023)",
        "77": "seconds (yang2024)",
        "2026": "year",
        "3.9": "version of Triton",
        "60": "minutes",
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

    def test_opens_with_its_number_and_one_question(self, chapter):
        """It has one question, and no number, for it has no lab."""
        opening = r"^# Attention today: .*\n\n\*\*[^*]+\?\*\*\n"
        assert re.search(opening, chapter.text, re.MULTILINE)

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

    def test_the_polynomial_hides_behind_bfloat16_from_degree_three_on(self, chapter):
        found = re.findall(r"^(\d) off by (\S+)", chapter.printed, re.MULTILINE)
        worst = {int(degree): float(error) for degree, error in found}
        assert worst[3] < 2.0**-9 / 20 and worst[2] > 2.0**-9
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
