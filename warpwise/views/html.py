"""A widget's files as a page needs them: its script, its styles, and the HTML element with both.

Each widget is an ES module that imports the shared ones, ``core.js``, ``draw.js`` and so on. A page
opened from a disk cannot load modules, and anywidget takes a single one, so ``script`` joins a
widget's modules into one and leaves out their import lines and comments. Nothing else changes and
nothing is built: edit a file, and the next kernel that draws the widget has it. Joined, modules
share one scope: each name is defined in one of them, and imported unchanged, on one line.

The element holds, in this order, a picture and text that are there before any script runs, the data
as JSON, and the script. Each copy of the script is the whole script, and defines the element only
once, so a page may hold any number of widgets from any number of cells."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

SCRIPT_BUDGET = 10_000  #: bytes of a widget's script, gzipped
DATA_BUDGET = 60_000  #: bytes of a widget's data, gzipped


@cache
def modules(name: str) -> tuple[str, ...]:
    """Return the modules of a widget's script: each once, after those that it imports."""
    imports = [line for line in _text(f"{name}.js").splitlines() if line.startswith("import ")]
    imported = [line.split('"./')[1].removesuffix('.js";') for line in imports]
    return (*dict.fromkeys(module for one in imported for module in modules(one)), name)


@cache
def script(name: str) -> str:
    """Return a widget's script: one ES module, joined from all that it consists of."""
    lines = [line for module in modules(name) for line in _text(f"{module}.js").splitlines()]
    return "\n".join(line for line in lines if not line.lstrip().startswith(("import ", "//")))


@cache
def style(name: str) -> str:
    """Return a widget's style sheet: those of its modules, each named like its module."""
    return "".join(_sheets(modules(name)))


@cache
def picture_sheets(name: str) -> tuple[str, ...]:
    """Return the style sheets that the picture needs where it stands alone."""
    return tuple(_sheets(module for module in modules(name) if module != "core"))


def element(name: str, data: dict[str, Any], fallback: str) -> str:
    """Return the custom element ``ww-<name>``, complete in itself."""
    packed = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<ww-{name} style="display:block">{fallback}'
        f'<script type="application/json">{packed}</script></ww-{name}>{script_element(name)}'
    )


def script_element(name: str) -> str:
    """Return the script as an HTML element; the book keeps one of each on a page."""
    return f'<script type="module">{script(name)}</script>'


def _sheets(names: Iterable[str]) -> list[str]:
    sheets = [_path(f"{name}.css") for name in names]
    return [sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.is_file()]


def _text(name: str) -> str:
    return _path(name).read_text(encoding="utf-8")


def _path(name: str) -> Traversable:
    return files("warpwise.views") / name
