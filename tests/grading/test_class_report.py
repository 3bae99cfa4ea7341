"""The report on a class: fingerprints, similar submissions, reasons of failure, and the page.

Fingerprints are tried on the labs' own right answers, which are written differently on purpose, and
on disguised copies of them. Most classes here are made up; one is graded for real."""

from __future__ import annotations

import ast
import csv
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from statistics import median

import pytest
from support.paths import ROOT
from support.small_class import (
    DISGUISED,
    LAB,
    OTHER,
    PASSED,
    REVERSE,
    different,
    over,
    record,
    report_on,
    small_class,
)
from support.wrong_answers import wrong_answer
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.grading import extract, fingerprints, grade, store
from warpwise.grading.class_report.build import ClassReport, class_report, write
from warpwise.grading.class_report.overview import overview, percentile
from warpwise.grading.class_report.page import page
from warpwise.grading.class_report.side_by_side import DIFFERENT, MOST_LINES, RENAMED, SAME, rows
from warpwise.grading.class_report.similar import (
    LEAST_SHARED,
    LEAST_SIMILARITY,
    handed_out,
    pairs,
    telling,
)
from warpwise.grading.class_report.text import whole
from warpwise.grading.record import Counter, Finding, Record, Result
from warpwise.labs.exercise import Reason
from warpwise.labs.source import (
    load_lab,
    role,
    solved_notebook,
    stub,
    student_notebook,
    unmarked,
)

STEMS = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9]*.md"))
NOT_INDEPENDENT = {("13_flash_backward", "scale_in_ds")}  # the solution with one line moved
HOSTILE = {
    "nothing": "",
    "no Python": "def f(:",
    "a null": "a\0b",
    "half of a surrogate pair": "x = '\ud800'",
    "a long number": "x = y + 0x" + "f" * 20_000,
    "a longer one": "x = " + "9" * 5_000,
    "brackets": "x = " + "(" * 5_000 + "1" + ")" * 5_000,
    "a sum": "x = " + "+".join("a" * 30_000),
    "calls": "f" + "()" * 30_000,
    "attributes": "x" + ".a" * 30_000,
    "attributes of its own": "x = f()\n" + ("x" + ".a" * 900 + "\n") * 100,
    "minus signs": "-" * 50_000 + "1",
    "comparisons": "a" + "<a" * 30_000,
    "elifs": "if a: pass\n" + "elif a: pass\n" * 3_000,
    "infinity": "x = y * 1e999",
    "a match": "match x:\n  case [1, *_, {'a': b}]: pass",
    "classes": "class A[int]:\n  pass\nasync def g(*, a=1, **k): return await (yield a)",
}


# Fingerprints.


def test_names_layout_comments_and_small_rewritings_do_not_change_a_fingerprint():
    assert fingerprints.fingerprint(DISGUISED) == fingerprints.fingerprint(REVERSE)
    assert len(fingerprints.fingerprint(REVERSE)) > LEAST_SHARED


def test_other_programs_have_other_fingerprints():
    mine = fingerprints.fingerprint(REVERSE)
    assert len({*mine} & {*fingerprints.fingerprint(OTHER)}) < len(mine) / 3
    assert fingerprints.fingerprint(REVERSE.replace("+ 32", "+ 33")) != mine
    assert fingerprints.fingerprint(REVERSE.replace("[x.size - 1 - i]", "[i - 1 - x.size]")) != mine
    swapped = REVERSE.replace("y[x.size - 1 - i] = 2 * x[i]", "x[i] = 2 * y[x.size - 1 - i]")
    assert fingerprints.fingerprint(swapped) != mine, (
        "which name is written to and which is read counts"
    )


def test_order_of_functions_does_not_count():
    helper = "@cuda.jit(device=True)\ndef helper(a, b, c):\n    return (a * b + c) % 7 - b // c\n"
    assert (
        fingerprints.fingerprint(helper + REVERSE)
        == fingerprints.fingerprint(REVERSE + helper)
        != fingerprints.fingerprint(REVERSE)
    )


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_raises_or_has_more_than_a_few_small_prints(text):
    found = fingerprints.fingerprint(text)
    assert len(found) <= fingerprints.MOST_PRINTS and all(0 <= number < 2**53 for number in found)
    assert isinstance(fingerprints.grams(text), frozenset)


