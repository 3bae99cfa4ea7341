"""Widget scripts and styles on a finished page: one of each, and scripts side by side."""

from __future__ import annotations

import gzip

from warpwise.book.postprocess import WIDGET_SCRIPT, share_scripts, share_styles
from warpwise.views import banks, fusion, html, memory


def body(*views) -> str:
    """A page's body, with more text between two widgets than compression looks back."""
    between = "".join(f"<p>{number:x}</p>" for number in range(10_000))
    return between.join(view._repr_html_() for view in views)


def test_a_page_keeps_one_of_each_script_at_its_end():
    made = share_scripts(None, body(banks.explorer(1), fusion.explorer(), banks.explorer(2)))
    assert made.count('<script type="module">') == 2
    assert made.index("</ww-fusion>") < made.rindex("</ww-banks>") < made.index('type="module"')
    assert made.index('explore("ww-banks"') < made.index('explore("ww-fusion"')


def test_what_scripts_share_is_compressed_once():
    views = banks.explorer(), fusion.explorer(), memory.explorer()
    apart, together = (
        len(gzip.compress(text.encode()))
        for text in (body(*views), share_scripts(None, body(*views)))
    )
    assert together < apart - 6_000


def test_a_page_keeps_the_first_of_each_style_sheet():
    made = share_styles(None, body(banks.explorer(1), fusion.explorer(), banks.explorer(2)))
    assert made.index("<style>") < made.index("</ww-banks>")
    for sheet in {*html.picture_sheets("banks"), *html.picture_sheets("fusion")}:
        assert made.count(f"<style>{sheet}</style>") == 1
    scripts = WIDGET_SCRIPT.findall(made)
    assert len(scripts) == 3 and all("<style>${data.style}</style>" in one for one in scripts)


def test_a_page_without_widgets_stays_as_it_is():
    for share in (share_scripts, share_styles):
        assert share(None, "<p>Text</p>") == "<p>Text</p>"
