"""The glossary: it has all terms that the course needs, and chapters link their first use."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes
from support.paths import ROOT

from warpwise.book.glossary import AMBIGUOUS, SKIPPED, link_first_uses

SOURCE = (ROOT / "chapters/glossary.md").read_text("utf-8")
CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("[0-9][0-9]_*.md"))
# Parts of a page that are no running text: headings, code, formulas, links, heads of tables, output
# of cells, controls.
NOT_TEXT = (
    "h1, h2, h3, h4, h5, h6, code, pre, .math, th, .cell_input, .cell_output, .ww-quiz, "
    ".admonition-title, .rubric, .headerlink, summary, button, script, style, svg, "
    ".reference.external, .xref.std-numref, .footnote-reference"
)
# Of that, what a parser need not even see: a page's pictures are most of its elements.
DRAWN = re.compile(r"<(svg|script|style)\b((?!<svg).)*?</\1>", re.DOTALL)
# Terms that widgets and chapters rely on.
NEEDED = (
    "kernel",
    "launch",
    "thread",
    "warp",
    "lane",
    "active",
    "mask",
    "block",
    "cluster",
    "grid",
    "grid-stride loop",
    "divergence",
    "warp efficiency",
    "barrier",
    "fence",
    "atomic",
    "race",
    "SM",
    "compute capability",
    "PTX",
    "SASS",
    "sub-partition",
    "scheduler",
    "issue slot",
    "register",
    "occupancy",
    "wave",
    "tensor core",
    "fragment",
    "warpgroup",
    "mbarrier",
    "TMA",
    "swizzle",
    "global memory",
    "DRAM",
    "L1 cache",
    "L2 cache",
    "request",
    "sector",
    "cache line",
    "burst",
    "coalesced",
    "shared memory",
    "bank",
    "wavefront",
    "bank conflict",
    "padding",
    "tile",
    "tile quantisation",
    "latency",
    "bandwidth",
    "arithmetic intensity",
    "roofline",
    "knee",
    "fusion",
    "recomputation",
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "TF32",
    "online softmax",
    "causal mask",
    "trace",
    "event",
    "counter",
    "modelled",
)


def unlinked(html: str, terms: list[str]) -> list[str]:
    """Return the terms whose first use in an article is no link, each with its context."""
    article = BeautifulSoup(DRAWN.sub("", html), "html.parser").select_one("article")
    for part in article.select(NOT_TEXT):
        part.decompose()
    for link in article.select("a"):
        if "glossary.html#term-" not in link.get("href", ""):
            link.decompose()
    missed, met = [], set()
    for text in article.find_all(string=True):
        for name in used_in(str(text), terms):
            if name not in met and text.find_parent("a") is None:
                missed.append(f"{name}: {' '.join(text.split())[:80]}")
            met.add(name)
    return missed


def used_in(text: str, terms: list[str]) -> list[str]:
    """Return the terms that a text uses, in order.

    A longer term hides the shorter ones inside it."""
    found = []
    for name in sorted(terms, key=len, reverse=True):
        uses = [*pattern(name).finditer(text)]
        if uses:
            found += [(match.start(), name) for match in uses]
            text = pattern(name).sub(lambda match: "\0" * len(match[0]), text)
    return [name for _, name in sorted(found)]


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return what finds a term, singular or plural."""
    words = r"\s+".join(map(re.escape, name.split()))
    ending = "(y|ies)" if re.search("[^aeiou]y$", name) else "(s|es)?"
    stem = words.removesuffix("y") if ending.startswith("(y") else words
    flags = re.IGNORECASE if name.islower() else 0
    return re.compile(rf"(?<![\w-]){stem}{ending}(?![\w-])", flags)


@pytest.fixture(scope="module")
def entries(site) -> dict[str, str]:
    """Map terms to their definitions, as built."""
    page = BeautifulSoup((site.folder / "chapters/glossary.html").read_text("utf-8"), "html.parser")
    heads = page.select("dl.glossary dt")
    return {
        head.find(string=True).strip(): head.find_next("dd").get_text(" ", strip=True)
        for head in heads
    }


# --- built pages ---


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_first_use_of_each_term_is_a_link(site, entries, chapter):
    plain = [name for name in entries if name not in AMBIGUOUS]
    page = (site.folder / f"chapters/{chapter}.html").read_text("utf-8")
    assert unlinked(page, plain) == []
    assert page.count("glossary.html#term-") >= 10


def test_a_first_use_without_a_link_is_found():
    page = """<article><h1>Warps</h1>
    <p>A <code>warp</code> and <a class="external" href="x">lanes</a>. All
    <a href="glossary.html#term-bank-conflict">bank conflicts</a> of a warp;
    <a href="glossary.html#term-warp">warps</a> have banks.</p>
    <p>Latencies of memory. dram is no word, sub-warp neither.</p></article>"""
    terms = ["warp", "lane", "bank", "bank conflict", "latency", "DRAM"]
    assert [line.partition(":")[0] for line in unlinked(page, terms)] == ["warp", "bank", "latency"]