def test_a_long_text_keeps_few_prints_and_still_has_some_in_common():
    lines = [f"    y[i + {k}] = x[i * {k}] - x[{k} % 7 - i]" for k in range(100)]
    long, longer = (f"def f(x, y, i):\n{chr(10).join(some)}\n" for some in (lines[:90], lines))
    assert len(fingerprints.fingerprint(longer)) == fingerprints.MOST_PRINTS
    assert (
        len({*fingerprints.fingerprint(long)} & {*fingerprints.fingerprint(longer)})
        > 0.8 * fingerprints.MOST_PRINTS
    )


def test_fingerprints_are_the_same_in_every_process():
    code = (
        "import sys; from warpwise.grading.fingerprints import fingerprint; "
        "print(fingerprint(sys.stdin.read()))"
    )
    seeds = ("0", "7")
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            input=REVERSE,
            text=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
        for seed in seeds
    ]
    assert {done.stdout.strip() for done in said} == {str(fingerprints.fingerprint(REVERSE))}, said[
        0
    ].stderr


def test_a_fingerprint_takes_less_than_5_ms():
    texts = [text for answers in right_answers().values() for text in answers.values()]

    def seconds(text: str) -> float:
        start = time.process_time()
        fingerprints.fingerprint(text)
        return time.process_time() - start

    assert median(map(seconds, texts[::5])) < 0.005


# Measurements behind the thresholds.


@cache
def right_answers() -> dict[tuple[str, str], dict[str, str]]:
    """Map (lab, exercise) to the right answers by author.

    Each exercise has its solution and two other answers, with the functions they call."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for stem in STEMS:
        lab = load_lab(stem)
        others = {
            path.stem: path.read_text("utf-8")
            for path in (ROOT / "tests/course" / stem / "correct").glob("*.py")
        }
        for cell in lab.cells:
            if role(cell) == "exercise":
                exercise = lab.exercise(cell.metadata["warpwise"]["id"])
                texts = {"solution": unmarked(cell.source)} | {
                    who: t for who, t in others.items() if f"def {exercise.name}(" in t
                }
                found[stem, exercise.id] = {
                    who: extract.host_function(text, exercise.name) for who, text in texts.items()
                }
    return found


class Disguise(ast.NodeTransformer):
    """A transformer that disguises an answer.

    It changes names, names numbers, swaps operands of sums and products, and exchanges neighbouring
    independent assignments."""

    def __init__(self, tree: ast.Module, keep: str):
        names = {
            n.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        }
        names |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)} | {
            n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)
        }
        self.names = {name: f"name_{i}" for i, name in enumerate(sorted(names - {keep}))}
        self.numbers: dict[int, str] = {}
        self.chance = random.Random(1)

    def generic_visit(self, node):
        super().generic_visit(node)
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            for i in range(len(block) - 1 if isinstance(block, list) else 0):
                if independent(block[i], block[i + 1]):
                    block[i], block[i + 1] = block[i + 1], block[i]
        return node

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node):
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def visit_FunctionDef(self, node):
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_Constant(self, node):
        if type(node.value) is not int or node.value < 4:
            return node
        return ast.Name(self.numbers.setdefault(node.value, f"NUMBER_{node.value}"), ast.Load())

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Mult) and self.chance.random() < 0.5:
            node.left, node.right = node.right, node.left
        return node


def disguised(text: str, keep: str) -> str:
    tree = ast.parse(text)
    disguise = Disguise(tree, keep)
    changed = ast.unparse(disguise.visit(tree))
    return "".join(f"{name} = {number}\n" for number, name in disguise.numbers.items()) + changed


def independent(a: ast.stmt, b: ast.stmt) -> bool:
    """Return whether two assignments can be exchanged, as far as names tell."""
    if not all(isinstance(node, ast.Assign | ast.AugAssign) for node in (a, b)):
        return False
    (written_a, read_a), (written_b, read_b) = named(a), named(b)
    return not (written_a & (written_b | read_b) or written_b & read_a)


def named(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the names that a statement writes, elements of arrays too, and those it reads."""
    found = [node for node in ast.walk(statement) if isinstance(node, ast.Name | ast.Subscript)]
    inner = [
        node.value if isinstance(node, ast.Subscript) else node
        for node in found
        if isinstance(node.ctx, ast.Store)
    ]
    return {n.id for n in inner if isinstance(n, ast.Name)}, {
        n.id for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }


