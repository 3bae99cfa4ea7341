"""The capstone: its page against its rubric, its references, and its sample answers."""

from __future__ import annotations

import linecache
import re
from functools import cache
from math import ceil, exp, log, sqrt, tanh

import numpy as np
import pytest
from support.cells import CELL
from support.chapter_form import (
    GLUE,
    SEVERAL_SENTENCES,
    Chapter,
    number,
    plain,
    prose_lines,
    run,
    words,
)
from support.paths import ROOT

from warpwise import model, trace
from warpwise.devices import H100
from warpwise.labs.source import load_lab, role, solved_notebook
from warpwise.traces import Trace

pytestmark = pytest.mark.slow  # its cells are run

LAB = "19_capstone"
VARIANTS = ("sliding_window", "alibi", "soft_cap")
PARTS = {"derivation": 8, "prediction": 5, "kernel": 10, "tests": 7, "profile and looking back": 10}


@pytest.fixture(scope="module")
def page() -> Chapter:
    return run("capstone")


def guide() -> str:
    return (ROOT / "chapters/teaching/capstone.md").read_text("utf-8")


@cache
def lab() -> dict:
    """Return the names that the solved notebook's given and exercise cells define."""
    names = {"__name__": "lab"}
    for cell in solved_notebook(load_lab(LAB)).cells:
        if role(cell) in ("given", "exercise"):
            file = f"<{LAB} {cell.id}>"
            linecache.cache[file] = (len(cell.source), None, cell.source.splitlines(True), file)
            exec(compile(cell.source, file, "exec"), names)
    return names


def launched(
    name: str, parameter, n: int, heads: int = 1, arrays=None
) -> tuple[Trace, np.ndarray, np.ndarray]:
    q, k, v = arrays or lab()["inputs"](heads, n)
    o, L = np.zeros_like(q), np.zeros(q.shape[:2], np.float32)
    t = trace(
        lab()[name],
        (ceil(n / 8), heads),
        (32, 8),
        q,
        k,
        v,
        o,
        L,
        np.float32(1 / sqrt(32)),
        parameter,
    )
    return t, o, L


