"""The widgets as anywidgets, for labs: the script and the data of the page's element, and what a reader chose, back in Python."""

from __future__ import annotations

from functools import cache

import anywidget
import traitlets

from warpwise.views import html
from warpwise.views.view import View


class BurstWidget(anywidget.AnyWidget):
    """Made by ``burst.widget(trace)``. ``line`` is the selected source line: read it, observe it, or set it."""

    _esm = html.script("burst")
    data = traitlets.Dict().tag(sync=True)
    line = traitlets.Int().tag(sync=True)

    def __repr__(self) -> str:
        """The same for every kernel: notebooks keep this text, and are compared by it."""
        return "The kernel's global requests, by source line"


class ViewWidget(anywidget.AnyWidget):
    """Made by ``View.widget()``. ``values`` are what the controls say, by name: read them, observe them, or set them."""

    data = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)


@cache
def _of(name: str) -> type[ViewWidget]:
    """The class for one script: anywidget keeps the script with the class."""
    return type(f"{name.title()}Widget", (ViewWidget,), {"_esm": html.script(name), "__repr__": lambda self: f"The {name} widget"})


def widget(view: View) -> ViewWidget:
    """The widget of a view."""
    return _of(view.name)(data=view.payload, values=view.values)