@cache
def printed_classes() -> dict[str, tuple[list[Record], list[Record]]]:
    """Map labs to three authors who wrote everything differently, and disguised copies."""
    found = {}
    for stem in STEMS:
        names = {exercise.id: exercise.name for exercise in load_lab(stem).exercises}
        texts = {id: answers for (lab, id), answers in right_answers().items() if lab == stem}
        writers = sorted({who for answers in texts.values() for who in answers})
        own = [
            record(who, {id: a[who] for id, a in texts.items() if who in a}, lab=stem)
            for who in writers
        ]
        copies = [
            {id: disguised(a[who], names[id]) for id, a in texts.items() if who in a}
            for who in writers
        ]
        found[stem] = (
            own,
            [
                record(f"copy of {who}", copy, lab=stem)
                for who, copy in zip(writers, copies, strict=True)
            ],
        )
    return found


@pytest.mark.parametrize("stem", STEMS)
def test_of_right_answers_copies_are_similar_and_others_are_not(stem):
    own, copies = printed_classes()[stem]
    found = {
        (pair.a.student, pair.b.student): pair
        for pair in pairs(own + copies, {stem: load_lab(stem)})
    }
    writers = [record.student for record in own]
    assert len(writers) == 3
    for who in writers:
        assert (who, f"copy of {who}") in found
    for a, b in found:
        if b != f"copy of {a}":
            assert {(stem, who.removeprefix("copy of ")) for who in (a, b)} & NOT_INDEPENDENT, (
                a,
                b,
            )