def slopes(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


# The page and the rubric.


def test_the_page_has_the_form_of_the_house(page):
    body = re.sub(r"\A---.*?^---\n", "", page.text, flags=re.DOTALL | re.MULTILINE).strip()
    title, question = body.split("\n\n")[:2]
    assert title == "# Capstone" and question.startswith("**") and question.endswith("?**")
    assert 500 <= words(page.text) <= 900
    assert [line for line in prose_lines(page.text) if SEVERAL_SENTENCES.search(plain(line))] == []
    assert set(GLUE.findall(page.text)) == set(page.glued)


def test_the_picture_is_folded_and_has_words(page):
    (drawn,) = [cell for cell in page.code if "plt.subplots" in cell.source]
    assert drawn.metadata["tags"] == ["hide-input"]
    assert re.search(r'aria-label="[^"]{80,}"', drawn.outputs[0].data["text/html"])


def test_the_picture_shows_what_the_text_says_of_it(page):
    assert number(page.glued["tiles"]) == 16 and number(page.glued["skipped_plain"]) == 6
    # A window of 5 reaches one tile back, to its last column.
    assert number(page.glued["skipped_window"]) == 6 + 3
    assert number(page.glued["largest_cap"]) < number(page.glued["largest_plain"])


def test_points_of_the_assignment_are_those_of_the_rubric(page):
    asked = re.findall(r"^\| ([\w ]+) \| [^|]+ \| (\d+) \|$", page.text, re.MULTILINE)
    assert {part: int(points) for part, points in asked} == PARTS
    rows = re.findall(
        r"^\| ([\w: ]+) \| (\d+) \|", guide()[guide().index("## Rubric") :], re.MULTILINE
    )
    points = {name: int(p) for name, p in rows}
    assert sum(points.values()) == sum(PARTS.values()) == 40
    assert (
        points["recurrence"] + points["merge"] + points["question on the variant"]
        == PARTS["derivation"]
    )
    assert points["tests: aim"] + points["tests: proof"] == PARTS["tests"]
    assert (
        sum(points[part] for part in ("profile", "limit", "change", "looking back"))
        == PARTS["profile and looking back"]
    )
    assert "30 points that are read" in guide() and 40 - points["kernel"] == 30


def test_the_guide_is_one_sentence_a_line():
    lines = [line for line in prose_lines(CELL.sub("", guide())) if line[0] not in "|-1234567890"]
    assert [line for line in lines if SEVERAL_SENTENCES.search(plain(line))] == []


def test_hours_are_the_same_everywhere(page):
    notebook = (ROOT / f"solutions/{LAB}.md").read_text("utf-8")
    assert all("8 to 12 hours" in text for text in (page.text, notebook))
    hours = [tuple(map(int, pair)) for pair in re.findall(r"\((\d+) to (\d+) hours\)", guide())]
    assert [sum(column) for column in zip(*hours, strict=True)] == [8, 12]


# The notebook.


def test_the_three_kernels_are_a_choice_of_equal_worth():
    exercises = [
        cell.metadata["warpwise"] for cell in load_lab(LAB).cells if role(cell) == "exercise"
    ]
    assert tuple(e["id"] for e in exercises) == VARIANTS
    assert {(e["choice"], e["points"]) for e in exercises} == {("variant", PARTS["kernel"])}


def test_there_is_a_place_for_every_written_part():
    text = (ROOT / f"solutions/{LAB}.md").read_text("utf-8")
    headings = [
        "1. Your derivation",
        "2. Your prediction",
        "3. Your kernel",
        "4. Your tests",
        "5. Your profile",
        "6. Looking back",
    ]
    assert re.findall(r"^## (\d.*)$", text, re.MULTILINE) == headings
    for part in re.split(r"^## ", text, flags=re.MULTILINE):
        assert ("*Write here:" in part) == (part[0] in "12456")


def score(variant: str, a: float, i: int, j: int, parameter) -> float:
    """Return a score by the definition, or minus infinity.

    ``parameter`` is that of one head."""
    if j > i or (variant == "sliding_window" and i - j >= parameter):
        return -np.inf
    return {
        "sliding_window": a,
        "alibi": a - parameter * (i - j),
        "soft_cap": parameter * tanh(a / parameter),
    }[variant]


@pytest.mark.parametrize(
    ("variant", "function", "parameter"),
    [
        ("sliding_window", "window_scores", 4),
        ("alibi", "alibi_scores", slopes(0.25, 0.5)),
        ("soft_cap", "capped_scores", np.float32(1.5)),
    ],
)
def test_references_are_the_definitions(variant, function, parameter):
    q, k, v = lab()["inputs"](2, 9)
    scores = lab()[function](q, k, 0.2, parameter)
    o, L = lab()["attention"](scores, v)
    for h in range(2):
        for i in range(9):
            each = parameter[h] if variant == "alibi" else parameter
            s = [
                score(variant, 0.2 * float(q[h, i].astype(float) @ k[h, j]), i, j, float(each))
                for j in range(9)
            ]
            weights = [exp(value) for value in s]
            assert L[h, i] == pytest.approx(log(sum(weights)), rel=1e-5, abs=1e-5)
            assert o[h, i] == pytest.approx(
                weights @ v[h].astype(float) / sum(weights), rel=1e-4, abs=1e-5
            )


def test_all_three_begin_with_plain_attention():
    n = 45
    arrays = lab()["inputs"](1, n)
    results = [
        launched(*case, n, 1, arrays)[1:]
        for case in (("sliding_window", n), ("alibi", slopes(0)), ("soft_cap", np.float32(1e4)))
    ]
    for o, L in results[1:]:
        assert np.allclose(o, results[0][0], atol=1e-4) and np.allclose(L, results[0][1], atol=1e-4)


# The sample answers.


def test_a_window_of_one_gives_the_values_back():
    arrays = lab()["inputs"](1, 20)
    assert np.allclose(launched("sliding_window", 1, 20, 1, arrays)[1], arrays[2])


def test_a_bias_of_the_key_alone_gives_the_same_o_and_another_L():
    q, k, v = lab()["inputs"](1, 12)
    a = lab()["products"](q, k, 0.2)
    seen, keys, rows = lab()["causal"](12), np.arange(12), np.arange(12)[:, None]
    (o, L), (by_key, L_key) = (
        lab()["attention"](np.where(seen, a + b, -np.inf), v)
        for b in (0.3 * (keys - rows), 0.3 * keys)
    )
    assert np.allclose(o, by_key, atol=1e-5)
    assert np.allclose(L, L_key - 0.3 * rows[:, 0], atol=1e-5)


def test_float32_holds_e_to_the_88_and_no_more():
    with np.errstate(over="ignore"):
        assert np.isfinite(np.exp(np.float32(88))) and np.isinf(np.exp(np.float32(89)))


@pytest.mark.parametrize("window", [20, 33, 64])
def test_keys_of_a_block_are_the_window_and_what_the_edges_add(window):
    keys = {
        n: (launched("sliding_window", window, n)[0].metrics.global_load_bytes - 128 * n) / 256
        for n in (256, 384)
    }
    for_each_block = (keys[384] - keys[256]) / (128 // 8)
    # A tile begins 12 keys earlier on average, of 0, 8, 16 and 24; or up to 19.
    assert for_each_block == window + 7 + 12 + (1 - window) % 8
    assert "12 to 19 keys on average" in guide() and "W + 22" in guide()


def test_special_functions_go_from_two_for_a_score_to_three():
    window, cap = (
        launched(*case, 96)[0].metrics
        for case in (("sliding_window", 96), ("soft_cap", np.float32(9)))
    )
    assert window.op_special < 2.2 * cap.op_special / 3 + 2 * 96 * 32
    # There is one tanh for each score that is seen.
    assert cap.op_special - window.op_special == 96 * 97 // 2
    assert H100.sm.fp32_lanes == 8 * H100.sm.special_lanes


@pytest.mark.parametrize(
    "case",
    [("sliding_window", 20), ("alibi", slopes(0.5, 0.1)), ("soft_cap", np.float32(30))],
    ids=VARIANTS,
)
def test_limits_are_those_that_the_guide_names(case):
    t = launched(*case, 96, 2)[0]
    least, most = t.metrics.flops_per_byte
    assert 3 <= least <= 4.5 and 9 <= most <= 18 < model.roofline(t, H100).knee
    assert "set by shared memory" in str(model.bound(t, H100))


def test_far_above_the_knee_with_a_perfect_cache_for_long_sequences():
    n, row = 8192, 128
    flops = 4 * 32 * n * n / 2  # products with keys and with values
    # Causal; a window of 20, tile edges included.
    assert flops / (4 * row * n) > 1000 > 20 > 4 * 32 * (20 + 31) / (4 * row)


def test_numbers_in_the_guide_that_others_keep():
    assert "knee, which lies at 20" in guide()
    t = launched("soft_cap", np.float32(30), 96)[0]
    assert round(model.roofline(t, H100).knee) == 20
