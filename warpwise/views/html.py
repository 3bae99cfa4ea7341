"""What a widget's Python side needs of its files: its script and style, and the HTML element that carries all a page must have.

The element holds, in this order, a picture and text that are there before any script runs, the data as JSON, and the script. Each copy
of the script is the whole script, and defines the element only once, so a page may hold any number of widgets from any number of cells.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

SCRIPT_BUDGET = 12_000  #: bytes of a widget's script, with what it imports
DATA_BUDGET = 60_000  #: bytes of a widget's data, gzipped

_FUNCTION = re.compile(r"const (\w+) = \(.*?\) => .*;$")
_IMPORT = re.compile(r'import .* from "\./(\w+)\.js";')
_NEEDLESS = re.compile(r"(?<=[;{,(\[])\n")  # a line's end that JavaScript does not look at


@cache
def script(name: str) -> str:
    """The ES module of a widget: what it imports and its own script in one, without comments, indentation and what it does not use."""
    lines = [line for part in _parts(name) for line in _lines(part)]
    everything = "\n".join(lines)
    return _NEEDLESS.sub("", "\n".join(line for line in lines if not _unused(line, everything)))


@cache
def style(name: str) -> str:
    """The style sheet of a widget: what all share, then its picture's."""
    return _read("core.css") + picture_style(name)


@cache
def picture_style(name: str) -> str:
    """The part of the style sheet that the picture alone needs: for the shapes of ``draw.js``, and the widget's own."""
    parts = _parts(name)
    shapes = _read("picture.css") if "draw" in parts else ""
    return shapes + "".join(style_of(part) for part in parts if part != "core" and _file(f"{part}.css").is_file())


def style_of(name: str) -> str:
    """One style sheet alone."""
    return _read(f"{name}.css")


def element(name: str, data: dict, fallback: str) -> str:
    """The custom element ``ww-<name>`` with its fallback, its data and its script: complete in itself."""
    return (
        f'<ww-{name} style="display:block">{fallback}<script type="application/json">{_json(data)}</script></ww-{name}>'
        f'<script type="module">{script(name)}</script>'
    )


def _parts(name: str) -> tuple[str, ...]:
    """The names of the modules that a module imports, and its own, each once, after those that it imports."""
    imported = [part for found in _IMPORT.findall(_read(f"{name}.js")) for part in _parts(found)]
    return (*dict.fromkeys(imported), name)


def _lines(name: str) -> list[str]:
    """A module without comments, indentation and imports. Of exports only the default is kept, which a lab asks for."""
    lines = [line.strip() for line in _read(f"{name}.js").splitlines()]
    kept = [line for line in lines if line and not line.startswith(("//", "import "))]
    return [line if line.startswith("export default ") else line.removeprefix("export ") for line in kept]


def _unused(line: str, everything: str) -> bool:
    """Whether a line makes a function, such as a shape of ``draw.js``, that no other place of the script names, unless as a tag."""
    made = _FUNCTION.match(line)
    return bool(made) and len(re.findall(rf"(?<!<)\b{made[1]}\b", everything)) == 1


def _json(data: dict) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _file(name: str):
    return files("warpwise.views") / name


def _read(name: str) -> str:
    return _file(name).read_text(encoding="utf-8")
