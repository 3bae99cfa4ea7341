"""Widget scripts on a finished page: one of each, side by side, where they compress well."""

from __future__ import annotations

import gzip

from warpwise.book.postprocess import share_scripts
from warpwise.views import banks, fusion, memory


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


def test_a_page_without_widgets_stays_as_it_is():
    assert share_scripts(None, "<p>Text</p>") == "<p>Text</p>"
