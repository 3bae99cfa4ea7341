"""The sidebar: the course open, the rest folded, and the part open that the page is in."""

from __future__ import annotations

from warpwise.book.sidebar import fold

CAPTION = (
    '<p aria-level="2" class="caption" role="heading"><span class="caption-text">{}</span></p>'
)
LINKS = '<ul class="nav"><li class="toctree-l1{1}"><a href="{0}.html">{0}</a></li></ul>\n'


def contents(current: str) -> str:
    names = "Course", "Teach", "Look"
    parts = (CAPTION.format(n) + LINKS.format(n, " current" * (n == current)) for n in names)
    return f"<nav>{''.join(parts)}</nav>"


def test_all_parts_but_the_first_are_folded():
    made = fold(contents("Course"))
    assert made.count("<details") == made.count("</details>") == 2
    assert made.index("Course") < made.index("<details") and "<details open" not in made
    assert made.endswith("</ul></details>\n</nav>")


def test_the_part_of_the_page_stands_open():
    opened = [part for part in fold(contents("Look")).split("<details")[1:] if " open" in part[:30]]
    assert len(opened) == 1 and "Look.html" in opened[0]


def test_nothing_else_is_changed():
    assert fold("<nav>no parts</nav>") == "<nav>no parts</nav>"
