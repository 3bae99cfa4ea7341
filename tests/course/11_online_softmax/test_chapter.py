"""Chapter 11: its form, and its claims.

The claims are checked against softmax and log-sum-exp computed here in float64 or with Python's own
integers and fractions, against accesses counted by hand, and against the machine code that Numba
makes."""

from __future__ import annotations

import math
import re
from decimal import Decimal, getcontext
from typing import ClassVar

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number
from support.measured import off, record, rows
from support.paths import ROOT

from warpwise.devices import H100
from warpwise.toolchain import compile_kernel, load, missing

pytestmark = pytest.mark.slow  # its cells are run

STEM = "11_online_softmax"
# Elements of a row of the traced kernels, lanes of a warp, steps of its shuffles.
ROW, LANES, STEPS = 256, 32, 5
KERNELS = (
    "softmax_1_safe",
    "softmax_2_online",
    "softmax_3_kept",
    "softmax_4_warps",
    "softmax_5_guarded",
)
# The kernels as they stand in the chapter, with what they need around them.
CELL = re.compile(
    r"```\{code-cell\} ipython3\n(?:---\n(?:.+\n)+?---\n)?"
    r"((?:(?!```)[\s\S])*?@cuda\.jit(?:(?!```)[\s\S])*?)```"
)


class TestForm(ChapterForm):
    stem = STEM
    sourced: ClassVar = {
        "1.3": "times, measured by Milakov and Gimelshein (milakov2018)",
        "2,048": (
            "elements, the longest row of PyTorch's softmax_warp_forward "
            "(pytorch_persistent_softmax)"
        ),
        "1,024": "likewise, before pull request 144679",
        "2025": "its year",
        "50": "minutes",
        "90": "minutes, as the lab says",
        "120": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "32": "lanes of a warp; blocks of an SM",
        "256": "elements of our rows",
        "0": "an exponent that is 0, and a sum of nothing",
        "1": "e to the power 0",
        "2": "the base in place of e",
        "8,192": "scores that the cell streams",
    }

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("safe_all", 3 + 1),
            ("online_all", 2 + 1),
            ("kept_all", 1 + 1),
            ("bound", 1.33),
            ("kept_bound", 2),
            ("safe_exps", 2),
            ("online_exps", 2 + 1 + 2 * STEPS * LANES / ROW),
            ("warp_registers", 32 * 255),
            ("gigabytes", round(4 * 50_000 * 8192 / 1e9, 1)),
        ],
    )
    def test_value_of(self, chapter, name, value):
        assert number(chapter.glued[name]) == value

    def test_where_the_exponential_leaves_float32(self, chapter):
        getcontext().prec = 60
        largest, smallest = (2 - Decimal(2) ** -23) * Decimal(2) ** 127, Decimal(2) ** -149
        assert chapter.glued["overflow"] == f"{largest.ln():.2f}"
        assert number(chapter.glued["underflow"]) == round(float((smallest / 2).ln()), 2)
        with np.errstate(all="ignore"):
            assert np.isinf(np.exp(np.float32(88.73))) and np.isfinite(np.exp(np.float32(88.72)))
            assert np.exp(np.float32(-103.98)) == 0 < np.exp(np.float32(-103.97))

    def test_naive_rows_fail_and_safe_ones_agree(self, chapter):
        naive = re.findall(r"\[(?:1, 2, 3|87, 88, 89|-106, -105, -104)\] \[(.*)\]", chapter.printed)
        assert len(naive) == 6
        assert "nan" not in naive[0] and "nan" in naive[1] and naive[2] == "nan nan nan"
        right = " ".join(
            f"{math.exp(k) / (1 + math.exp(1) + math.exp(2)):.4f}".rstrip("0") for k in range(3)
        )
        assert {" ".join(row.split()) for row in naive[3:]} == {right}

    def test_traced_accesses(self, chapter):
        counted = dict(re.findall(r"(softmax_\w+): (\d)n loads, 1n stores", chapter.printed))
        assert counted == {
            "softmax_1_safe": "3",
            "softmax_2_online": "2",
            "softmax_3_kept": "1",
            "softmax_4_warps": "2",
        }

    def test_states_while_a_row_streams(self, chapter):
        row = [1.0, 0.5, 2.5, 2.0, 3.0]
        seen = re.findall(r"(\d) seen: m = +(-?\w+\.?\d*), d = (\d\.\d+)", chapter.printed)
        assert len(seen) == 6 and seen[0] == ("0", "-inf", "0.0000")
        for j, m, d in seen[1:]:
            part = row[: int(j)]
            assert (
                float(m) == max(part) and d == f"{sum(math.exp(x - max(part)) for x in part):.4f}"
            )

    def test_merging_is_checked_exactly_and_wherever_the_row_is_cut(self, chapter):
        assert "1,000 triples, all exact" in chapter.printed
        state = re.search(r"in one go: (\(.*\))", chapter.printed)[1]
        assert re.findall(r"\d+ and +\d+:  (\(.*\))", chapter.printed) == [state] * 3

    def test_masks(self, chapter):
        assert "[True, True, True]" in chapter.printed
        found, sums = re.search(r"(\[False, False, False\]) \[(.*)\]", chapter.printed).groups()
        assert found and np.allclose([float(total) for total in sums.split()], [1, 1, 0])
        lines = re.findall(r"(-?inf) minus (-?\S+) is (\S+), and exp of it (\S+)", chapter.printed)
        assert lines == [
            ("-inf", "2.0", "-inf", "0.0"),
            ("-inf", "-inf", "nan", "nan"),
            ("inf", "inf", "nan", "nan"),
        ]

    def test_errors_of_the_sums(self, chapter):
        lines = re.findall(r"(any|ascending) +order, ([\w ]+?) *: off by (\S+)", chapter.printed)
        off = {(order, way): float(error) for order, way, error in lines}
        assert len(off) == 8
        for order in ("any", "ascending"):
            assert (
                off[order, "float64"]
                < 1e-13
                < off[order, "32 lanes"]
                < 2e-7
                < 5e-7
                < off[order, "one thread"]
            )
        assert off["any", "compensated"] <= 2**-24 and off["ascending", "compensated"] > 5e-7
        assert number(chapter.glued["one_thread"]) == round(
            1e6 * max(off[o, "one thread"] for o in ("any", "ascending"))
        )
        assert 0 < number(chapter.glued["lanes"]) < 1

    def test_least_times(self, chapter):
        rows = re.findall(
            r"^(safe|online|kept) +([\d.]+) +([\d.]+) +([\d.]+|-)$", chapter.printed, re.MULTILINE
        )
        accesses = {"safe": 4, "online": 3, "kept": 2}
        assert [name for name, *_ in rows] == list(accesses)
        for name, short, long, _ in rows:
            for shown, count in ((short, 2), (long, accesses[name])):
                assert shown == f"{1e3 * count * 4 * 2**28 / (H100.dram_gb_per_s * 1e9):.2f}"
        # one row's second look comes from L1: then slots decide; else DRAM does
        of = {name: float(chapter.glued[name]) for name in ("safe_slots", "online_slots")}
        assert float(chapter.glued["short_ms"]) < of["online_slots"] < of["safe_slots"]
        assert of["safe_slots"] < float(chapter.glued["online_long"])
        assert H100.sm.blocks == 32 == H100.sm.warps // 2

    def test_loss_and_log_sum_exp(self, chapter):
        x = (
            np.random.default_rng(11)
            .normal(0, 3, (16, 256))
            .astype(np.float32)[0]
            .astype(np.float64)
        )
        right = math.log(math.fsum(np.exp(x)))
        assert f"loss {right - x[17]:.6f}, {right - x[17]:.6f}" in chapter.printed
        assert f"{right:.6f} from two parts, {right:.6f} from one" in chapter.printed

    def test_a_rounded_log_sum_exp_costs_digits(self, chapter):
        divided, by_l = (
            float(re.search(rf"{form} +off by (\S+)", chapter.printed)[1])
            for form in ("divided by d", "by way of L")
        )
        # A float32 between 256 and 512 is rounded by up to 2**-16.
        assert divided < 2**-20 < by_l < 2**-15

    def test_attention_by_tiles(self, chapter):
        rng = np.random.default_rng(12)
        scores, values = rng.normal(0, 3, 70), rng.normal(size=(70, 4))
        weights = np.exp(scores)
        shown = re.search(r"array\(\[(.*?)\]\)", chapter.printed)[1]
        assert np.allclose(
            [float(v) for v in shown.split(",")], weights @ values / weights.sum(), atol=1e-4
        )

    def test_right_answers_are_right(self, chapter):
        right = {
            name.removeprefix("softmax-"): question.right for name, question in chapter.quiz.items()
        }
        with np.errstate(all="ignore"):
            e = np.exp(np.full(5, 100, np.float32))
            assert right["overflow"] == "NaN" and np.isnan(e / e.sum()).all()
        assert right["step"] == "$m = 2$, $d = 4$" and 3 * math.exp(2 - 2) + math.exp(2 - 2) == 4
        assert right["identity"] == r"The state $(-\infty, 0)$"
        assert right["merge"] == "The state $(5, 5)$" and 2 * math.exp(0) + 3 * math.exp(0) == 5
        assert right["kept"] == "No access"
        assert right["nan"].startswith(r"From $-\infty$ minus a maximum so far")
        assert right["lse"] == "The log-sum-exp"

    def test_what_an_h200_made_of_it(self, chapter):
        glued, copied = chapter.glued, record("softmax")["ceilings"]["copy_GB_per_s"]
        short, long = (
            rows("softmax", f"softmax {2**26 // columns} x {columns} float32")
            for columns in (1024, 8192)
        )
        for name, seen in (("gain_short", short), ("gain_long", long)):
            gain = seen["softmax_1_safe"]["median_ms"] / seen["softmax_2_online"]["median_ms"]
            assert number(glued[name]) == pytest.approx(gain, abs=0.0051)
        for name, seen in (("wide_short", short), ("wide_long", long)):
            share = 100 * seen["softmax_4_wide"]["GB_per_s"] / copied
            assert number(glued[name]) == round(share)
        slower = long["torch"]["median_ms"] / long["softmax_4_wide"]["median_ms"]
        assert number(glued["torch_long"]) == pytest.approx(slower, abs=0.0051)
        assert number(glued["online_off"]) == round(-off(long["softmax_2_online"]))
        said = [long[name]["predicted_ms"][0] for name in ("softmax_1_safe", "softmax_2_online")]
        assert said[0] > 1.1 * said[1] and number(glued["gain_long"]) < 1


