"""Every mark of every widget has its words, and all of them speak one grammar: what it is, then
after a colon its figures."""

from __future__ import annotations

import re

import pytest
from support.drawn_marks import Script, marks, states, views_of
from support.gallery import GALLERIES, NAMES, gallery_of, shown_on

from warpwise.views import burst

WIDTHS = 760, 330
GRAMMAR = re.compile(r"[^:]+(: [^:]*[^.:])?")
NONSENSE = re.compile(r"\b(NaN|undefined|null|Infinity|true|false|\[object)\b")
MOST = 110  # letters


@pytest.mark.parametrize("name", NAMES)
def test_every_mark_says_what_it_is(name):
    script = Script(name)
    of_name = [one for one in views_of(gallery_of(name)) if one.name == name]
    assert of_name
    for view in of_name:
        for state in states(view, 2):
            for width in WIDTHS:
                found = marks(script.shown(view.data, state, width))
                assert [one for one in found if not one.words] == [], (state, width)
                for words in {one.words for one in found}:
                    assert GRAMMAR.fullmatch(words) and not NONSENSE.search(words), words
                    assert len(words) <= MOST, words


@pytest.mark.parametrize("stem", GALLERIES)
def test_all_views_of_a_widget_are_on_its_page(stem):
    assert {one.name for one in views_of(stem)} <= {*shown_on(stem)}


def test_a_mark_without_words_is_found():
    made = {"picture": '<svg><rect class="one" x="0" y="0" width="9" height="9"/></svg>'}
    assert [one.words for one in marks(made | {"marks": []})] == [""]
    assert [one.words for one in marks(made | {"marks": [[0, 0, 9, 9, "tile 1"]]})] == ["tile 1"]


def test_stored_pictures_carry_no_words_that_only_a_script_shows():
    assert "data-" not in burst.explorer().shown["picture"]
    assert (
        "data-is"
        in Script("burst").shown(burst.explorer().data, burst.explorer().values, 620)["picture"]
    )
