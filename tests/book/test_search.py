"""What Pagefind reads: pages whose sections and entries begin with headings that have an id."""

from __future__ import annotations

import re

from warpwise.book.search import with_headings

SECTION = '<section class="tex2jax" id="{}">\n{}<h2>T<a class="headerlink" href="#a">#</a></h2>\n'


def test_the_id_of_a_section_is_its_headings():
    made = with_headings(SECTION.format("a", "") + SECTION.format("b", '<span id="old"></span>'))
    assert re.findall(r'<h2 id="(\w+)">T', made) == ["a", "b"]
    assert made.count('id="a"') == made.count('id="b"') == 1 and 'id="old"' in made


def test_an_entry_with_an_id_is_a_heading_and_others_stay():
    term = '<dl><dt id="term-warp">warp<a href="#term-warp">#</a></dt><dd>32 threads</dd></dl>'
    assert '<h6 id="term-warp">warp<a' in with_headings(term)
    assert with_headings("<dt>bytes</dt>") == "<dt>bytes</dt>"


def test_every_section_of_a_chapter_is_one_to_the_search(site):
    page = (site.folder / "chapters/08_coalescing.html").read_text("utf-8")
    sections = re.findall(r'<section[^>]* id="([^"]+)"[^>]*>\s*(?:<span[^>]*></span>\s*)*<h', page)
    found = re.findall(r'<h[1-6] id="([^"]+)"', with_headings(page))
    assert len(sections) > 15 and set(sections) <= set(found)