def test_thresholds_lie_between_what_was_measured():
    """The numbers are those in the docstring of ``similar``."""
    apart, copied = [], []
    for stem, (own, copies) in printed_classes().items():
        given = handed_out(load_lab(stem))
        for id in dict.fromkeys(result.exercise for one in own for result in one.results):
            mine, theirs = (
                {r.student: telling_prints(r, id, given) for r in some} for some in (own, copies)
            )
            apart += [
                share(mine[a], mine[b])
                for a in mine
                for b in mine
                if a < b and not {(stem, a), (stem, b)} & NOT_INDEPENDENT
            ]
            copied += [share(mine[a], theirs[f"copy of {a}"]) for a in mine]
    apart, copied = (
        sorted(x for x in apart if x is not None),
        sorted(x for x in copied if x is not None),
    )
    assert len(apart) > 150 and max(apart) < 0.55 < LEAST_SIMILARITY and median(apart) < 0.08
    assert (
        len(copied) > 150 and copied[len(copied) // 10] >= LEAST_SIMILARITY and median(copied) > 0.8
    )


def telling_prints(record: Record, exercise: str, given: frozenset[int]) -> frozenset[int]:
    found = [result.prints for result in record.results if result.exercise == exercise]
    return telling(found, given)[0] if found else frozenset()


def share(a: frozenset[int], b: frozenset[int]) -> float | None:
    """Return the containment of two answers that have enough prints to be told apart."""
    size = min(len(a), len(b))
    return len(a & b) / size if size >= 12 else None


# Similar submissions.


def test_what_is_handed_out_is_not_similar():
    lab = load_lab(LAB)
    given = {
        role(cell): stub(cell.source)
        for cell in lab.cells
        if role(cell) in ("given", "exercise", "check")
    }
    assert set(given) == {"given", "exercise", "check"}
    alike = [record(who, {"copy_matrix": "\n".join(given.values())}) for who in ("ada", "ben")]
    assert len(alike[0].results[0].prints) > LEAST_SHARED
    assert pairs(alike, {LAB: lab}) == ()
    assert len(pairs(alike, {})) == 1, "of a lab that is not known nothing can be left out"


def test_what_more_than_a_third_of_a_class_writes_is_not_similar():
    def listed(same: int, of: int) -> int:
        texts = [REVERSE] * same + [different(i) for i in range(of - same)]
        return len(
            pairs([record(f"s{i:02}", {"planes": text}) for i, text in enumerate(texts)], {})
        )

    assert [listed(2, 12), listed(4, 12), listed(5, 12)] == [1, 6, 0]
    assert listed(5, 9) == 10, "in a class of nine a third is too few to go by"


def test_exercises_of_a_pair_stand_together_and_a_student_is_not_similar_to_himself():
    two = {"planes": REVERSE, "transpose": different(1)}
    same = {"planes": DISGUISED, "transpose": different(1), "histogram": different(2)}
    ada, again, ben = (
        record("ada", two),
        replace(record("ada", two), file="second.ipynb"),
        record("ben", same),
    )
    found = pairs([ada, again, ben], {})
    assert [(p.a.student, p.b.student, p.exercises, p.similarity) for p in found] == [
        ("ada", "ben", ("planes", "transpose"), 1.0)
    ] * 2
    assert pairs([ada, replace(ben, lab="09_tiling")], {}) == ()


def test_short_answers_count_together_only():
    short = [
        f"def f(x, i):\n    x[i + {k}] = x[i - {k}] * {k} % x[{k}] // i\n    return i\n"
        for k in range(5)
    ]
    one, many = (
        [record(who, {f"e{k}": text for k, text in enumerate(texts)}) for who in "ab"]
        for texts in (short[:1], short)
    )
    assert 0 < len(one[0].results[0].prints) < LEAST_SHARED
    assert pairs(one, {}) == ()
    assert pairs(many, {})[0].exercises == ("e0", "e1", "e2", "e3", "e4")


def test_a_thousand_submissions_take_seconds():
    chance = random.Random(5)
    usual = [chance.getrandbits(48) for _ in range(300)]

    def results(own: int) -> tuple[Result, ...]:
        draw = random.Random(own)
        some = (
            {*draw.choices(usual, k=30), *(draw.getrandbits(48) for _ in range(20))}
            for _ in range(6)
        )
        return tuple(
            Result(f"e{k}", 1, PASSED, prints=tuple(sorted(one))) for k, one in enumerate(some)
        )

    records = [Record(f"s{i}", f"s{i}.ipynb", LAB, results(min(i, 997))) for i in range(1000)]
    start = time.process_time()
    found = pairs(records, {})
    assert time.process_time() - start < 20
    assert {(p.a.student, p.b.student) for p in found} == {
        ("s997", "s998"),
        ("s997", "s999"),
        ("s998", "s999"),
    }


def test_lines_lie_side_by_side_though_names_were_changed():
    a = "def f(x):\n    y = x + 1  # one\n    if y > 3:\n        return y\n    return 0\n"
    b = (
        "def f(x):\n"
        "    value   = x + 1\n"
        "    print(value)\n"
        "    while y > 3:\n"
        "        return value\n"
        "    return 0"
    )
    found = [(row.kind, row.number_a, row.number_b) for row in rows(a, b)]
    assert found[:2] == [(SAME, 1, 1), (RENAMED, 2, 2)] and found[-2:] == [
        (RENAMED, 4, 5),
        (SAME, 5, 6),
    ]
    assert {kind for kind, *_ in found[2:-2]} == {DIFFERENT}
    assert [row.number_a for row in rows("", "a")] == [0] and rows("", "") == ()


def test_long_and_hostile_texts_are_cut_and_shown_as_marks():
    many = rows("x\n" * 50_000, "y = " + "z" * 50_000)
    assert len(many) <= 2 * MOST_LINES and any("more lines" in row.a for row in many)
    assert max(len(row.b) for row in many) < 300
    assert (
        rows("a\u202eb\x1b[2J", "c")[0].a
        == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}[2J"
    )


# The report's contents.


def text_of(html: str) -> str:
    """Return the text that a reader of the page sees."""
    found: list[str] = []
    parser = HTMLParser()
    parser.handle_data = found.append
    parser.feed(html)
    return " ".join(" ".join(found).split())


def test_numbers_of_a_class():
    lab = overview(small_class(), {LAB: load_lab(LAB)})[0]
    assert (lab.title, len(lab.records), lab.points, lab.possible) == (
        load_lab(LAB).title,
        6,
        (0, 0, 2, 4, 4),
        4,
    )
    assert [(group.what, len(group.records)) for group in lab.problems] == [
        ("the file is empty", 1)
    ]
    copy, transpose = (
        next(e for e in lab.exercises if e.id == id) for id in ("copy_matrix", "transpose")
    )
    assert (copy.title, copy.passed, copy.failed, copy.not_tried) == ("1. Copy a matrix", 3, 1, 1)
    assert [(g.what, [r.student for r in g.records]) for g in copy.reasons] == [
        ("wrong result", ["dmitri"])
    ]
    assert [g.what for g in copy.behaviours] == ["fails where there is only one column"]
    assert [r.student for r in copy.only_shown] == ["dmitri"] and [
        r.student for r in copy.alike
    ] == ["ada", "ben"]
    assert [(x.counter, len(x.records), x.value, x.limit, x.times) for x in transpose.exceeded] == [
        ("global_bytes_moved", 2, 400, 100, 4)
    ]
    assert copy.only_over_budget == transpose.only_over_budget == ()
    assert lab.median_seconds == 1.5 and lab.slowest[-1].student == "elif"


def test_a_counter_that_should_be_large_and_a_budget_of_none():
    found = (
        overview(
            [record("a", {"planes": OTHER}, {"planes": over("warp_efficiency", 0.2, 0.8)})], {}
        )[0]
        .exercises[0]
        .exceeded[0]
    )
    assert found.times == 4
    found = (
        overview(
            [record("a", {"planes": OTHER}, {"planes": over("divergent_branches", 3, 0)})], {}
        )[0]
        .exercises[0]
        .exceeded[0]
    )
    assert (found.times, found.value, found.limit) == (None, 3, 0)


def test_problems_of_one_kind_are_one():
    told = [
        "the file has more than 10 MB",
        "the file has more than 20 MB",
        "no cell 'a' (x)",
        "no cell 'b' (y)",
        "the file is not UTF-8",
    ]
    lab = overview(
        [Record(f"s{i}", f"{i}.ipynb", LAB, problem=problem) for i, problem in enumerate(told)], {}
    )[0]
    assert [(g.what, len(g.records)) for g in lab.problems] == [
        ("no cell … …", 2),
        ("the file has more than … MB", 2),
        ("the file is not UTF-8", 1),
    ]
    assert lab.exercises == () and lab.points == ()


def test_percentile_is_a_value_that_occurs():
    assert (
        percentile(range(1, 101), 95) == 95
        and percentile([3, 1], 95) == 3
        and percentile([4], 50) == 4
        and percentile([], 95) == 0
    )


def test_page_says_what_there_is_to_say():
    text = text_of(page(*_parts(report_on(small_class(), {LAB: load_lab(LAB)}))))
    for said in (
        "Not for students.",
        "6, of which 1 could not be graded",
        "median 2 of 4, from 0 to 4",
        "3 (60%)",
        "at most 100",
        "4 times",
        "Fails where there is only one column",
        "Passes its own check, fails hidden tests: 1 of 1 (dmitri)",
        "The same answer, but for names, layout and comments: 2 of 4 (Ada Lovelace (ada), ben)",
        "It does not say who wrote what",
        "Ada Lovelace (ada) and ben",
        "100% in common",
        "2026-11-20 09:00:00",
        "while source.size > at:",
    ):
        assert said in text, said
    assert "copied" not in text and "cheat" not in text and "plagiar" not in text


def test_histogram_says_its_numbers_in_words():
    html = page(*_parts(report_on(small_class())))
    assert "0 to 1 points: 2; 1 to 2 points: 0; 2 to 3 points: 1; 3 to 4 points: 2." in html


def test_page_runs_and_loads_nothing_whatever_students_write():
    evil = "<script>alert(1)</script>\"'><img src=http://127.0.0.1/x onerror=alert(1)>\x1b]0;\u202e"
    twice = {"copy_matrix": f"# {evil}\n{REVERSE}"}
    bad = Finding(False, evil, behaviour=evil, counters=(Counter(evil, 2.0, 1.0),))
    records = [
        replace(
            record(f"{who}{evil}", twice, {"copy_matrix": bad}, name=evil, submitted=evil),
            file=evil,
        )
        for who in "ab"
    ]
    records.append(Record(evil, evil, evil, (Result(evil, 1, PASSED, text=evil),), seconds=2))
    records.append(Record(evil, evil, "", problem=evil))
    found = report_on(records)
    html = page(found.labs, found.pairs, (evil,))
    tags: list[tuple[str, dict]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
    parser.feed(html)
    assert len(found.pairs) == 1 and "&lt;script&gt;alert(1)" in html
    assert not {tag for tag, _ in tags} & {
        "script",
        "img",
        "link",
        "iframe",
        "object",
        "form",
        "base",
    }
    assert not {
        name
        for _, attributes in tags
        for name in attributes
        if name.startswith("on") or name in ("src", "href", "action")
    }
    assert "default-src 'none'" in html
    assert "\x1b" not in html and "\u202e" not in html


def _parts(found: ClassReport) -> tuple:
    return found.labs, found.pairs, found.unknown


@pytest.mark.parametrize(
    "records",
    [[], small_class()[:1], small_class()[4:], [Record("a", "a.ipynb", problem="no lab")]],
    ids=len,
)
def test_small_classes_have_pages(records):
    html = page(*_parts(report_on(records)))
    assert ("No submissions have been graded" in html) == (not records)
    assert html.count("<table") == html.count("</table>") and html.endswith("</html>\n")


def test_records_without_texts_or_prints():
    old = [
        replace(r, results=tuple(replace(result, text="", prints=()) for result in r.results))
        for r in small_class()
    ]
    assert "No two submissions are similar." in page(*_parts(report_on(old)))
    no_texts = [
        replace(r, results=tuple(replace(result, text="") for result in r.results))
        for r in small_class()
    ]
    assert "the texts were not kept" in page(*_parts(report_on(no_texts)))


def test_submissions_that_were_not_isolated_are_pointed_out():
    records = [replace(small_class()[0], isolated=False), small_class()[2]]
    assert "Not isolated. 1 submission of this lab ran without a sandbox" in text_of(
        page(*_parts(report_on(records)))
    )
    assert "Not isolated" not in page(*_parts(report_on(small_class())))


def test_very_many_similar_pairs_make_a_page_of_bounded_size():
    same = [record(f"s{i}", {"planes": REVERSE}) for i in range(40)]
    html = page(
        *_parts(report_on(same + [record(f"o{i}", {"planes": different(i)}) for i in range(100)]))
    )
    assert "780 pairs of submissions. The 100 with most in common are listed" in html
    assert html.count("<details>") == 20 and len(html) < 500_000


# The command.


def kept(folder, records: list[Record]):
    """A folder as ``grade`` leaves it."""
    (folder / "records").mkdir(parents=True)
    store.write_about(folder, {"seed": 1, "labs": {}})
    for one in records:
        store.keep(folder, store.Kept("key", 1, one))
    return folder


def run(*arguments) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["report", *map(str, arguments)])
    return done.exit_code, done.output


def test_command_writes_the_page_and_a_summary(tmp_path):
    folder = kept(tmp_path / "graded", small_class())
    status, said = run(folder)
    assert status == 0, said
    assert f"{LAB}: 6 submissions, median 2 of 4 points, 1 could not be graded" in said
    assert "3 of 5 (60%)" in said and "1 pair of similar submissions" in said
    assert "Ada Lovelace" in (folder / "report.html").read_text("utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["records", "report.html", "run.json"]


def test_command_prints_everything_and_writes_tables(tmp_path):
    formula = replace(small_class()[0], student="=1+1", name="\x1b[2J")
    folder = kept(tmp_path / "graded", [formula, *small_class()[1:]])
    status, said = run(folder, "--text", "--csv")
    assert status == 0 and not (folder / "report.html").exists()
    for words in (
        "fails where there is only one column",
        "global bytes moved over budget: 4 times (median)",
        "100%",
        "slowest",
    ):
        assert words in said, words
    assert "\x1b" not in said
    exercises, similar = (
        list(csv.DictReader((folder / name).open(encoding="utf-8")))
        for name in ("exercises.csv", "similar.csv")
    )
    assert {row["exercise"]: row["passed"] for row in exercises if row["passed"] != "0"} == {
        "copy_matrix": "3",
        "transpose": "2",
    }
    assert [(row["student_a"], row["student_b"], row["similarity"]) for row in similar] == [
        ("'=1+1", "ben", "1.000")
    ]


def test_command_on_an_empty_run_and_on_no_run(tmp_path):
    assert run(kept(tmp_path / "graded", []), "--out", tmp_path / "page.html")[0] == 0
    assert "No submissions have been graded" in (tmp_path / "page.html").read_text("utf-8")
    for arguments in (
        (tmp_path / "nothing",),
        (tmp_path / "graded", "--out", tmp_path / "no" / "folder.html"),
    ):
        status, said = run(*arguments)
        assert status == 2 and said.startswith("warpwise: ") and said.count("\n") == 1


def test_lab_that_is_not_known_is_said_so(tmp_path):
    folder = kept(tmp_path / "graded", [replace(one, lab="99_unknown") for one in small_class()])
    assert class_report(folder).unknown == ("99_unknown",)
    assert class_report(folder, tmp_path).unknown == ("99_unknown",)
    assert write(class_report(folder), folder / "report.html", None) == [folder / "report.html"]
    assert "The source of 99_unknown was not found" in (folder / "report.html").read_text("utf-8")


# A really graded class.


@pytest.fixture(scope="module")
def graded(sandbox, tmp_path_factory):
    """Three graded students of lab 8: a right one, a disguised copy, and an idle one.

    The copy is over a budget."""
    folder = tmp_path_factory.mktemp("class")
    right, copy = (json.loads(json.dumps(solved_notebook(load_lab(LAB)))) for _ in range(2))
    for cell in copy["cells"]:
        if id := cell["metadata"].get("warpwise", {}).get("id"):
            cell["source"] = disguised(cell["source"], load_lab(LAB).exercise(id).name)
            if id == "copy_matrix":
                cell["source"] = wrong_answer(LAB, "uncoalesced_copy").text
    for student, made in {
        "ada": right,
        "ben": copy,
        "carla": student_notebook(load_lab(LAB)),
    }.items():
        (folder / "submitted" / student).mkdir(parents=True)
        (folder / "submitted" / student / f"{LAB}.ipynb").write_text(json.dumps(made), "utf-8")
    grade(folder / "submitted", folder / "graded", lab=LAB, seed=7)
    return folder / "graded"


def test_graded_class_has_a_report(graded):
    found = class_report(graded)
    assert [(pair.a.student, pair.b.student) for pair in found.pairs] == [("ada", "ben")]
    assert "copy_matrix" not in found.pairs[0].exercises and len(found.pairs[0].exercises) >= 4
    copy = found.labs[0].exercises[0]
    assert (copy.passed, copy.failed, copy.not_tried) == (1, 1, 1)
    assert copy.exceeded[0].times > 1.5 and copy.reasons[0].what.startswith(Reason.OVER_BUDGET)
    assert [r.student for r in copy.reasons[0].records] == ["ben"]
    status, said = run(graded)
    assert status == 0, said
    assert "cuda.syncthreads()" in (graded / "report.html").read_text("utf-8")


def test_right_in_every_case_but_over_budget_is_counted_by_itself():
    judged = replace(over("barriers", 2, 1), tried=9)
    results = [Result("copy_matrix", 2, one) for one in (judged, over("barriers", 2, 1))]
    records = [Record(f"s{i}", f"s{i}", LAB, (one,)) for i, one in enumerate(results)]
    (lab,) = overview(records, {LAB: load_lab(LAB)})
    (copy, *_) = lab.exercises
    assert [record.student for record in copy.only_over_budget] == ["s0"]
    said = "right in every hidden case, but over budget"
    assert any(row[0] == said for table in whole([lab], ()) for row in table.rows)
    assert said in " ".join(page([lab], (), ()).lower().split())
