"""Chapter 18: its form, and its claims, worked out here in another way."""

from __future__ import annotations

import re
from math import expm1, sqrt
from typing import ClassVar

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number

pytestmark = pytest.mark.slow  # its cells are run

C, NVLINK, CARD = 989e12, 450e9, 50e9  # of an H100: FLOP/s, bytes/s


class TestForm(ChapterForm):
    stem = "18_many_gpus"
    sourced: ClassVar = {
        "25": "MB of a bucket (pytorch_ddp)",
        "16,384": "GPUs (grattafiori2024)",
        "54": "days (grattafiori2024)",
        "419": "interruptions (grattafiori2024)",
        "30.1": "% as printed (grattafiori2024)",
        "58.7": "% as printed (grattafiori2024)",
        "52": "% of the peak, as printed (narayanan2021)",
        "530": "billion parameters (narayanan2021)",
        "2,520": "GPUs (narayanan2021)",
        "43": "% of throughput, measured (playbook2025)",
        "48": "% MFU, the most of its table (megatron_core)",
        "90": "% of effective time (grattafiori2024)",
        "400": "TFLOP/s (grattafiori2024)",
        "41": "% as printed (grattafiori2024)",
        "405": "billion parameters, Llama's name",
        "70": "billion parameters, Llama's name",
        "128": "rows of a systolic array (austin2025)",
        "256": "rows of a newer one (austin2025)",
        "1.75": "arrays, as a cell of the main part has it",
        "1.97": "arrays, as a cell of the main part has it",
        "1,024": "tokens of GPT-2",
        "170": "minutes, as the lab says",
        "240": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "0": "a rank, a stage",
        "1": "a stage of ZeRO",
        "2": "a stage of ZeRO",
        "3": "a stage of ZeRO; Llama's version",
        "4": "ranks away",
        "8": "ranks",
        "16": "bits of a number",
        "18": "% in a quiz, as the main part has it",
        "32": "micro-batches; % in a quiz",
        "64": "ranks of the guess",
        "80": "GB of a GPU",
        "1,600": "GB of a model",
        "8,192": "GPUs of a run; tokens of a text",
    }

    def test_a_ring_sends_twice_what_is_not_one_s_own(self, chapter):
        for p in (8, 64):
            assert number(chapter.glued[f"ring{p}"]) == pytest.approx(2 - 2 / p, abs=0.0051)
        assert re.search(r"^ +400,000 bytes ring +1\.75 arrays", chapter.printed, re.MULTILINE)
        assert re.search(r"^ +400,000 bytes tree +3\.00 arrays", chapter.printed, re.MULTILINE)

    def test_ring_and_tree_change_places(self, chapter):
        alpha, size = 3.4e-6, 1e6 * number(chapter.glued["swap"])
        ring = 14 * (alpha + size / 8 / NVLINK)
        tree = 6 * (alpha + size / NVLINK)
        assert ring == pytest.approx(tree, rel=0.02)

    def test_two_trees_in_slices_send_twice_the_array_in_a_tree_s_rounds(self, chapter):
        alpha, size = 3.4e-6, 1e6 * number(chapter.glued["sliced"])
        ring, trees = 14 * alpha + 1.75 * size / NVLINK, 6 * alpha + 2 * size / NVLINK
        assert ring == pytest.approx(trees, rel=0.01)

    def test_a_megabyte_fills_little_of_a_link(self, chapter):
        seconds = 14 * (3.4e-6 + 125e3 / NVLINK)
        assert number(chapter.glued["part_of"]) == round(100 * 1.75e6 / seconds / NVLINK)

    def test_buckets_have_a_best_number(self, chapter):
        exposed = {
            int(k): float(ms)
            for k, ms in re.findall(r"^ *(\d+) buckets.* ([\d.]+) are not", chapter.printed, re.M)
        }
        for k, ms in exposed.items():
            size, alpha, rate, backward = 48 // k * 48_000, 1e-6, 5e9, 20e-6 * (48 // k)
            one = 14 * (alpha + size / 8 / rate)
            clock = 0.0
            for bucket in range(1, k + 1):
                clock = max(clock, bucket * backward) + one
            assert ms == pytest.approx(1e3 * (clock - 48 * 20e-6), abs=0.0051)
        assert number(chapter.glued["best"]) == min(exposed, key=exposed.get)

    def test_tokens_that_hide_gradients(self, chapter):
        glued = chapter.glued
        assert number(glued["tokens_in"]) == round(C / NVLINK) == 2198
        assert number(glued["tokens_out"]) == round(C / CARD) == 19_780
        assert number(glued["tokens_node"]) == round(C / (8 * CARD))

    def test_zero_s_bytes_and_passes(self, chapter):
        glued = {name: number(chapter.glued[f"zero{name}"]) for name in "0123"}
        bytes_of = (16, 4 + 12 / 64, 2 + 14 / 64, 16 / 64)
        assert list(glued.values()) == [round(100 * one) for one in bytes_of]
        assert chapter.glued["third"] == "3" and chapter.glued["twice"] == "2"
        assert chapter.glued["each"] == str(8 * 3)

    def test_a_divided_mlp_is_the_whole_one(self, chapter):
        assert "as on one device: True\n['all_reduce']" in chapter.printed
        rng = np.random.default_rng(3)
        x, a, b = rng.normal(size=(6, 8)), rng.normal(size=(8, 32)), rng.normal(size=(32, 8))
        parts = [np.maximum(x @ a[:, k::4], 0) @ b[k::4] for k in range(4)]
        assert np.allclose(sum(parts), np.maximum(x @ a, 0) @ b)

    def test_tensor_parallelism_s_limit(self, chapter):
        assert number(chapter.glued["limit"]) == round(28_672 * NVLINK / C)
        three = 3 * 2 * 8192 * 28_672 / C  # seconds of a token on one GPU, forward
        assert number(chapter.glued["gated"]) == round(three / (2 * 2 * 8192 / NVLINK))
        waits = 4 * 14 * 3.4e-6 / 8192  # seconds of a token in a layer, and what it sends
        sent = 4 * 2 * 7 / 8 * 2 * 8192 / NVLINK + waits
        flops = 6 * (2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28_672) + 3 * 2 * 8192**2
        told = 100 * sent / (flops / 8 / (C * 206 / 312))
        assert number(chapter.glued["in_node"]) == pytest.approx(told, abs=1)
        rounds, all_cards = 4 * 30 * 14e-6 / 8192, 400e9
        sent = 4 * 2 * 15 / 16 * 2 * 8192 / all_cards + rounds
        told = 100 * sent / (flops / 16 / (C * 206 / 312))
        assert number(chapter.glued["across"]) == pytest.approx(told, abs=1)
        assert number(chapter.glued["lost"]) == pytest.approx(43, abs=10)  # as measured

    def test_bubbles(self, chapter):
        glued = {name: number(chapter.glued[name]) for name in ("few", "plain", "deep", "none")}
        gaps = {"few": (7, 8), "plain": (7, 32), "deep": (3.5, 32), "none": (7 / 3, 32)}
        assert glued == {name: round(100 * g / (m + g)) for name, (g, m) in gaps.items()}
        assert number(chapter.glued["hold_deep"]) == 8 + 7 / 2
        assert "7/39" in chapter.text and round(100 * 7 / 39) == 18
        assert "15/47" in chapter.text and round(100 * 15 / 47) == 32

    def test_published_runs_are_all_listed_with_their_errors(self, chapter):
        rows = re.findall(r"\d +([\d.]+) +([\d.]+) +([+-]\d+) %$", chapter.printed, re.MULTILINE)
        assert len(rows) == int(chapter.glued["runs"]) == 22
        starred = re.findall(r"^GPT .*\* .* %$", chapter.printed, re.MULTILINE)
        assert len(starred) == int(chapter.glued["unchecked"]) == 4
        assert all("recomputed" in row for row in starred)
        for published, planned, error in rows:
            off = 100 * (float(planned) / float(published) - 1)
            assert int(error) == pytest.approx(off, abs=1) and abs(off) < 15
        worst = max(abs(int(error)) for *_, error in rows)
        assert int(chapter.glued["worst"]) == worst

    def test_masked_scores_decide_about_the_longest_texts(self, chapter):
        scores, rest = 12 * 126 * 131_072 * 16_384 / 2, 6 * 405.8e9
        told = re.search(r"131,072 tokens: scores are (\d+)%", chapter.printed)[1]
        assert int(told) == pytest.approx(100 * scores / (scores + rest), abs=1)
        seconds = re.findall(r"masked ones +([\d.]+) s", chapter.printed)
        short, short_all, long, long_all = map(float, seconds)
        assert long_all / long == pytest.approx((rest + 2 * scores) / (rest + scores), rel=0.01)
        assert short_all / short < 1.05
        assert chapter.printed.count("error -32 %") == 1

    def test_a_ring_of_values_sends_a_byte_for_each_flop_and_token(self, chapter):
        row = re.search(r"^NVLink +([\d,]+) +([\d,]+)$", chapter.printed, re.MULTILINE)
        tokens, width = 2198, 128
        sent, flops = 2 * 2 * tokens * width, 4 * tokens**2 * width
        assert flops == tokens * sent
        assert number(row[1]) == number(row[2]) == tokens

    def test_what_travels_has_a_row_for_each_division(self, chapter):
        table = chapter.printed.partition("divided     travels")[2].partition("\n\n")[0]
        assert len(table.splitlines()) == 1 + 8  # six divisions, of which ZeRO has three more

    def test_axes_of_a_torus_work_at_once(self, chapter):
        rate, nbytes = 90e9, 8e6
        asked = {
            "one ring through all": 30 * (2e-6 + nbytes / 16 / rate),  # two hops at a row's end
            "along rows, then columns": 12e-6 + 15 / 8 * nbytes / rate,
            "and half the other way about": 12e-6 + 15 / 16 * nbytes / rate,
        }
        for name, seconds in asked.items():
            told = re.search(rf"^{name} +(\d+) us$", chapter.printed, re.MULTILINE)[1]
            assert int(told) == round(1e6 * seconds)

    def test_the_first_search_is_the_widget_s(self, chapter):
        first = re.search(r"^(\d+) +(\d+) +(\d+) +(\d+) +(\d) +selective", chapter.printed, re.M)
        dp, tp, pp, cp, zero = first.groups()
        mesh = f"data {dp}, tensor {tp}, pipeline {pp}, context {cp}, ZeRO {zero}"
        assert f"meshes is {mesh}." in chapter.printed

    def test_interruptions(self, chapter):
        glued, hours = chapter.glued, 54 * 24 / 419
        assert number(glued["between"]) == round(hours, 1)
        assert number(glued["gpu_share"]) == round(100 * 148 / 419, 1)
        assert number(glued["all_gpu"]) == round(100 * (148 + 72 + 19 + 17 + 6 + 6) / 419, 1)
        assert re.search(r"^all others +62 +14\.8%$", chapter.printed, re.MULTILINE)
        assert 148 + 72 + 54 + 35 + 19 + 17 + 6 + 6 + 62 == 419
        seconds = hours * 3600
        assert number(glued["young"]) == round(sqrt(2 * 60 * seconds) / 60, 1)

        def useful(interval, write):
            spent = np.exp(600 / seconds) * seconds * expm1((interval + write) / seconds)
            return 100 * interval / spent

        best = max(useful(60 * m / 10, 60) for m in range(10, 2400))
        assert number(glued["useful"]) == pytest.approx(best, abs=0.06)
        assert number(glued["seldom"]) == round(useful(10_800, 60))
        fast = max(useful(m, 5) for m in range(60, 7200))
        assert number(glued["fast"]) == pytest.approx(fast, abs=0.06)

    def test_what_was_recomputed_is_a_quarter_of_all_flop(self, chapter):
        assert number(chapter.glued["mfu"]) == pytest.approx(0.75 * 52, abs=1)
        assert number(chapter.glued["printed"]) == round(100 * 400 / 989, 1)

    def test_corrected_figures(self, chapter):
        for words in (
            "989; twice with sparsity",
            "7.9; twice likewise",
            "450 and 300 each way",
            "3.6 between halves",
            "350 GB; 16 B each are 2.8 TB",
            "3.5 TFLOP/s: set-up",
        ):
            assert words in chapter.printed
        wrong = chapter.printed.partition("the notes\n")[2].partition("\n\n")[0]
        assert len(wrong.splitlines()) == 1 + 2 * 18  # fifteen figures, three of them in two rows
