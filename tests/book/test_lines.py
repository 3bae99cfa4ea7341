"""Lines of code boxes are elements that know their indentation, and hold the same text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from warpwise.book.lines import MOST, SHORT, element, with_lines

LONG = "a line that may not fit a phone"
CODE = f'def f(x):\n\n    """{LONG}\n    {LONG}."""\n        return "<&>" + x  # {LONG}\n'


class Text(HTMLParser):
    """The text of some HTML, and the elements that are still open at its end."""

    def __init__(self, html: str):
        super().__init__()
        self.text, self.open = "", []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("numbers", [False, "inline"])
def test_each_line_is_one_element_and_the_text_is_the_same(numbers):
    plain = highlight(CODE, PythonLexer(), HtmlFormatter(linenos=numbers))
    made = with_lines(plain)
    assert Text(made).text == Text(plain).text and Text(made).open == []
    lines = made.split('<span class="ww-l"')[1:]
    assert len(lines) == 3 and all(line.count("\n") == 1 for line in lines[:-1])
    number = 2 if numbers else 0
    indents = (number + indent for indent in (4, 4, 8))
    assert all(f"--i:{n}" in line for n, line in zip(indents, lines, strict=True)), lines


def test_what_is_no_code_box_stays():
    body = '<p>a</p><pre>b\nc</pre><div class="highlight"><pre></pre></div>'
    assert with_lines(body) == body


def test_a_deep_line_leaves_room_and_a_short_one_stays():
    assert f"--i:{MOST}" in element(" " * 60 + "<b>x</b>")
    assert "style" not in element("x" * (SHORT + 1))
    assert element("&amp;" * SHORT) == "&amp;" * SHORT


TABLE = "patch  tile   bytes\n1 x 1  16 x 16   4.0\n8 x 8  128 x 128  32.0"


def printed(text: str) -> str:
    kind = '<div class="output stream highlight-myst-ansi notranslate">'
    return f'{kind}<div class="highlight"><pre><span></span>{text}\n</pre></div></div>'


def test_a_printed_table_keeps_its_rows_and_says_its_width():
    made = with_lines(printed(TABLE))
    assert '<div class="highlight ww-table" style="--n:22"><pre>' in made and "ww-l" not in made
    assert Text(made).text == TABLE + "\n"


@pytest.mark.parametrize(
    "text",
    ["one sentence, as a cell prints it.  Another.", f"{TABLE}\n{'a long line ' * 8}", LONG],
    ids=["a sentence", "too wide", "a line"],
)
def test_what_is_no_table_wraps(text):
    assert "ww-table" not in with_lines(printed(text)) and "ww-l" in with_lines(printed(text))
