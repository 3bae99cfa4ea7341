"""A widget as a value: its script's name, its data and its controls. It shows itself on a page, in a lab, and as text.

``form.js`` and ``explore.js`` move it in a browser. The picture that stands on a page before any script runs is drawn by the same
script, which QuickJS runs here: it is written once. Where QuickJS is not installed, as in a browser's Python, the
picture waits for the script.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

from warpwise.views import controls, html

NEEDED = "to show this without a browser takes QuickJS: pip install quickjs-ng"
STILL_WIDTH = 620  #: pixels, before a script knows the room: a column of text on a screen

# Where the script puts picture, numbers and sentence.
STAGE = '<div class="picture"></div><dl></dl><div aria-live="polite"><p class="text"></p></div>'
# What the script's end would ask a page for; then the one function that is called from here.
_PAGELESS = "const customElements = { get: () => true };\n"
_CALL = "\nglobalThis.shown = (data, values, width) => JSON.stringify(show(JSON.parse(data), JSON.parse(values), width));"


@dataclass(frozen=True)
class View:
    """What Jupyter shows of it is complete in itself; its text is the sentence under the picture.

    ``data``: what the script needs, JSON-ready. ``above``: HTML above the controls, such as a note on what is modelled. ``plain``: what
    stands in its place where no script runs, if that is something else.
    """

    name: str
    data: dict = field(repr=False)
    controls: tuple[controls.Control, ...] = ()
    above: str = ""
    plain: str = ""

    @property
    def values(self) -> dict:
        """The controls' first values, by name."""
        return {control.name: control.value for control in self.controls}

    @cached_property
    def shown(self) -> dict:
        """What the script shows at first: ``picture``, ``text`` and maybe ``rows``. Both are empty without QuickJS."""
        try:
            return shown(self.name, self.data, self.values)
        except ImportError:
            return {"picture": "", "text": ""}

    @property
    def sentence(self) -> str:
        return self.shown["text"]

    @property
    def payload(self) -> dict:
        """All that the script gets: the data, the style and the controls."""
        body = f"{self.above}{controls.form(self.controls)}{STAGE}"
        return {"style": html.style(self.name), "body": body, **self.data}

    def widget(self):
        """The same for a lab, as an anywidget. Its ``values`` are what the reader chose: read them, observe them, or set them."""
        from warpwise.views.lab import widget  # here, for a page of the book needs no anywidget

        return widget(self)

    def svg(self, width: float = STILL_WIDTH) -> str:
        """The first picture alone, for a file. Raises ImportError without QuickJS."""
        return shown(self.name, self.data, self.values, width)["picture"]

    def _repr_html_(self) -> str:
        return html.element(self.name, self.payload, f"{self.plain or self.above}{still(self.name, self.shown)}")

    def __repr__(self) -> str:
        """The sentence, or what it takes to have one."""
        return self.sentence or f"({NEEDED})"


def shown(name: str, data: dict, values: dict, width: float = STILL_WIDTH) -> dict:
    """What the ``show`` of a widget's script makes of data and values, without a browser. Raises ImportError without QuickJS."""
    try:
        import quickjs
    except ImportError as error:
        raise ImportError(NEEDED) from error
    context = quickjs.Context()
    context.eval(_PAGELESS + html.script(name).replace("export default ", "const made = ") + _CALL)
    return json.loads(context.get("shown")(json.dumps(data), json.dumps(values), width))


def still(name: str, made: dict) -> str:
    """Picture and sentence for a page that runs no script. The picture scrolls in a narrow one, for its letters must not shrink."""
    scrolls = '<div style="overflow-x:auto;margin-top:.6em" tabindex="0" role="group" aria-label="Picture">'
    return f"{scrolls}<style>{html.picture_style(name)}</style>{made['picture']}</div><p>{escape(made['text'])}</p>"
