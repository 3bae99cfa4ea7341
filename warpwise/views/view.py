"""A widget as a value: its script's name, its data and its controls.

It shows itself on a page, in a lab and as text. ``form.js`` and ``explore.js`` move it in a
browser. The picture that stands on a page before any script runs is drawn by the same script, which
QuickJS runs here: it is written once. Without QuickJS, as in a browser's Python, the picture waits
for the script."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from warpwise.views import controls, html
from warpwise.views.frame import Frame, framed

if TYPE_CHECKING:
    from warpwise.views.lab import ViewWidget

NEEDED = "to show this without a browser takes QuickJS: pip install quickjs-ng"
STILL_WIDTH = 620  #: pixels, before a script knows the room: a column of text on a screen

Json = dict[str, Any]  #: what json.dumps takes: numbers, texts, lists and dictionaries

# Where the script puts picture, numbers and sentence.
STAGE = '<div class="picture"></div><dl></dl><div aria-live="polite"><p class="text"></p></div>'
# A page's registry of elements, which the script looks into, and the function to call from here.
_PAGELESS = "const customElements = { get: () => true };\n"
_CALL = """
globalThis.shown = (data, values, width) => {
  const { marks, ...made } = show(JSON.parse(data), JSON.parse(values), width);
  return JSON.stringify({ ...made, picture: made.picture.replace(/ data-[a-z]+="[^"]*"/g, "") });
};"""


@dataclass(frozen=True)
class View:
    """A widget. What Jupyter shows of it is complete in itself; its text is the sentence.

    ``data``: what the script needs, JSON-ready. ``above``: HTML above the controls, such as a note
    on what is modelled. ``plain``: HTML that stands in its place where no script runs, if that is
    something else. ``frame``: its title and question, and which controls are in sight."""

    name: str
    data: Json = field(repr=False)
    controls: tuple[controls.Control, ...] = ()
    above: str = ""
    plain: str = ""
    frame: Frame | None = None

    @property
    def values(self) -> Json:
        """The controls' first values, by name."""
        return {control.name: control.value for control in self.controls}

    @cached_property
    def shown(self) -> Json:
        """The first ``picture`` and ``text``, both empty without QuickJS, and maybe ``rows``."""
        try:
            return shown(self.name, self.data, self.values)
        except ImportError:
            return {"picture": "", "text": ""}

    @property
    def sentence(self) -> str:
        """The sentence under the first picture."""
        text: str = self.shown["text"]
        return text

    @property
    def payload(self) -> Json:
        """All that the script gets: the data, the style and the controls."""
        body = f"{framed(self.controls, self.above, self.frame)}{STAGE}"
        return {"style": html.style(self.name), "body": body, **self.data}

    def widget(self) -> ViewWidget:
        """Return the same for a lab, as an anywidget.

        Its ``values`` are what the reader chose: read them, observe them, or set them."""
        from warpwise.views.lab import widget  # here, because a page of the book needs no anywidget

        return widget(self.name, self.payload, self.values)

    def svg(self, width: float = STILL_WIDTH) -> str:
        """Draw the first picture alone, for a file. Raises ImportError without QuickJS."""
        picture: str = shown(self.name, self.data, self.values, width)["picture"]
        return picture

    def _repr_html_(self) -> str:
        fallback = f"{self.plain or self.above}{still(self.name, self.shown)}"
        return html.element(self.name, self.payload, fallback)

    def __repr__(self) -> str:
        """The sentence, or what it takes to have one."""
        return self.sentence or f"({NEEDED})"


def shown(name: str, data: Json, values: Json, width: float = STILL_WIDTH) -> Json:
    """Run a widget's ``show`` on data and values, without a browser.

    Raises ImportError without QuickJS."""
    try:
        import quickjs
    except ImportError as error:
        raise ImportError(NEEDED) from error
    context = quickjs.Context()
    context.module(_PAGELESS + html.script(name) + _CALL)
    made: Json = json.loads(context.get("shown")(json.dumps(data), json.dumps(values), width))
    return made


def still(name: str, made: Json) -> str:
    """Return picture and sentence for a page that runs no script.

    On a narrow page the picture scrolls, because its letters must not shrink."""
    scrolls = 'style="overflow-x:auto;margin-top:.6em" tabindex="0" role="group"'
    styles = "".join(f"<style>{sheet}</style>" for sheet in html.picture_sheets(name))
    picture = f'<div {scrolls} aria-label="Picture">{styles}{made["picture"]}</div>'
    return f"{picture}<p>{escape(made['text'])}</p>"
