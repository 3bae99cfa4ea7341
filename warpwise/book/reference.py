"""The directives behind the reference pages: they read the code, so that the pages cannot fall behind it.

``{metrics-reference}`` lists every field of ``Metrics`` with its comment, ``{command-reference} MODULE COMMAND`` one command.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from typer import Typer
from typer.main import get_command

from warpwise.metrics import RATIOS, Metrics

MODULE = "warpwise.metrics"


class MetricsReference(SphinxDirective):
    """``{metrics-reference}``: the fields and properties of ``Metrics``, each as a Python attribute that pages can link to."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(ModuleAnalyzer.for_module(MODULE).srcname)
        text = [line for name, kind, comment in metric_comments() for line in attribute(name, kind, comment)]
        return parsed(self, text)


class CommandReference(SphinxDirective):
    """``{command-reference} warpwise.cli grade``: usage, text and options of one command of the Typer ``app`` in a module."""

    required_arguments = 2
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        module, path = self.arguments
        return parsed(self, command_lines(import_module(module).app, path))


def metric_comments() -> list[tuple[str, str, str]]:
    """(name, type, comment) of every counter, then of every figure that is derived from counters."""
    found = ModuleAnalyzer.for_module(MODULE).find_attr_docs()
    counters = [(f.name, f.type, " ".join(found["Metrics", f.name])) for f in fields(Metrics)]
    derived = [(name, getattr(Metrics, name).fget.__annotations__["return"], getattr(Metrics, name).__doc__) for name in RATIOS]
    return counters + derived


def attribute(name: str, kind: str, comment: str) -> list[str]:
    """MyST lines that describe one attribute; what is said of Nsight Compute gets a paragraph of its own."""
    ours, mark, theirs = comment.strip().partition("Nsight Compute:")
    body = [ours.strip()] + (["", f"*Nsight Compute:* {theirs.strip()}"] if mark else [])
    return [f"````{{py:attribute}} Metrics.{name}", f":type: {kind}", "", *body, "````", ""]


def command_lines(app: Typer, path: str) -> list[str]:
    """MyST lines for a command such as ``grade`` or ``labs build``; raises KeyError for one that does not exist."""
    command = get_command(app)
    for part in path.split():
        command = command.commands[part]
    name = f"warpwise {path}"
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    lines = ["```console", f"$ {usage}", "```", "", *(command.help or "").splitlines(), ""]
    return lines + [line for parameter in command.params for line in parameter_lines(parameter, context)]


def parameter_lines(parameter, context) -> list[str]:
    """A definition-list item for an argument or option."""
    record = parameter.get_help_record(context)
    if record is None:
        return []
    spelling, text = record
    return [f"`{spelling}`", f": {text}", ""]


def parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Parse lines as the page's own markup."""
    holder = nodes.container()
    directive.state.nested_parse(StringList(lines, directive.get_source_info()[0]), directive.content_offset, holder)
    return holder.children
