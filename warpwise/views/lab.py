"""The widgets as anywidgets, for labs: the script and the data of the page's element, and what a reader chose, back in Python."""

from __future__ import annotations

import anywidget
import traitlets

from warpwise.views import html


class BurstWidget(anywidget.AnyWidget):
    """Made by ``burst.widget(trace)``. ``line`` is the selected source line: read it, observe it, or set it."""

    _esm = html.script("burst")
    data = traitlets.Dict().tag(sync=True)
    line = traitlets.Int().tag(sync=True)

    def __repr__(self) -> str:
        """The same for every kernel: notebooks keep this text, and are compared by it."""
        return "The kernel's global requests, by source line"
