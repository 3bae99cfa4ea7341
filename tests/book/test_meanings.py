"""Glossary terms say what they mean where they are linked."""

from __future__ import annotations

from docutils import nodes
from docutils.utils import new_document

from warpwise.book.meanings import explain, first_sentences

LINK = '<a class="reference internal" href="{}"><span class="xref std std-term">w</span></a>'


def glossary(*entries: tuple[str, str]) -> nodes.document:
    document = new_document("glossary")
    for name, text in entries:
        term = nodes.term("", name, ids=[f"term-{name}"])
        meaning = nodes.definition("", nodes.paragraph("", text))
        document += nodes.definition_list("", nodes.definition_list_item("", term, meaning))
    return document


def test_the_first_sentence_is_the_meaning():
    found = first_sentences(glossary(("warp", "32 threads, 0.5 of\n64. The last may hold fewer.")))
    assert found == {"term-warp": "32 threads, 0.5 of 64."}


def test_a_link_to_a_term_has_its_meaning_and_other_links_have_none():
    known = {"term-warp": 'A "row" & 32 <b>'}
    meant, other = LINK.format("glossary.html#term-warp"), LINK.format("02_simt.html#warps")
    made = explain(meant + other, known)
    assert made.count("data-meaning") == 1 and made.endswith(other)
    assert 'data-meaning="A &quot;row&quot; &amp; 32 &lt;b&gt;"' in made


def test_every_linked_term_of_the_site_has_a_meaning(site):
    pages = [page.read_text("utf-8") for page in (site.folder / "chapters").glob("[0-9]*.html")]
    links = [part.split(">")[0] for page in pages for part in page.split("glossary.html#term-")[1:]]
    assert len(links) > 300 and all("data-meaning=" in link for link in links)
