"""The card of a check in Chromium: contrast and names by axe, on a phone, in each host's themes."""

from __future__ import annotations

import pytest
from support.cards import CARDS
from support.pages import violations

PAGE = """<!doctype html><html lang="en" {host}><meta name="viewport" content="width=device-width">
<title>Cards</title><style>body {{ margin: 8px; background: {ground} }}</style>
<body><main><h1 style="color: {ink}">Cards</h1>
<h2 style="color: {ink}">1. An exercise</h2>{cards}</main></body></html>"""
#: by the reader's own preference: what hosts say of their theme, and whether it is dark
HOSTS = [
    ("light", "", False),
    ("dark", "", True),
    ("light", 'data-jp-theme-light="false"', True),  # JupyterLab
    ("dark", 'data-jp-theme-light="true"', False),
    ("light", 'class="vscode-dark"', True),  # VS Code
    ("light", 'theme="dark"', True),  # Colab
    ("dark", 'data-theme="light"', False),  # the book
]
GROUND = "getComputedStyle(document.querySelector('.ww-card')).backgroundColor"
# Elements of a card that reach beyond it.
BEYOND = """[...document.querySelectorAll('.ww-card')].flatMap(card =>
    [...card.querySelectorAll('*')].filter(one =>
        one.getBoundingClientRect().right > card.getBoundingClientRect().right + 1))
    .map(one => one.outerHTML.slice(0, 80))"""


@pytest.fixture
def shown(browser):
    """Open a page with a card of every kind, as a host with these words in its root shows it."""
    opened = []

    def show(scheme: str, host: str = "", dark: bool = False, width: int = 900):
        opened.append(
            browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        )
        ground, ink = ("#111", "#eee") if dark else ("#fff", "#111")
        cards = "\n".join(card.html() for card in CARDS.values())
        opened[-1].set_content(PAGE.format(host=host, ground=ground, ink=ink, cards=cards))
        return opened[-1]

    yield show
    for page in opened:
        page.close()


@pytest.mark.parametrize(("scheme", "host", "dark"), HOSTS)
def test_a_card_wears_its_hosts_theme_and_axe_finds_nothing(shown, scheme, host, dark):
    page = shown(scheme, host, dark)
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    assert page.evaluate(GROUND) == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
    assert violations(page) == []


@pytest.mark.parametrize("width", [280, 360])
def test_on_a_phone_nothing_reaches_beyond_a_card(shown, width: int):
    page = shown("light", width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(BEYOND) == []


def test_a_screen_reader_hears_verdict_cases_and_gauges_by_name(shown):
    page = shown("light")
    card = page.get_by_role("group", name="Check of transpose: Right, but over budget")
    assert card.get_by_role("heading", level=3).inner_text().endswith("transpose")
    assert card.get_by_role("list", name="Cases").get_by_role("listitem").count() == 3
    meter = card.get_by_role("meter", name="shared_bank_conflicts")
    assert meter.get_attribute("aria-valuetext") == "16 of at most 0"