def kernels_of_the_chapter() -> str:
    cells = CELL.findall((ROOT / f"chapters/{STEM}.md").read_text("utf-8"))
    calls = re.compile(r"^(?:\w+ = trace_softmax|found, y|print).*\n", re.MULTILINE)
    return "import math\n\nimport numpy as np\n\nfrom warpwise import cuda\n\n" + "\n".join(
        calls.sub("", cell) for cell in cells
    )


def issued_by_loops(code) -> list[int]:
    """Count the instructions of each loop that is unrolled by four.

    The slow path of a division, which is called, is left out."""
    places = {one.label: place for place, one in enumerate(code) if one.label}
    jumps = [
        (place, places[found[1]])
        for place, one in enumerate(code)
        if (found := re.search(r"BRA.*`\((\.L_x_\d+)\)", one.text)) and found[1] in places
    ]
    counts = []
    for end, start in ((a, b) for a, b in jumps if b <= a):
        called = {
            at
            for a, b in jumps
            if start <= a < end and a < b <= end
            if any("CALL" in one.opcode for one in code[a + 1 : b])
            for at in range(a + 1, b)
        }
        body = [one for at, one in enumerate(code) if start <= at <= end and at not in called]
        if sum(one.opcode.startswith("LDG") for one in body) == 4:
            counts.append(len(body))
    return counts


