"""The loader of wrong answers: it refuses what it cannot make, in a line that names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.paths import ROOT
from support.wrong_answers import WrongAnswerError, load, wrong_answer, wrong_answers

LAB = "08_coalescing"
STEMS = sorted(path.stem for path in (ROOT / "solutions").glob("*.md"))
HEAD = '[copy_matrix.mine]\nexpect = "out of bounds"\n'


def loaded(folder: Path, text: str, file: str | None = None):
    """Load the answers of a ``wrong.toml``, and of a file ``wrong/mine.py`` beside it."""
    lab = folder / LAB
    lab.mkdir()
    (lab / "wrong.toml").write_text(text)
    if file is not None:
        (lab / "wrong").mkdir()
        (lab / "wrong" / "mine.py").write_text(file)
    return load(lab)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + 'replace = "row < 7"\nby = "row < 8"', "mine: not in the solution: row < 7"),
        (HEAD + 'replace = "shape["\nby = "size["', "mine: 2 times in the solution: shape"),
        (HEAD + 'replace = "row < src"\nby = "row < src"', "mine: replaced by itself: row < src"),
        (
            HEAD
            + (
                'changes = [{ replace = "row < src", by = "x" }, '
                '{ replace = "row < src", by = "y" }]'
            ),
            "mine: not in the solution: row < src",
        ),
        (HEAD + 'replace = "row <"', "mine: it needs replace and by, changes, or a body"),
        (HEAD + 'replace = "row <"\nwith = "row"', "mine: unknown key with"),
        (HEAD + 'changes = [{ replace = "row <", expect = "" }]', "mine: unknown key expect"),
        (
            HEAD + 'names = "("\nbody = "    pass"',
            "mine: names is no regular expression: missing )",
        ),
        ('[copy_matrix.mine]\nbody = "    pass"', "mine: it does not say what to expect"),
        (
            HEAD.replace("out of", "beyond") + 'body = "    pass"',
            "mine: there is no reason 'beyond bounds'; there are array still in use, ",
        ),
        (
            HEAD.replace("out of bounds", "over budget: sectors") + 'body = "    pass"',
            "and over budget: COUNTER, which a budget can name",
        ),
        (HEAD.replace("copy_matrix", "matmul"), "08_coalescing has no exercise matmul"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused(text: str, message: str, tmp_path: Path):
    with pytest.raises(WrongAnswerError) as error:
        loaded(tmp_path, text)
    assert message in str(error.value) and "wrong.toml" in str(error.value)


def test_an_answer_stands_in_one_form(tmp_path: Path):
    table = HEAD + 'replace = "row <"\nby = "row <="'
    with pytest.raises(WrongAnswerError, match="there are two wrong answers mine"):
        loaded(tmp_path, table, "# expect: copy_matrix: out of bounds\n")


def test_a_file_names_its_cause_in_its_second_line(tmp_path: Path):
    first = "# expect: copy_matrix: out of bounds\n"
    (answer,) = loaded(tmp_path, "", first + "# names: guard|edge\npass\n")
    assert answer.names == "guard|edge"
    assert answer.reason == "out of bounds"


def test_a_new_lab_has_none_yet(tmp_path: Path):
    assert load(tmp_path / LAB) == ()


def test_a_file_needs_its_reason(tmp_path: Path):
    with pytest.raises(WrongAnswerError, match=r"mine\.py: the first line is not # expect"):
        loaded(tmp_path, "", "import numpy\n")


def test_a_files_reason_is_one_of_those_that_there_are(tmp_path: Path):
    with pytest.raises(WrongAnswerError, match=r"mine\.py: there is no reason 'wrong'; there are"):
        loaded(tmp_path, "", "# expect: copy_matrix: wrong\n")


def test_changes_are_made_one_after_the_other_or_everywhere(tmp_path: Path):
    one, every, body = loaded(
        tmp_path,
        """
[copy_matrix.a]
expect = "race"
changes = [{ replace = "col, row =", by = "row, col =" }, { replace = "row, col =", by = "x, y =" }]
[copy_matrix.b]
expect = "race"
replace = "src.shape"
by = "dst.shape"
all = true
names = "shape"
[copy_matrix.c]
expect = "race"
body = '''
    dst[0, 0] = 1
'''
""",
    )
    assert "    x, y = cuda.grid(2)\n" in one.text
    assert (one.names, every.names) == ("", "shape")
    assert every.text.count("dst.shape") == 2 and "src.shape" not in every.text
    assert body.text.endswith('of any shape."""\n    dst[0, 0] = 1\n')
    assert (body.lab, body.exercise, body.reason) == (LAB, "copy_matrix", "race")


@pytest.mark.parametrize("stem", STEMS)
def test_the_answers_of_each_lab_can_be_made(stem: str):
    answers = wrong_answers(stem)
    assert len({answer.name for answer in answers}) == len(answers) > 0
    assert all(wrong_answer(stem, answer.name) is answer for answer in answers)
    for answer in answers:
        compile(answer.text, answer.name, "exec")
