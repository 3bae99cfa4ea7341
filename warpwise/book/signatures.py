"""The directives of the pages on the simulator and its file format: calls, records and host names.

``{call-reference} warpwise.simt.trace`` lists the arguments of a function, ``{fields-reference}
warpwise.traces.Event`` the fields, properties and methods of a class, ``{host-reference} arrays``
the host's names in one module of ``warpwise.cuda``. Docstrings explain an argument in a sentence
that begins with its name; the comment above a field explains the field.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from types import FunctionType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from warpwise import devices
from warpwise.book.markup import one_line, parsed

# members of a dataclass besides its fields
ASKED = (property, cached_property, staticmethod, FunctionType)
DEVICE_NAMES = {
    device: name for name, device in vars(devices).items() if isinstance(device, devices.Device)
}


class CallReference(SphinxDirective):
    """``{call-reference} warpwise.simt.trace``: a function, with its arguments and defaults."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return parsed(self, call_lines(named(self)))


class FieldsReference(SphinxDirective):
    """``{fields-reference} warpwise.traces.Event``: a class, with its fields and members."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        record = named(self)
        about = (inspect.getdoc(record) or "").splitlines()
        return parsed(self, [*about, "", *bullets(members(record))])


class HostReference(SphinxDirective):
    """``{host-reference} arrays``: the names of ``warpwise.cuda`` that one module defines."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = import_module(f"warpwise.cuda.{self.arguments[0]}")
        self.env.note_dependency(module.__file__ or "")
        return parsed(self, bullets(host_names(module.HOST)))


def named(directive: SphinxDirective) -> Any:
    """Return the object that a directive's argument names, and rebuild the page if it changes."""
    module, _, name = directive.arguments[0].rpartition(".")
    found = getattr(import_module(module), name)
    directive.env.note_dependency(inspect.getsourcefile(found) or "")
    return found


def bullets(items: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return MyST lines for (name, type, meaning); type and meaning may be empty."""
    return [
        f"- `{name}`{kind and f' *{kind}*'}{meaning and f': {meaning}'}"
        for name, kind, meaning in items
    ]


def once(text: str) -> str:
    """Return a docstring without the names at its head, to follow the names themselves."""
    return re.sub(r"^(``[^`]+``(, | and )?)+(: |\.$)", "", text)


def call_lines(function: Callable[..., object]) -> list[str]:
    """Return MyST for a call: its summary, its arguments, and the errors that it raises."""
    first, explained, *rest = re.split(r"\n\n", inspect.getdoc(function) or "")
    meanings = argument_meanings(explained)
    heads = []
    for name, parameter in inspect.signature(function).parameters.items():
        # an argument without a sentence of its own is named in another's
        meaning = meanings.get(name) or sentence_with(name, f"{first} {explained}")
        heads += [f"`{spelled(parameter)}`", f": {meaning}", ""]
    paragraphs = [line for paragraph in rest for line in (one_line(paragraph), "")]
    return [one_line(first), "", *heads, *paragraphs]


def spelled(parameter: inspect.Parameter) -> str:
    """Return ``name``, ``name=default`` or ``*name``."""
    if parameter.default is not inspect.Parameter.empty:
        return f"{parameter.name}={shown_default(parameter.default)}"
    several, keywords = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    star = "*" if parameter.kind is several else "**" if parameter.kind is keywords else ""
    return star + parameter.name


def shown_default(value: Any) -> str:
    if isinstance(value, devices.Device):
        return DEVICE_NAMES[value]
    return f"np.{value.__name__}" if getattr(value, "__module__", "") == "numpy" else repr(value)


def argument_meanings(text: str) -> dict[str, str]:
    """Return argument -> its sentences, from a paragraph whose explanations begin with names."""
    found: dict[str, str] = {}
    for part in re.split(r"(?<=\.)\s+(?=``\w+(?:=\w+)?``)", text):
        heads, colon, meaning = part.partition(": ")
        names = re.findall(r"``(\w+)(?:=\w+)?``", heads)
        listed = colon and re.fullmatch(r"(``\w+``(, )?)+", heads)
        told = one_line(meaning if listed else part)
        found |= dict.fromkeys(names if listed else names[:1], told)
    return found


def sentence_with(name: str, text: str) -> str:
    """Return the sentence of a text that names an argument; "" if none does."""
    sentences = re.split(r"(?<=\.)\s+", one_line(text))
    return once(next((sentence for sentence in sentences if f"``{name}``" in sentence), ""))


def members(record: type) -> list[tuple[str, str, str]]:
    """Return a dataclass's fields with comments, and any class's public members with docstrings."""
    comments = ModuleAnalyzer.for_module(record.__module__).find_attr_docs()
    own = [
        (f.name, str(f.type), one_line(" ".join(comments.get((record.__name__, f.name), ()))))
        for f in (fields(record) if is_dataclass(record) else ())
        if not f.name.startswith("_")
    ]
    public = {name: value for name, value in vars(record).items() if not name.startswith("_")}
    more = [asked(name, value) for name, value in public.items() if isinstance(value, ASKED)]
    # a method without a docstring is for the package itself
    return own + [item for item in more if item[1] or item[2]]


def asked(name: str, value: Any) -> tuple[str, str, str]:
    """Return a property by its name, a method by its call."""
    if isinstance(value, property | cached_property):
        function = value.fget if isinstance(value, property) else value.func
        return name, function.__annotations__.get("return", ""), doc(value)
    function = value.__func__ if isinstance(value, staticmethod) else value
    return f"{name}({arguments(function)})", "", doc(value)


def host_names(host: dict[str, object]) -> list[tuple[str, str, str]]:
    """Return (names, "", meaning) of each object once, under all of its names."""
    names: dict[int, list[str]] = {}
    for name, value in host.items():
        names.setdefault(id(value), []).append(name)
    return [
        ("`, `".join(calls(found, host[found[0]])), "", once(doc(host[found[0]])))
        for found in names.values()
    ]


def calls(names: list[str], value: object) -> list[str]:
    """Return ``cuda.name(arguments)`` and further names without arguments, as plain values have."""
    if not callable(value):
        return [f"cuda.{name}" for name in names]
    return [f"cuda.{names[0]}({arguments(value)})", *(f"cuda.{name}" for name in names[1:])]


def arguments(function: Callable[..., object]) -> str:
    found = inspect.signature(function).parameters.values()
    return ", ".join(spelled(p) for p in found if p.name != "self" and not p.name.startswith("_"))


def doc(value: object) -> str:
    """Return the first paragraph of the docstring written for this value, on one line."""
    owner = value if inspect.isroutine(value) or isinstance(value, (type, *ASKED)) else type(value)
    return one_line((owner.__doc__ or "").strip().partition("\n\n")[0])


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives."""
    app.add_directive("call-reference", CallReference)
    app.add_directive("fields-reference", FieldsReference)
    app.add_directive("host-reference", HostReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
