"""The widgets as anywidgets, for labs: the script and the data of the page's element, and what a
reader chose, back in Python."""

from __future__ import annotations

from functools import cache
from typing import Any

try:
    import anywidget
except ImportError as error:
    why = (
        "a widget that gives values back to Python needs anywidget (pip install anywidget); "
        "trace(...).show() does without"
    )
    raise ImportError(why) from error
import traitlets

from warpwise.views import html


class ViewWidget(anywidget.AnyWidget):
    """Made by ``View.widget()``.

    ``values`` are what the controls say, by name: read them, observe them, or set them."""

    data = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)


class BurstWidget(ViewWidget):
    """Made by ``burst.widget(trace)``, or ``burst.of_trace(trace).widget()``.

    ``line`` is the selected source line, 0 without one: read it, observe it, or set it."""

    _esm = html.script("requests")
    line = traitlets.Int()

    def __repr__(self) -> str:
        """The same for every kernel: notebooks keep this text, and are compared by it."""
        return "The kernel's global requests, by source line"

    @traitlets.observe("values")
    def _row_chosen(self, change: dict[str, Any]) -> None:
        self.line = self._chosen

    @traitlets.observe("line")
    def _line_set(self, change: dict[str, Any]) -> None:
        """Go to what wastes most on the line, unless the chosen row lies there already."""
        if self.line != self._chosen:
            opens = next(
                one for one in self.data["lines"] if one["opens"] and _line(one["row"]) == self.line
            )
            self.values = self.values | {"row": opens["row"], "step": opens["worst"]}

    @traitlets.validate("line")
    def _has_requests(self, proposal: dict[str, Any]) -> int:
        able = dict.fromkeys(_line(one["row"]) for one in self.data["lines"])
        if proposal["value"] not in (able or (0,)):
            lines = ", ".join(map(str, able))
            raise traitlets.TraitError(
                f"line {proposal['value']} has no request to show; lines that have: {lines}"
            )
        line: int = proposal["value"]
        return line

    @property
    def _chosen(self) -> int:
        return _line(self.values.get("row", "0"))


def widget(name: str, data: dict[str, Any], values: dict[str, Any]) -> ViewWidget:
    """Make the widget of a view: its script's name, its payload, and its controls' values."""
    return _of(name)(data=data, values=values)


@cache
def _of(name: str) -> type[ViewWidget]:
    """Return the class for one script: anywidget keeps the script with the class."""
    if name == "requests":
        return BurstWidget
    shown = f"The {name} widget"
    members = {"_esm": html.script(name), "__repr__": lambda self: shown}
    return type(f"{name.title()}Widget", (ViewWidget,), members)


def _line(row: str) -> int:
    return int(row.split()[0])