@pytest.mark.skipif(
    bool(missing()), reason=f"no {', '.join(missing())}: python -m pip install -e '.[toolchain]'"
)
def test_instructions_of_the_loops(tmp_path):
    (tmp_path / "kernels.py").write_text(kernels_of_the_chapter())
    found = load(tmp_path / "kernels.py")
    text = (ROOT / f"chapters/{STEM}.md").read_text("utf-8")
    for name, kernel in (("safe", "softmax_1_safe"), ("online", "softmax_2_online")):
        made = compile_kernel(found.kernel(kernel), "float32[:, ::1], float32[:, ::1]")
        loops = " + ".join(map(str, issued_by_loops(made.machine_code)))
        assert f'"{name}": ({loops}) / 4' in text, loops


@pytest.mark.skipif(
    bool(missing()), reason=f"no {', '.join(missing())}: python -m pip install -e '.[toolchain]'"
)
def test_kernels_compile_and_a_kept_row_is_in_registers(tmp_path):
    (tmp_path / "kernels.py").write_text(kernels_of_the_chapter())
    found = load(tmp_path / "kernels.py")
    assert found.failure == ""
    for name in KERNELS:
        made = compile_kernel(found.kernel(name), "float32[:, ::1], float32[:, ::1]")
        assert (made.spill_load_bytes, made.spill_store_bytes, made.stack_bytes) == (0, 0, 0), name
        assert not [
            one
            for one in made.machine_code
            if one.opcode.startswith(("LDL", "STL", "DADD", "DMUL", "DFMA"))
        ], name
