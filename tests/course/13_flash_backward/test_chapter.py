"""Chapter 13: its form, and its claims.

Gradients are compared with slopes by complex steps, which share nothing with the chapter's finite
differences or formulas; bytes and operations are counted here by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number
from support.measured import rows

pytestmark = pytest.mark.slow  # its cells are run

H100_FLOPS, H100_BYTES = 989e12, 3350e9  # 16-bit tensor cores and DRAM, a second
L2_BYTES = 6912.2e9  # of an H100 PCIe, measured (ernst_gpu_benches)
WIDTH = 8  # in the chapter's kernels


def loss(q: np.ndarray, k: np.ndarray, v: np.ndarray, do: np.ndarray, scale: float) -> complex:
    s = scale * q @ k.T
    e = np.exp(s - s.real.max(axis=1, keepdims=True))
    return (do * (e / e.sum(axis=1, keepdims=True) @ v)).sum()


def by_complex_steps(arrays: list[np.ndarray], do: np.ndarray, scale: float) -> list[np.ndarray]:
    """Return the slopes of the loss for q, k and v.

    They are exact up to rounding, since nothing is subtracted."""
    slopes = [np.zeros(a.shape) for a in arrays]
    for which, slope in enumerate(slopes):
        for at in np.ndindex(slope.shape):
            moved = [a.astype(complex) for a in arrays]
            moved[which][at] += 1e-30j
            slope[at] = loss(*moved, do, scale).imag / 1e-30
    return slopes


def touched(n: int) -> tuple[int, int]:
    """Count different bytes: of standard attention's second kernel, and of the tiled one."""
    square, matrix, row = 4 * n * n, 4 * n * WIDTH, 4 * n
    return 2 * square + 6 * matrix, 7 * matrix + 2 * row


