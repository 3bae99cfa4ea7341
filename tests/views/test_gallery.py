"""Every widget without a browser: its files, its budget, and its place on a page of the gallery."""

from __future__ import annotations

import gzip
from importlib import import_module

import pytest
from support.gallery import GALLERIES, INSIDE, NAMES, gallery_of, shown_on

from warpwise.views import html


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_is_called_on_the_page_of_widgets(name):
    module = INSIDE.get(name, name)
    assert import_module(f"warpwise.views.{module}").__doc__
    assert gallery_of(name)


def test_each_page_of_the_gallery_shows_some_and_all_show_every_one():
    shown = [name for stem in GALLERIES for name in shown_on(stem)]
    assert sorted(shown) == NAMES and all(map(shown_on, GALLERIES))
    assert gallery_of("no_widget") is None


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_s_script_keeps_to_its_budget(name):
    assert len(gzip.compress(html.script(name).encode())) <= html.SCRIPT_BUDGET
    assert html.script(name).count("export default ") == 1
