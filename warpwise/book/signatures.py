"""The directives behind the pages of the simulator and of its file format: calls and records, from their signatures and docstrings.

``{call-reference} warpwise.simt.trace`` lists the arguments of a function, ``{fields-reference} warpwise.trace.Event`` the fields and
properties of a dataclass, ``{host-reference} arrays`` the host's names in one module of ``warpwise.cuda``. A docstring that explains
arguments does so in sentences that begin with their names; a field is explained by the comment beside it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import fields
from functools import cached_property
from importlib import import_module
from types import FunctionType

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

from warpwise import devices
from warpwise.book.reference import parsed

ASKED = (property, cached_property, staticmethod, FunctionType)  # what a dataclass has besides its fields
DEVICE_NAMES = {device: name for name, device in vars(devices).items() if isinstance(device, devices.Device)}


class CallReference(SphinxDirective):
    """``{call-reference} warpwise.simt.trace``: a function's signature, what it does, its arguments with their defaults."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return parsed(self, call_lines(named(self)))


class FieldsReference(SphinxDirective):
    """``{fields-reference} warpwise.trace.Event``: what a dataclass is, what it holds, and what it can be asked for."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        record = named(self)
        return parsed(self, [*inspect.getdoc(record).splitlines(), "", *bullets(members(record))])


class HostReference(SphinxDirective):
    """``{host-reference} arrays``: the names of ``warpwise.cuda`` that one of its modules brings."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = import_module(f"warpwise.cuda.{self.arguments[0]}")
        self.env.note_dependency(module.__file__)
        return parsed(self, bullets(host_names(module.HOST)))


def named(directive: SphinxDirective):
    """What a directive's argument names, the last part of it in the module of the rest."""
    module, _, name = directive.arguments[0].rpartition(".")
    found = getattr(import_module(module), name)
    directive.env.note_dependency(inspect.getsourcefile(found))
    return found


def bullets(items: Iterable[tuple[str, str, str]]) -> list[str]:
    """(what, its type, what it means) -> MyST lines; type and meaning may be empty."""
    return [f"- `{what}`{kind and f' *{kind}*'}{meaning and f': {meaning}'}" for what, kind, meaning in items]


def once(text: str) -> str:
    """A docstring without the names at its head, for where they stand before it already."""
    return re.sub(r"^(``[^`]+``(, | and )?)+(: |\.$)", "", text)


def call_lines(function) -> list[str]:
    """MyST lines: what the call does, its arguments, what it raises."""
    first, explained, *rest = re.split(r"\n\n", inspect.getdoc(function))
    meanings = argument_meanings(explained)
    heads = []
    for name, parameter in inspect.signature(function).parameters.items():
        # What has no sentence of its own is named in another's.
        meaning = meanings.get(name) or sentence_with(name, f"{first} {explained}")
        heads += [f"`{spelled(parameter)}`", f": {meaning}", ""]
    return [one_line(first), "", *heads, *(line for paragraph in rest for line in (one_line(paragraph), ""))]


def spelled(parameter: inspect.Parameter) -> str:
    """``name``, ``name=default`` or ``*name``."""
    star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    if parameter.default is inspect.Parameter.empty:
        return star + parameter.name
    return f"{parameter.name}={shown_default(parameter.default)}"


def shown_default(value) -> str:
    if isinstance(value, devices.Device):
        return DEVICE_NAMES[value]
    return f"np.{value.__name__}" if getattr(value, "__module__", "") == "numpy" else repr(value)


def argument_meanings(text: str) -> dict[str, str]:
    """Argument -> sentences that explain it, from a paragraph in which each explanation begins with a name or names."""
    found = {}
    for part in re.split(r"(?<=\.)\s+(?=``\w+(?:=\w+)?``)", text):
        heads, colon, meaning = part.partition(": ")
        names = re.findall(r"``(\w+)(?:=\w+)?``", heads)
        listed = colon and re.fullmatch(r"(``\w+``(, )?)+", heads)
        found |= dict.fromkeys(names if listed else names[:1], one_line(meaning if listed else part))
    return found


def sentence_with(name: str, text: str) -> str:
    """The sentence of a text that names an argument; "" if none does."""
    sentences = re.split(r"(?<=\.)\s+", one_line(text))
    return once(next((sentence for sentence in sentences if f"``{name}``" in sentence), ""))


def members(record: type) -> list[tuple[str, str, str]]:
    """Fields of a dataclass with their comments, then its public properties and methods with their docstrings."""
    comments = ModuleAnalyzer.for_module(record.__module__).find_attr_docs()
    own = [(f.name, str(f.type), one_line(" ".join(comments.get((record.__name__, f.name), ())))) for f in fields(record)]
    more = [asked(name, value) for name, value in vars(record).items() if isinstance(value, ASKED) and not name.startswith("_")]
    return own + [item for item in more if item[1] or item[2]]  # a method that nobody describes is for the package itself


def asked(name: str, value) -> tuple[str, str, str]:
    """A property by its name, a method by its call."""
    if isinstance(value, property | cached_property):
        function = value.fget if isinstance(value, property) else value.func
        return name, function.__annotations__.get("return", ""), doc(value)
    function = value.__func__ if isinstance(value, staticmethod) else value
    return f"{name}({arguments(function)})", "", doc(value)


def host_names(host: dict[str, object]) -> list[tuple[str, str, str]]:
    """Each thing once, under all of its names."""
    names: dict[int, list[str]] = {}
    for name, value in host.items():
        names.setdefault(id(value), []).append(name)
    return [("`, `".join(calls(found, host[found[0]])), "", once(doc(host[found[0]]))) for found in names.values()]


def calls(names: list[str], value) -> list[str]:
    """``cuda.name(arguments)``; the second and later names without them, as they are the same. Values have no arguments."""
    if not callable(value):
        return [f"cuda.{name}" for name in names]
    return [f"cuda.{names[0]}({arguments(value)})", *(f"cuda.{name}" for name in names[1:])]


def arguments(function) -> str:
    return ", ".join(spelled(p) for p in inspect.signature(function).parameters.values() if p.name != "self" and not p.name.startswith("_"))


def doc(value) -> str:
    """The first paragraph of a docstring that was written for this value, on one line."""
    owner = value if inspect.isroutine(value) or isinstance(value, (type, *ASKED)) else type(value)
    return one_line((owner.__doc__ or "").strip().partition("\n\n")[0])


def one_line(text: str) -> str:
    return " ".join(text.split())


def setup(app: Sphinx) -> dict:
    """Called by Sphinx through ``app.setup_extension``."""
    app.add_directive("call-reference", CallReference)
    app.add_directive("fields-reference", FieldsReference)
    app.add_directive("host-reference", HostReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