class TestForm(ChapterForm):
    stem = "13_flash_backward"
    sourced = {
        "4": "algorithm of dao2022; bytes of a float32",
        "2": "algorithm of dao2023; bytes of an element in the cell below",
        "73": "% of an A100's peak forward (dao2023)",
        "63": "% of it backward (dao2023)",
        "37.9": "% of the speed (qiang2026)",
        "55": "minutes",
        "150": "minutes, as the lab says",
        "180": "minutes, as the lab says",
    }
    chosen = {
        "0": "what gradients add up to, and a masked probability",
        "1": "the sum of a row of probabilities; a step's number",
        "3": "a step's number",
        "32": "heads in the cell below",
        "8,192": "tokens in the cells",
        "128": "elements of a query in the cells",
        "16": "bits of an element",
        "64": "tiles in the cell below",
    }

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("kept_p", round(32 * 8192**2 * 2 / 1e9, 1)),
            ("kept_rows", round(4 * 32 * 8192 * 128 * 2 / 1e9, 2)),
            ("passes", 32),
            ("requests_2", 64 * 64 * WIDTH // 32),
            ("requests_3", 64 * 64 // 32),
            ("times_fewer", WIDTH),
            ("passes_fewer", 32 * WIDTH),
            ("backward_ratio", 2.5),
            ("both_passes", 3.5),
            ("standard_products", 4),
            ("more_flop", 25),
            ("two_kernels", 40),
            ("tiled_grows", 2),
            ("standard_grows", round(touched(64)[0] / touched(32)[0], 1)),
            ("local_bytes", 2 * 4 * WIDTH),
            ("shared_bytes", 4 * 32),
            ("knee", round(H100_FLOPS / H100_BYTES)),
            ("measured_ratio", round(2.5 * 73 / 63, 1)),
            ("l2_us", round(8192 / 128 * 8192 * 128 * 12 / L2_BYTES * 1e6)),
            ("kept_l", 1),
            ("tile_keys", 128),
            ("standard_intensity", round(4 * 2 * 128 / (7 * 2))),
            ("standard_us", round(7 * 8192**2 * 2 / H100_BYTES * 1e6)),
            ("tiled_us", round(5 * 2 * 8192**2 * 128 / H100_FLOPS * 1e6)),
            ("dq_share", round(100 * 8 / (2 + 2 + 8))),
        ],
    )
    def test_value_of(self, chapter, name, value):
        assert number(chapter.glued[name]) == value

    def test_gradients_are_right(self, chapter):
        q, k, v, do = np.random.default_rng(13).normal(size=(4, 6, 4))
        dq, dk, dv = by_complex_steps([q, k, v], do, 0.5)
        assert re.search(r"\[\[-?[\d.]+ .*\n.*\]\]", chapter.printed)[0] == str(np.round(dq[:2], 4))
        p = np.exp(0.5 * q @ k.T)
        p /= p.sum(axis=1, keepdims=True)
        ds = p * (do @ v.T - (do * (p @ v)).sum(axis=1, keepdims=True))
        assert (
            np.allclose(dq, 0.5 * ds @ k)
            and np.allclose(dk, 0.5 * ds.T @ q)
            and np.allclose(dv, p.T @ do)
        )
        differences = [
            float(found) for found in re.findall(r"largest difference (\S+)", chapter.printed)
        ]
        assert len(differences) == 6 and max(differences) < 1e-8

    def test_time_on_the_roofline(self, chapter):
        standard = max(4 * 2 * 8192**2 * 128 / H100_FLOPS, 7 * 8192**2 * 2 / H100_BYTES)
        of_l2 = 8192 / 128 * 8192 * 128 * 12 / L2_BYTES
        assert of_l2 > 5 * 2 * 8192**2 * 128 / H100_FLOPS  # L2, and not the tensor cores
        assert chapter.glued["times_less"] == f"{standard / of_l2:.1f}"
        assert re.search(rf"tiled, L2 .* bytes {of_l2 * 1e6:3.0f}$", chapter.printed, re.M)
        once = (2 * 8192 * 128 * 7 + 4 * 8192 * 2) / H100_BYTES * 1e6
        assert re.search(rf"tiled, DRAM .* bytes {once:3.0f}$", chapter.printed, re.M) and once < 5

    def test_memory_counted_by_traces(self, chapter):
        rows = re.findall(r"^ +(\d+) +([\d,]+) B +([\d,]+) B$", chapter.printed, flags=re.MULTILINE)
        assert [(int(n), number(a), number(b)) for n, a, b in rows] == [
            (n, *touched(n)) for n in (32, 64, 96)
        ]

    def test_kept_bytes(self, chapter):
        for n in (2048, 8192, 32768):
            assert (
                f"{4 * 32 * n * 256 / 1e6:8,.0f} MB {32 * n * n * 2 / 1e6:8,.0f} MB "
                f"{32 * n * 4 / 1e6:9.2f} MB"
            ) in chapter.printed

    def test_race_is_found_and_dq_is_wrong(self, chapter):
        assert "race on dq[0, 0] in global memory" in chapter.printed
        errors = re.search(
            r"\{'dq': '(\S+)', 'dk': '(\S+)', 'dv': '(\S+)'\}", chapter.printed
        ).groups()
        assert float(errors[0]) > 0.1 and max(map(float, errors[1:])) < 1e-5

    def test_order_changes_the_sum_by_rounding_only(self, chapter):
        found = re.search(
            r"(\d+) different results in 1000 orders\nspread (\S+) of", chapter.printed
        ).groups()
        assert int(found[0]) > 1 and float(found[1]) < 64 * 2**-24

    def test_products_in_the_source(self, chapter):
        ratios = [
            float(found) for found in re.findall(r"about ([\d.]+) products' worth", chapter.printed)
        ]
        assert [int(ratio) for ratio in ratios] == [5, 3]

    def test_infinities(self, chapter):
        assert "masked score, row without keys: nan" in chapter.printed
        assert "padded key, low scores: inf times 0 is nan" in chapter.printed

    def test_right_answers_are_right(self, chapter):
        right = {
            name.removeprefix("backward-"): question.right
            for name, question in chapter.quiz.items()
        }
        assert right == {
            "d": "dQ and dK",
            "stored": f"{4096 * 16 * 4 // 1024} KiB",
            "exp": "None of it, only exp of the score minus L",
            "order": "dK and dV",
            "flop": f"{2 * 5 / 2:.0f} ms",
            "twice": "Blocks add to dQ with atomics, in an order that changes",
        }
        wrong = chapter.quiz["backward-stored"].answers
        assert (
            f"{4096**2 * 16 * 2 / 1e6:.0f} MB" in wrong
            and f"{2 * 4096 * 16 * 4 // 1024} KiB" in wrong
        )

    def test_additions_to_one_element_in_turn(self, chapter):
        glued, row = chapter.glued, rows("reduction", "sum 2^18 float32")["sum_1_atomic"]
        assert number(glued["added"]) == 2**18
        assert number(glued["sum_ms"]) == round(row["median_ms"], 2)
        turn = 1e6 * row["median_ms"] / 2**18
        assert number(glued["turn_ns"]) == pytest.approx(turn, abs=0.051)
        assert number(glued["turn_clocks"]) == pytest.approx(turn * 1.98, abs=0.051)
        assert number(glued["sum_said"]) == round(row["predicted_ms"][0], 3)
        # A larger sum has the same turnstile.
        more = rows("reduction", "sum 2^22 float32")["sum_1_atomic"]
        assert 1e6 * more["median_ms"] / 2**22 == pytest.approx(turn, rel=0.02)
