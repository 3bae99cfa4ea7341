"""A widget's HTML: complete, small, safe, and in need of nothing that a page lacks."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from support.view_kernels import traced_gather

from warpwise.views import burst, html


class Elements(HTMLParser):
    """A parser of HTML: the tags in order, and the text of each script by its type."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.scripts, self._type = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self._type = dict(attrs).get("type") if tag == "script" else None

    def handle_data(self, data):
        if self._type:
            self.scripts[self._type] = self.scripts.get(self._type, "") + data

    def handle_endtag(self, tag):
        self._type = None


@pytest.mark.parametrize(
    "make",
    [lambda: burst.explorer(2, 1), lambda: burst.of_trace(traced_gather())],
    ids=["explorer", "trace"],
)
def test_html_has_picture_and_sentence_before_data_and_script(make):
    view = make()
    found = Elements(view._repr_html_())
    first = [found.tags.index(tag) for tag in (f"ww-{view.name}", "svg", "p", "script")]
    assert first[:2] == sorted(first[:2]) and first[-1] == max(first)
    assert found.tags.count("script") == 2
    assert json.loads(found.scripts["application/json"]) == json.loads(json.dumps(view.payload))
    assert found.scripts["module"] == html.script(view.name)


def test_script_is_its_modules_joined():
    """Each module comes once, after its imports, without import lines and comments."""
    assert html.modules("burst") == ("core", "marks", "motion", "form", "draw", "strip", "burst")
    script = html.script("burst")
    starts = [script.index(f"export {what}") for what in ("const escape", "const rect", "default")]
    assert starts == sorted(starts) and script.count("export default ") == 1
    assert "import " not in script and "//" not in script.replace("http://", "")


def test_picture_has_its_style_without_that_of_the_controls():
    alone = "".join(html.picture_sheets("burst"))
    assert html.style("burst").endswith(alone)
    assert ".ww-svg" in alone and ":host" not in alone


@pytest.mark.parametrize(
    "make", [burst.explorer, lambda: burst.of_trace(traced_gather(32))], ids=["explorer", "trace"]
)
def test_data_keeps_to_its_budget(make):
    assert len(gzip.compress(json.dumps(make().payload).encode())) <= html.DATA_BUDGET


def test_pages_need_no_anywidget():
    code = (
        "import sys; from warpwise.views import burst; burst.explorer()._repr_html_(); "
        "print('anywidget' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