def test_reference_pages_are_left_alone(site):
    page = BeautifulSoup(
        (site.folder / "chapters/changelog.html").read_text("utf-8"), "html.parser"
    ).select_one("article")
    assert "warp" in page.get_text() and page.select("a[href*='#term-']") == []


# --- the rule ---


def document(*blocks: nodes.Node) -> nodes.document:
    made = new_document("chapters/99_none")
    made += [
        block if isinstance(block, nodes.Node) else nodes.paragraph("", block) for block in blocks
    ]
    return made


def links(made: nodes.document) -> list[tuple[str, str]]:
    return [(link["reftarget"], link.astext()) for link in made.findall(addnodes.pending_xref)]


def linked(
    *blocks, terms=("warp", "bank", "bank conflict", "SM", "latency", "line")
) -> list[tuple[str, str]]:
    made = document(*blocks)
    link_first_uses(made, terms, "chapters/99_none")
    return links(made)


def test_a_term_is_linked_once_singular_or_plural():
    assert linked("Warps wait. A warp has SMs.", "The latencies\nof a warp") == [
        ("warp", "Warps"),
        ("SM", "SMs"),
        ("latency", "latencies"),
    ]


def test_the_text_stays_as_it_was():
    made = document("Two warps, one bank\nconflict.")
    before = made.astext()
    link_first_uses(made, ["warp", "bank", "bank conflict"], "chapters/99_none")
    assert made.astext() == before and len(links(made)) == 2


def test_a_longer_term_hides_a_shorter_one():
    assert linked("No bank conflict. Each bank") == [
        ("bank conflict", "bank conflict"),
        ("bank", "bank"),
    ]


def test_parts_of_words_and_other_case_are_no_uses():
    assert linked("warped, a sub-warp, banking, sm, a line") == []


def test_what_is_no_running_text_is_skipped():
    head = nodes.thead("", nodes.row("", nodes.entry("", nodes.paragraph("", "warp"))))
    skipped = [
        nodes.section("", nodes.title("", "warp")),
        nodes.paragraph("", "", nodes.literal("", "warp"), nodes.math("", "warp")),
        nodes.literal_block("", "warp"),
        nodes.paragraph("", "", nodes.reference("", "warp", refuri="x")),
        nodes.raw("", "warp"),
        nodes.table("", nodes.tgroup("", head)),
        nodes.container("", nodes.paragraph("", "warp"), classes=["cell_output"]),
    ]
    assert linked(*skipped) == []
    assert linked(*skipped, "and the warp") == [("warp", "warp")]


def test_what_an_author_linked_is_not_linked_again():
    own = addnodes.pending_xref("", nodes.inline("", "Warps"), reftype="term", reftarget="warp")
    assert linked(nodes.paragraph("", "", own), "a warp") == [("warp", "Warps")]


def test_pending_references_other_than_to_terms_are_skipped():
    assert addnodes.pending_xref in SKIPPED
    other = addnodes.pending_xref("", nodes.inline("", "warp"), reftype="doc", reftarget="x")
    assert links(document(nodes.paragraph("", "", other))) == linked(
        nodes.paragraph("", "", other.deepcopy())
    )


# --- the glossary ---


def test_ambiguous_words_are_terms_and_say_why(entries):
    assert set(AMBIGUOUS) <= set(entries)
    assert all(len(why.split()) >= 3 for why in AMBIGUOUS.values())


@pytest.mark.parametrize("name", NEEDED)
def test_glossary_has(entries, name):
    assert name in entries


def test_definitions_are_short(entries):
    sentences = {
        name: len(re.findall(r"[.?!](?= [A-Z]|$)", text)) for name, text in entries.items()
    }
    assert {name: count for name, count in sentences.items() if not 1 <= count <= 3} == {}


@pytest.mark.parametrize(
    ("name", "kind"), [("float64", np.float64), ("float32", np.float32), ("float16", np.float16)]
)
def test_digits_of_float_types_are_numpys(entries, name, kind):
    info = np.finfo(kind)
    assert entries[name].startswith(
        f"A floating-point number of {info.bits} bits, {info.nmant + 1} of them significant"
    )


def test_bits_of_bfloat16_and_tf32(entries):
    """Sign, the 8 bits of float32's exponent, and all digits but the first."""
    exponent = np.finfo(np.float32).nexp
    assert (
        int(re.search(r"of 16 bits, (\d+) of them", entries["bfloat16"])[1])
        == 16 - 1 - exponent + 1
    )
    half = np.finfo(np.float16).nmant
    assert (
        entries["TF32"].startswith(f"The {1 + exponent + half} bits")
        and f"the {half + 1} significant bits" in entries["TF32"]
    )


def test_one_sentence_a_line():
    assert [line for line in SOURCE.splitlines() if re.search(r"(?<!\d)[.?!] [A-Z]", line)] == []
