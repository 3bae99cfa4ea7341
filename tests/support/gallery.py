"""The pages that show every widget: which shows which, and moving them."""

from __future__ import annotations

import random
import re
from importlib.resources import files

from support.paths import ROOT

TAG = re.compile(r'(?:widget|explore)\("ww-(\w+)"')
SCRIPTS = [
    file.read_text("utf-8")
    for file in files("warpwise.views").iterdir()
    if file.name.endswith(".js")
]
NAMES = sorted({name for script in SCRIPTS for name in TAG.findall(script)})
#: Stems of the pages, of which each keeps within the bytes that a page may have.
GALLERIES = ("reference_widgets", "reference_widgets_training", "reference_widgets_cluster")
TEXTS = {stem: (ROOT / f"chapters/{stem}.md").read_text("utf-8") for stem in GALLERIES}
INSIDE = {"requests": "burst"}  # a widget that another one's module makes
STATES = 12  # drawn for each widget

# Moves a widget's controls to places between 0 and 1, as a hand would, and returns how long picture
# and layout took.
MOVE = """(host, places) => {
    const form = host.shadowRoot.querySelector('form:not(.source)');
    const controls = [...form.elements]
        .filter((e) => e.matches('input, select') && e.type !== 'hidden');
    controls.forEach((control, i) => {
        const at = places[i % places.length];
        const type = control.type, wide = control.max - control.min;
        if (type === 'checkbox' || type === 'radio') control.checked = at > 0.5;
        else if (type === 'range') control.value = +control.min + Math.round(at * wide);
        else control.selectedIndex = Math.floor(at * control.options.length * 0.999);
    });
    const start = performance.now();
    form.dispatchEvent(new Event('input', { bubbles: true }));
    host.getBoundingClientRect();
    return performance.now() - start;
}"""


def gallery_of(name: str) -> str | None:
    """Return the page on which a widget is called, None if there is none."""
    call = re.compile(rf"^{INSIDE.get(name, name)}\.\w+\(", re.MULTILINE)
    return next((stem for stem, text in TEXTS.items() if call.search(text)), None)


def address(stem: str) -> str:
    """Return a page's place in the built site."""
    return f"chapters/{stem}.html"


def shown_on(stem: str) -> list[str]:
    """Return the names of the widgets that a page shows."""
    return [name for name in NAMES if gallery_of(name) == stem]


def hosts(page, name: str) -> list:
    """Return the widgets that are visible at once, outside tabs."""
    return page.locator(f"ww-{name}:not(ww-tabs *)").all()


def places(name: str) -> list[list[float]]:
    """Return positions of the controls: both ends, and states drawn from the widget's name."""
    draw = random.Random(name)
    return [[0.0], [1.0], *([draw.random() for _ in range(9)] for _ in range(STATES))]
