"""Chapter 17: its form, and its claims, worked out here in another way."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number
from support.measured import record

from warpwise.gpt2.config import MINIATURE
from warpwise.gpt2.train import TEXT

pytestmark = pytest.mark.slow  # its cells are run

N, C, V, LAYERS, T = 16 * 1024, 768, 50_304, 12, 1024  # 16 texts
P = V * C + T * C + LAYERS * (12 * C * C + 13 * C) + 2 * C
A100_40, H100, H200 = (1555e9, 312e12), (3350e9, 989e12), (4800e9, 989e12)
#: multiply-adds of a layer's products for a token, by their name
PRODUCTS = {"qkv": (C, 3 * C), "attproj": (C, C), "fc": (C, 4 * C), "fcproj": (4 * C, C)}


def milliseconds(device, n=N, fused=True) -> float:
    """Return the least time of a step on n tokens in bfloat16, written down from the table.

    ``fused``: all that the chapter fuses; else what the profile of May 2024 had."""
    rate, peak = device
    epilogue = 4 * n * C * 2 * fused

    def product(k, m, more=0):
        return max((2 * (n * k + k * m + n * m) + more) / rate, 2 * n * k * m / peak)

    total = 3 * product(C, V)
    for name, (k, m) in PRODUCTS.items():
        total += LAYERS * product(k, m, epilogue * (name == "fc"))
        total += LAYERS * (product(k, m, epilogue * (name == "fcproj")) + product(k, m))
    flash = [(4, 2), (8, 5)]
    for passes, flops in flash:
        moved = passes * n * C * 2 + 4 * n * 12
        total += LAYERS * max(moved / rate, flops * n * T * C / peak)
    unit = n * C * 2
    norms = 24 * (4 * unit + 8 * n) if fused else 24 * (5 * unit + 8 * n)
    bytes_moved = 3 * unit + (2 * unit + 8 * n) + norms + 25 * 4 * unit
    bytes_moved += 48 * 9 / 4 * unit + (unit + T * C * 2) + 2 * n * V * 2 + 30 * P
    if not fused:
        bytes_moved += LAYERS * 20 * unit
    return 1e3 * (total + bytes_moved / rate)


class TestForm(ChapterForm):
    stem = "17_gpt2"
    sourced: ClassVar = {
        "405": "launches (llmc_pr378)",
        "100": "milliseconds (llmc_profile)",
        "140": "milliseconds of the profiled step (llmc_pr378)",
        "24": "texts of the profiled step (llmc_pr378)",
        "2024": "year (llmc_pr378)",
        "43": "% more bandwidth, asserted in a cell",
        "40": "GB of an A100; MB of its L2; microseconds that are said",
        "80": "GB of an A100",
        "12": "layers (llmc_code); bytes of Adam's state",
        "768": "channels (llmc_code)",
        "1,024": "positions (llmc_code); threads of a block",
        "50,257": "vocabulary (llmc_code)",
        "50,304": "padded vocabulary (llmc_code)",
        "28": "bytes of AdamW a parameter, tested with the model",
        "70": "% of a peak (llmc_profile); minutes",
        "85": "% of a peak (llmc_profile)",
        "75": "% of the peak (llmc_pr378)",
        "111": "ms of a forward pass (llmc_code, history)",
        "59": "ms of a forward pass (llmc_code, history)",
        "200": "ms of a step (llmc_code, history)",
        "190": "ms of a step (llmc_code, history)",
        "2.5": "times, as planned (llmc_profile); microseconds (nvidia_graph_launch)",
        "3.7": "ms (llmc_pr150)",
        "6": "ms (llmc_pr150)",
        "1,191": "GB/s (llmc_pr600)",
        "1,244": "GB/s (llmc_pr600)",
        "689": "GB/s (llmc_pr600)",
        "773": "GB/s (llmc_pr600)",
        "4.7": "microseconds of an empty kernel (vellaisamy2026)",
        "2.9": "microseconds of a kernel (gray2019)",
        "9.6": "microseconds (gray2019)",
        "3.8": "microseconds (gray2019)",
        "3.4": "microseconds (gray2019)",
        "20": "microseconds that are said",
        "350": "GB, 175 billion of 2 bytes",
        "650": "GB that are said",
        "101": "% of the peak (llmc_pr378)",
        "26": "ms of PyTorch (llmc_code, history)",
        "26.2": "ms of llm.c (llmc_code, history)",
        "524,288": "tokens of a step (llmc_code)",
        "300": "ms of a step (llmc_code)",
        "150": "minutes, as the lab says",
        "210": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "1": "a weight",
        "2": "layers of the miniature; bytes of a bfloat16",
        "3": "passes over the logits",
        "4": "texts of the miniature; bytes of a float32",
        "5": "ms (llmc_pr343)",
        "7": "numbers that AdamW moves; ms (llmc_pr343)",
        "8": "bytes of two means",
        "10": "milliseconds between 200 and 190",
        "15": "% between 85 and 100",
        "16": "bytes of a parameter's state; of a packed load",
        "32": "bytes of the miniature's texts",
        "64": "channels of the miniature; texts",
        "1.5": "3 passes over 2",
        "124": "million parameters",
        "175": "billion parameters",
        "256": "bfloat16 below 1: 8 bits after the point",
        "0.999": "1 less a thousandth",
        "1,000": "lines, tested with the package",
        "3090": "a GPU's number",
    }

    def test_least_times_of_a_step(self, chapter):
        table = dict(
            re.findall(
                r"^(\w+ [\w ]+?) +([\d.]+) +[\d.]+ +[\d.]+ +[\d,]+$", chapter.printed, re.MULTILINE
            )
        )
        for name, device in (("A100 40 GB SXM", A100_40), ("H100 SXM", H100), ("H200 SXM", H200)):
            assert float(table[name]) == pytest.approx(milliseconds(device), rel=0.01)
        shorter = 100 * (1 - milliseconds(H200) / milliseconds(H100))
        assert number(chapter.glued["h200_gain"]) == pytest.approx(shorter, abs=0.6)
        assert number(chapter.glued["least_now"]) == round(milliseconds(A100_40))
        then = milliseconds(A100_40, fused=False)
        assert number(chapter.glued["least_then"]) == pytest.approx(then, abs=1)

    def test_where_the_profile_s_time_goes(self, chapter):
        n = 24 * 1024
        products = 3 * 2 * n * (12 * C * C * LAYERS + V * C) / 312e12 * 1e3
        assert number(chapter.glued["of_products"]) == round(100 * products / (0.63 * 140))
        assert number(chapter.glued["lost_products"]) == pytest.approx(0.63 * 140 - products, abs=1)
        norms = 25 * 4 * n * C * 2 / 1555e9 * 1e3
        assert number(chapter.glued["of_norm"]) == round(100 * norms / (0.053 * 140))
        attention = LAYERS * 7 * n * T * C / 312e12 * 1e3
        lost = 0.13 * 140 - attention
        assert number(chapter.glued["lost_attention"]) == pytest.approx(lost, abs=0.6)
        everything = number(chapter.glued["sum_least"]) + sum(
            number(chapter.glued[f"lost_{one}"]) for one in ("products", "attention", "rest")
        )
        assert everything == pytest.approx(140, abs=1.5)

    def test_the_miniature_learns_and_its_launches_are_counted(self, chapter):
        table = re.findall(r"^ +(\d+) +(\d\.\d{4}) +(\d\.\d{4})$", chapter.printed, re.MULTILINE)
        numbers, losses, wanted = zip(*(map(float, row) for row in table[:10]), strict=True)
        assert list(numbers) == list(range(1, 11))
        assert losses[:4] == (5.5094, 5.0426, 4.7455, 4.4983)
        assert wanted == pytest.approx(losses, abs=2e-4) and wanted[-1] == 3.2142
        before, after = re.findall(r"^(?:before|after): +b'F(.*)'$", chapter.printed, re.MULTILINE)
        assert len(re.sub(r"\\x..", "", after)) > 2 * len(re.sub(r"\\x..", "", before))
        assert abs(losses[0] - np.log(256)) < 0.05
        layers = MINIATURE.layers
        forward = 1 + 7 * layers + 2  # encoder; ln, qkv, attention, ..., lnf, head
        backward = 1 + 2 + 3 + layers * (4 * 3 + 2 * 3 + 3) + 2
        found = {name: number(chapter.glued[name]) for name in ("forward", "backward", "update")}
        assert found == {"forward": forward, "backward": backward, "update": 16 + 2}
        assert number(chapter.glued["launches"]) == forward + backward + 18

    def test_the_profile_s_kernels_sum_to_405(self, chapter):
        table = chapter.printed[chapter.printed.index("product      ") :].splitlines()[:12]
        counts = [int(line.split()[-1]) for line in table]
        assert sum(counts[:-1]) == counts[-1] == 405
        assert counts[0] == 12 * 12 + 3

    def test_bfloat16_halves_all_but_the_update_s_bytes(self, chapter):
        table = re.findall(r"^(\w+) +([\d,]+) +([\d,]+) +(\d+)%$", chapter.printed, re.MULTILINE)
        found = {kernel: (number(whole), number(half)) for kernel, whole, half, _ in table}
        assert len(found) == 12
        n, c, v, p = 4 * 32, 64, 256, MINIATURE.parameters
        assert found["classifier"] == (round(8 * n * v / 1e3 + 1), round(4 * n * v / 1e3 + 1))
        rows = n + 32 + np.unique(np.frombuffer(TEXT.read_bytes()[:n], np.uint8)).size
        assert found["encoder"][1] == round((2 * rows * c + 4 * n) / 1e3)
        whole, half = found["adamw"]
        assert whole == half == pytest.approx(28 * p / 1e3, abs=1)
        for kernel, (whole, half) in found.items():
            assert kernel == "adamw" or 0.49 < half / whole < 0.57, kernel
        least = [sum(pair) for pair in zip(*found.values(), strict=True)]
        assert number(chapter.glued["left"]) == pytest.approx(100 * least[1] / least[0], abs=0.6)
        share = 100 * found["adamw"][1] / least[1]
        assert number(chapter.glued["of_adamw"]) == pytest.approx(share, abs=0.6)
        assert number(chapter.glued["per_token"]) == round(p / n)

    def test_what_single_fusions_save(self, chapter):
        saved = dict(re.findall(r"^  (\w+) +saves +([\d.]+)$", chapter.printed, re.MULTILINE))
        # ms of a pass over all layers' activations; what an epilogue moves, products hide
        unit = N * C * 2 * LAYERS / 1555e9 * 1e3
        for name, passes in (("bias", 18), ("gelu", 20), ("residual", 2)):
            assert float(saved[name]) == pytest.approx(passes * unit, rel=0.01), name
        assert float(saved["classifier"]) == pytest.approx(2 * N * V * 2 / 1555e9 * 1e3, rel=0.01)
        four = 4 * 1024
        assert number(chapter.glued["save_bias_4"]) == round(
            1e3 * 18 * four * C * 4 * LAYERS / 1555e9, 1
        )
        assert number(chapter.glued["save_class_4"]) == round(1e3 * 2 * four * V * 4 / 1555e9, 1)

    def test_the_profile_s_norms_take_about_a_hundredth_more_than_fused(self, chapter):
        """At 505 GB/s, 3.77 GB of LayerNorm's backward pass are 5.3 % of 140 ms: so rates fit."""
        seconds = 25 * 4 * 24 * 1024 * C * 2 / 505e9
        assert seconds == pytest.approx(0.053 * 0.140, rel=0.01)
        one_pass = 24 * 1024 * C * 2 / 1e6  # in MB, and so ms from GB/s
        took = 72 * one_pass / 1571 + 50 * one_pass / 1110
        assert number(chapter.glued["norm_took"]) == round(took, 1)
        assert number(chapter.glued["norm_fused"]) == round(96 * one_pass / 1555, 1)
        wide = 4 * C * 24 * 1024  # elements that GELU is taken of
        flops, moved = 2 * wide * C, 2 * (24 * 1024 * C + 4 * C * C + 2 * wide)
        assert flops / A100_40[1] > moved / A100_40[0]  # FLOP still bind, with GELU as well
        assert "in products 0.0 more" in chapter.printed
        gained = took - 96 * one_pass / 1555
        assert gained / 140 == pytest.approx(0.01, abs=0.003)

    def test_five_passes_become_four(self, chapter):
        found = dict(re.findall(r"^(apart|fused): ([\d.]+) NCb$", chapter.printed, re.MULTILINE))
        assert float(found["apart"]) == pytest.approx(5, abs=0.07)
        assert float(found["fused"]) == pytest.approx(4, abs=0.07)

    def test_rows_under_way_and_the_order_of_reading(self, chapter):
        assert number(chapter.glued["warp_mb"]) == round(108 * 64 * 2 * V / 1e6) > 40
        assert number(chapter.glued["block_mb"]) == round(108 * 2 * 2 * V / 1e6) < 40
        assert "forwards:  0 of 64" in chapter.printed
        assert "backwards: 40 of 64" in chapter.printed

    def test_a_cache_of_all_pieces_hits_forwards_and_one_less_never(self, chapter):
        (source,) = (one.source for one in chapter.code if "def hits(" in one.source)
        for room, found in ((63, 0), (64, 64)):
            space: dict = {}
            exec(source.replace("ROOM = 64, 40", f"ROOM = 64, {room}"), space)
            assert space["hits"](range(64)) == found

    def test_packed_loads_measured_on_an_h200(self, chapter):
        rates = {
            row["parameters"]["width"]: row["GB_per_s"]
            for row in record("stride")["rows"]
            if row["parameters"]["stride"] == 1
        }
        assert number(chapter.glued["wide_2"]) == round(rates[2])
        assert number(chapter.glued["wide_16"]) == round(rates[16])
        assert number(chapter.glued["packed"]) == 16 / 2

    def test_memory(self, chapter):
        tokens = 64 * 1024
        once = 2 * V + 14 * C
        none = tokens * (LAYERS * (32 * C + 16 + 4 * 12) + once) / 2**30
        gelu = tokens * (LAYERS * (24 * C + 16 + 4 * 12) + once + 8 * C) / 2**30
        assert number(chapter.glued["acts_0"]) == pytest.approx(none, abs=0.051)
        assert number(chapter.glued["gelu_saved"]) == round(100 * (1 - gelu / none))
        assert number(chapter.glued["state"]) == pytest.approx(16 * P / 2**30, abs=0.0051)
        assert 2 * V * tokens / 2**30 / none == pytest.approx(1 / 4, abs=0.01)  # logits
        scores = tokens * LAYERS * (2 * 12 * T - 4 * 12) / 2**30
        assert number(chapter.glued["scores"]) == round(scores)
        billions, bytes_each = 175, 650 / 175
        assert 2 * billions == 350 and 3.5 < bytes_each < 4

    def test_launches_hide_in_c_and_through_numba_until_the_gpu_is_fast(self, chapter):
        assert number(chapter.glued["cpu_ms"]) == round(405 * 4.7e-3, 1)
        assert number(chapter.glued["hidden_us"]) == 5  # the first launch
        rows = dict(re.findall(r"^(16 texts, \w+|miniature, H100) +(.*)$", chapter.printed, re.M))
        c, graph, numba = map(float, rows["16 texts, H100"].split())
        assert c == graph and numba < 1.01 * c
        c, graph, numba = map(float, rows["16 texts, B200"].split())
        assert c == graph and numba > 1.3 * c
        c, graph, numba = map(float, rows["miniature, H100"].split())
        assert c == pytest.approx(85 * 4.7e-3, rel=0.02)
        assert numba == pytest.approx(85 * number(chapter.glued["numba_us"]) / 1e3, rel=0.02)
        means = [number(chapter.glued[one]) for one in ("mean_b200", "numba_us", "mean_h100")]
        assert means == sorted(means)

    def test_rounding_to_nearest_stays_and_at_random_arrives(self, chapter):
        assert "to nearest 1.0000" in chapter.printed
        assert number(chapter.glued["moved"]) == pytest.approx(0.9, abs=0.002)
        near, step = 1 / 256, 1e-3  # a chance of step / near, a hundred times
        off = near * np.sqrt(100 * step / near * (1 - step / near))
        assert number(chapter.glued["spread"]) == pytest.approx(off, rel=0.05)

    def test_quiz_twice_the_bandwidth_saves_an_eighth(self):
        doubled = milliseconds((2 * H100[0], H100[1]))
        assert 1 - doubled / milliseconds(H100) == pytest.approx(1 / 8, abs=0.02)

    def test_quiz_fusing_two_good_kernels(self):
        factor = 5 / 4 / 0.9
        assert factor == pytest.approx(1.4, abs=0.02)
