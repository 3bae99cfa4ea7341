"""Every widget without a browser: its files, its budget, and its place on the gallery's page."""

from __future__ import annotations

import gzip
import re
from importlib import import_module

import pytest
from support.gallery import NAMES
from support.paths import ROOT

from warpwise.views import html

PAGE = (ROOT / "chapters/reference_widgets.md").read_text("utf-8")
INSIDE = {"requests": "burst"}  # a widget that another one's module makes


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_is_called_on_the_page_of_widgets(name):
    module = INSIDE.get(name, name)
    assert import_module(f"warpwise.views.{module}").__doc__
    assert re.search(rf"^{module}\.\w+\(", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_s_script_keeps_to_its_budget(name):
    assert len(gzip.compress(html.script(name).encode())) <= html.SCRIPT_BUDGET
    assert html.script(name).count("export default ") == 1
