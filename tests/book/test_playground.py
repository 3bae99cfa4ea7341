"""The playground's examples, each of which runs, and its page in a small book."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest
from support.books import build_book

from warpwise.book.mistakes import FOLDER
from warpwise.book.playground import NO_PARTS, NO_SCRIPTS
from warpwise.book.playground.examples import TOPICS, as_json, examples, titles
from warpwise.playground import play

EXAMPLES = {topic: list(of) for topic, of in groupby(examples(), key=lambda one: one.topic)}
REFERENCE = "Reference kernels"


def run(example) -> list[dict]:
    texts = {"kernel": example.kernel, "launch": example.launch, "other": example.other}
    return play(texts)["kernels"]


@pytest.mark.slow
@pytest.mark.parametrize("topic", TOPICS.values())
def test_a_mistake_is_marked_and_its_fix_is_right(topic: str):
    for example in EXAMPLES[topic]:
        faulty, *fixed = run(example)
        assert faulty["marks"], example.title
        for one in fixed:
            assert (one["error"], one["marks"]) == ("", []), example.title
            assert one["verdict"] in ("", one["verdict"].split()[0] + " is as expected.")


@pytest.mark.slow
def test_a_reference_kernel_gives_what_its_launch_expects():
    for example in EXAMPLES[REFERENCE]:
        for one in run(example):
            assert (one["error"], one["marks"]) == ("", []), example.title
            assert one["verdict"].endswith("is as expected."), example.title


def test_every_mistake_and_every_topic_is_among_them():
    assert list(EXAMPLES) == [REFERENCE, *TOPICS.values()]
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == set(TOPICS)
    count = len(list(FOLDER.glob("*/*_faulty.py")))
    assert sum(map(len, EXAMPLES.values())) == count + len(EXAMPLES[REFERENCE])


def test_a_fix_is_beside_all_but_a_few_mistakes():
    mistakes = [one for topic in TOPICS.values() for one in EXAMPLES[topic]]
    assert sum(not one.other for one in mistakes) <= len(mistakes) / 10
    assert all(one.told.count("The fix is") == 1 for one in mistakes)


def test_what_a_page_cannot_run_says_so_and_where_it_runs():
    for topic, of in EXAMPLES.items():
        assert all(("JupyterLab" in one.told) == (topic == TOPICS["hopper"]) for one in of)


def test_titles_are_short_and_no_two_are_the_same():
    all_titles = [one.title for of in EXAMPLES.values() for one in of]
    assert [title for title, count in Counter(all_titles).items() if count > 1] == []
    assert max(map(len, all_titles)) <= 60
    assert min(len(title.split()) for title in all_titles) >= 3


def test_every_title_is_that_of_a_mistake():
    named = {f"{kind}/{name}" for kind, of in titles().items() for name in of}
    there = {f"{path.parent.name}/{path.stem[:-7]}" for path in FOLDER.glob("*/*_faulty.py")}
    assert named - there == set()


def test_examples_are_light_and_hold_no_word_of_the_tests():
    data = as_json()
    assert len(data) < 250_000
    assert "# expect" not in data and "# scope" not in data
    assert len(json.loads(data)) == sum(map(len, EXAMPLES.values()))


PAGE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3, language: python}
---

# A playground

```{code-cell} ipython3
:tags: [playground]

a = 1
```

```{code-cell} ipython3
:tags: [playground]

a + 1
```
"""


def built(folder: Path):
    settings = {
        "extensions": ["myst_nb", "warpwise.book.playground"],
        "nb_execution_mode": "off",
        "myst_enable_extensions": [],
    }
    return build_book(folder, {"page": PAGE}, **settings)


def test_without_the_parts_the_page_says_so_and_loads_nothing(tmp_path: Path):
    book = built(tmp_path)
    assert book.warnings == ""
    assert book.html("page").count(NO_PARTS) == 1
    assert "first_touch.js" not in book.html("page")
    assert NO_SCRIPTS not in book.html("page")
    assert not (book.folder / "_static/playground").exists()


def test_with_the_parts_the_page_has_its_script_and_the_site_its_examples(tmp_path: Path):
    runtime = tmp_path / "html/_static/runtime"
    runtime.mkdir(parents=True)
    (runtime / "manifest.json").write_text('{"version": "1", "sources": "2", "files": {}}')
    book = built(tmp_path)
    assert NO_PARTS not in book.html("page")
    assert f"<noscript><p>{NO_SCRIPTS}</p></noscript>" in book.html("page")
    assert "first_touch.js" in book.html("page")
    assert json.loads((book.folder / "_static/playground/examples.json").read_text("utf-8"))


def test_a_playground_has_two_cells(tmp_path: Path):
    settings = {"extensions": ["myst_nb", "warpwise.book.playground"], "nb_execution_mode": "off"}
    text = PAGE.rpartition("```{code-cell}")[0]
    book = build_book(tmp_path, {"page": text}, myst_enable_extensions=[], **settings)
    assert "a playground has two cells, a kernel and its launch" in book.warnings
