"""The widgets as anywidgets, for labs: the script and the data of the page's element, and what a reader chose, back in Python."""

from __future__ import annotations

from functools import cache

try:
    import anywidget
except ImportError as error:
    why = "a widget that gives values back to Python needs anywidget (pip install anywidget); trace(...).show() does without"
    raise ImportError(why) from error
import traitlets

from warpwise.views import html
from warpwise.views.view import View


class ViewWidget(anywidget.AnyWidget):
    """Made by ``View.widget()``. ``values`` are what the controls say, by name: read them, observe them, or set them."""

    data = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)


class BurstWidget(ViewWidget):
    """Made by ``burst.widget(trace)``, or ``burst.of_trace(trace).widget()``.

    ``line`` is the selected source line, 0 without one: read it, observe it, or set it.
    """

    _esm = html.script("requests")
    line = traitlets.Int()

    def __repr__(self) -> str:
        """The same for every kernel: notebooks keep this text, and are compared by it."""
        return "The kernel's global requests, by source line"

    @traitlets.observe("values")
    def _row_chosen(self, change: dict) -> None:
        self.line = _line(self.values.get("row", "0"))

    @traitlets.observe("line")
    def _line_set(self, change: dict) -> None:
        """Go to what wastes most on the line, unless the row that was chosen lies there already."""
        if self.line != _line(self.values.get("row", "0")):
            opens = next(one for one in self.data["lines"] if one["opens"] and _line(one["row"]) == self.line)
            self.values = self.values | {"row": opens["row"], "step": opens["worst"]}

    @traitlets.validate("line")
    def _has_requests(self, proposal: dict) -> int:
        able = dict.fromkeys(_line(one["row"]) for one in self.data["lines"])
        if proposal["value"] not in (able or (0,)):
            raise traitlets.TraitError(f"line {proposal['value']} has no request to show; lines that have: {', '.join(map(str, able))}")
        return proposal["value"]


def _line(row: str) -> int:
    return int(row.split()[0])


@cache
def _of(name: str) -> type[ViewWidget]:
    """The class for one script: anywidget keeps the script with the class."""
    if name == "requests":
        return BurstWidget
    return type(f"{name.title()}Widget", (ViewWidget,), {"_esm": html.script(name), "__repr__": lambda self: f"The {name} widget"})


def widget(view: View) -> ViewWidget:
    """The widget of a view."""
    return _of(view.name)(data=view.payload, values=view.values)
