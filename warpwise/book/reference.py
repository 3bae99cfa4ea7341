"""The directives of the reference pages, which read the code so that pages cannot fall behind it.

``{metrics-reference} GROUP`` lists metrics with what they mean, their units and formulas,
``{metrics-table}`` their names in Nsight Compute, ``{command-reference} MODULE COMMAND`` describes
one command, and ``{kernel-ladder} MODULE`` the steps of a module of reference kernels.
"""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from inspect import cleandoc
from typing import Any, cast

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from typer import Typer
from typer.main import get_command

from warpwise import metrics
from warpwise.book.markup import parsed
from warpwise.kernels.step import Step
from warpwise.metrics import ABOUT, Metrics, counters
from warpwise.metrics.about import GROUPS, Derived

#: An option in a sentence, where two hyphens would become a dash.
OPTION = re.compile(r"(?<![`\w-])(--[a-z][a-z-]*)")


class MetricsReference(SphinxDirective):
    """``{metrics-reference} global``: the metrics of one group, as objects that pages link to."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        note_sources(self.env)
        wanted = self.arguments[0]
        chosen = [name for name, about in ABOUT.items() if about.group == wanted]
        if not chosen:
            raise self.error(f"no metric is in the group {wanted!r}; there are {', '.join(GROUPS)}")
        return parsed(self, [line for name in chosen for line in attribute(name)])


class MetricsTable(SphinxDirective):
    """``{metrics-table}``: a line for each counter with a name in Nsight Compute."""

    def run(self) -> list[nodes.Node]:
        note_sources(self.env)
        names = nsight_names().items()
        rows = [f"| [`{name}`](#Metrics.{name}) | `{theirs}` |" for name, theirs in names]
        made = parsed(self, ["| Counter | in Nsight Compute |", "|---|---|", *rows])
        cast(nodes.table, made[0])["classes"].append("ww-names")
        return made


class CommandReference(SphinxDirective):
    """``{command-reference} warpwise.cli grade``: a command of the Typer ``app`` in a module."""

    required_arguments = 2
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        module, path = self.arguments
        return parsed(self, command_lines(import_module(module).app, path))


class KernelLadder(SphinxDirective):
    """``{kernel-ladder} softmax``: the steps of a module of ``warpwise.kernels``, in its words."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = import_module(f"warpwise.kernels.{self.arguments[0]}")
        self.env.note_dependency(module.__file__ or "")
        about = cleandoc(module.__doc__ or "").split("\n\n")[0].replace("``", "`")
        return parsed(self, [about, "", *map(ladder_item, module.STEPS)])


def ladder_item(step: Step) -> str:
    """Return a step's line, in which kernels with the same launch share one entry."""
    launches = dict.fromkeys(f"{built.threads} x {built.blocks_per_sm}" for built in step.built)
    return f"- `{step.name}`: {step.idea} ({', '.join(launches)})"


def note_sources(env: BuildEnvironment) -> None:
    """Have the page built again when the description of a metric changes."""
    for module in (metrics, counters):
        env.note_dependency(module.__file__ or "")


def nsight_names() -> dict[str, str]:
    """Return metric -> its name in Nsight Compute.

    A metric that is a sum of several there, a part of one, or only close to one, is left to its
    entry.
    """
    return {
        name: about.nsight for name, about in ABOUT.items() if about.nsight and about.divisor == 1
    }


def attribute(name: str) -> list[str]:
    """Return MyST for one metric, with its unit, formula and Nsight Compute note on own lines."""
    about = ABOUT[name]
    body = [about.meaning, "", f"*Unit:* {about.unit}."]
    body += ["", f"*Formula:* `{about.formula}`"] if about.formula else []
    body += ["", f"*Nsight Compute:* {about.counterpart}."] if about.counterpart else []
    head = [f"````{{py:attribute}} Metrics.{name}", f":type: {type_of(name)}"]
    return [*head, "", *body, "````", ""]


def type_of(name: str) -> str:
    """Return the type of a metric as its definition writes it."""
    metric = vars(Metrics).get(name)
    if isinstance(metric, Derived):
        return metric.type
    return str(next(f.type for f in fields(Metrics) if f.name == name))


def command_lines(app: Typer, path: str) -> list[str]:
    """Return MyST for a command such as ``grade`` or ``labs build``; raises KeyError for others."""
    command: Any = get_command(app)  # of click, or of the copy of it that Typer brings
    for part in path.split():
        command = command.commands[part]
    name = f"warpwise {path}"
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    about = OPTION.sub(r"`\1`", command.help or "").splitlines()
    lines = ["```console", f"$ {usage}", "```", "", *about, ""]
    lines += [line for one in command.params for line in parameter_lines(one, context)]
    word, _, example = (command.epilog or "").partition(": ")
    return lines + ([f"{word}:", "", "```console", f"$ {example}", "```", ""] if example else [])


def parameter_lines(parameter: Any, context: Any) -> list[str]:
    """Return a definition-list item for an argument or option."""
    record = parameter.get_help_record(context)
    if record is None:
        return []
    spelling, text = record
    return [f"`{spelling}`", ": " + OPTION.sub(r"`\1`", text), ""]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives."""
    app.add_directive("metrics-reference", MetricsReference)
    app.add_directive("metrics-table", MetricsTable)
    app.add_directive("command-reference", CommandReference)
    app.add_directive("kernel-ladder", KernelLadder)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
