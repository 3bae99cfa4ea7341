"""What every widget's Python side needs: its script and style, and the HTML element that carries all a page must have.

The element holds, in this order, a picture and text that are there before any script runs, the data as JSON, and the script. Each copy
of the script is the whole script, and defines the element only once, so a page may hold any number of widgets from any number of cells.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

SCRIPT_BUDGET = 12_000  #: bytes of a widget's script, core included
DATA_BUDGET = 60_000  #: bytes of a widget's data, gzipped


@cache
def script(name: str) -> str:
    """The ES module of a widget: ``core.js`` and its own script in one, without comments and indentation."""
    lines = [line.strip() for part in ("core", name) for line in _read(f"{part}.js").splitlines()]
    return "\n".join(_plain(line) for line in lines if line and not line.startswith(("//", "import ")))


@cache
def style(name: str) -> str:
    """The style sheet of a widget: what all share, then its own."""
    return _read("core.css") + _read(f"{name}.css")


def picture_style(name: str) -> str:
    """The part of the style sheet that the picture alone needs."""
    return _read(f"{name}.css")


def element(name: str, data: dict, fallback: str) -> str:
    """The custom element ``ww-<name>`` with its fallback, its data and its script: complete in itself."""
    return (
        f'<ww-{name} style="display:block">{fallback}<script type="application/json">{_json(data)}</script></ww-{name}>'
        f'<script type="module">{script(name)}</script>'
    )


def slider(name: str, label: str, least: int, most: int, value: int) -> str:
    """A range input with its label and, beside it, its value."""
    control = f'<input type="range" id="{name}" name="{name}" min="{least}" max="{most}" value="{value}">'
    return _field(name, f'<label for="{name}">{label}</label><output for="{name}">{value}</output>', control)


def choice(name: str, label: str, options: dict[str, str], value: str) -> str:
    """A select input; ``options`` maps what the script sees to what the reader sees."""
    listed = "".join(f'<option value="{key}"{" selected" if key == value else ""}>{text}</option>' for key, text in options.items())
    return _field(name, f'<label for="{name}">{label}</label>', f'<select id="{name}" name="{name}">{listed}</select>')


def _field(name: str, head: str, control: str) -> str:
    return f'<div class="field {name}"><span>{head}</span>{control}</div>'


def _plain(line: str) -> str:
    """The line without ``export``, which only the default (what a lab asks for) keeps: in one file nothing else is imported."""
    return line if line.startswith("export default ") else line.removeprefix("export ")


def _json(data: dict) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _read(name: str) -> str:
    return (files("warpwise.views") / name).read_text(encoding="utf-8")
