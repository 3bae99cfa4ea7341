"""The directives behind the reference pages: they read the code, so that the pages cannot fall behind it.

``{metrics-reference} GROUP`` lists fields of ``Metrics`` with their comments, units and formulas, ``{metrics-table}`` all of them on a line
each, ``{command-reference} MODULE COMMAND`` one command.
"""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from typer import Typer
from typer.main import get_command

from warpwise.metrics import FIELDS, RATIOS, Metrics

MODULE = "warpwise.metrics"
OPTION = re.compile(r"(?<![`\w-])(--[a-z][a-z-]*)")  #: in a sentence, where two hyphens would become a dash

#: Group of the page -> the names in it; the first that fits counts.
GROUPS = {
    "atomics": r"atomics|.*atomic_.*",
    "global": r"global_(load|store)_.*|global_bytes_distinct",
    "shared": r"shared_(load|store)_.*",
    "mix": r"op_.*",
    "arithmetic": r"flops_fp\d+",
    "control": r"barriers|.*branches",
    "instructions": r"(warp|thread)_instructions|lanes_active",
    "derived": r".*",
}

#: What is counted, by the end of a name; the first that fits counts.
UNITS = {
    r"sectors_per_request.*": "sectors per request",
    r"flops_per_byte": "floating-point operations per byte, as (least, most)",
    r"(l2|dram)_bytes_moved": "bytes, as (least, most)",
    r"atomic_serialisation": "passes per request",
    r"warp_efficiency|fp64_share|instruction_mix": "share, from 0 to 1",
    r"lanes_active|warp_instructions": "instructions of warps",
    r"op_.*|thread_instructions": "instructions of threads",
    r".*requests": "requests of warps",
    r".*sectors(_distinct)?": "sectors",
    r".*bytes(_distinct|_moved)?": "bytes",
    r".*wavefronts|.*bank_conflicts": "wavefronts",
    r"atomics": "operations of threads",
    r".*_passes": "passes",
    r"barriers": "barriers of warps",
    r".*branches": "branches of warps",
    r"flops.*": "floating-point operations",
}

_SECTORS_DISTINCT = "global_load_sectors_distinct + global_store_sectors_distinct"
_SECTORS = "global_load_sectors + global_store_sectors"

#: How what is derived follows from counters, as Python; a test holds each equal to the property. A ratio over nothing is 0.
FORMULAS = {
    "warp_efficiency": "thread_instructions / (WARP_SIZE * warp_instructions)",
    "sectors_per_request_load": "global_load_sectors / global_load_requests",
    "sectors_per_request_store": "global_store_sectors / global_store_requests",
    "shared_bank_conflicts": "shared_load_bank_conflicts + shared_store_bank_conflicts",
    "atomic_requests": "global_atomic_requests + shared_atomic_requests",
    "atomic_serialisation": "atomic_passes / (global_atomic_requests + shared_atomic_requests)",
    "flops": "flops_fp16 + flops_fp32 + flops_fp64",
    "fp64_share": "flops_fp64 / (flops_fp16 + flops_fp32 + flops_fp64)",
    "instruction_mix": "{name: op[name] / sum(op.values()) for name in op}",
    "global_bytes_moved": f"SECTOR_BYTES * ({_SECTORS} + global_atomic_sectors)",
    "l1_bytes_moved": f"SECTOR_BYTES * ({_SECTORS})",
    "l2_bytes_moved": f"max(SECTOR_BYTES * ({_SECTORS_DISTINCT} + global_atomic_sectors), global_bytes_distinct), "
    f"SECTOR_BYTES * ({_SECTORS} + global_atomic_sectors)",
    "dram_bytes_moved": f"max(SECTOR_BYTES * ({_SECTORS_DISTINCT}), global_bytes_distinct), "
    f"SECTOR_BYTES * ({_SECTORS} + 2 * global_atomic_sectors)",
    "shared_bytes_moved": "shared_load_bytes + shared_store_bytes",
    "flops_per_byte": "flops / dram_bytes_moved[1], flops / dram_bytes_moved[0]",
}


class MetricsReference(SphinxDirective):
    """``{metrics-reference} global``: fields and properties of ``Metrics`` in one group, each as an attribute that pages can link to."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(ModuleAnalyzer.for_module(MODULE).srcname)
        text = [line for metric in metric_comments() if group(metric[0]) == self.arguments[0] for line in attribute(*metric)]
        if not text:
            raise self.error(f"no metric is in the group {self.arguments[0]!r}; there are {', '.join(GROUPS)}")
        return parsed(self, text)


class MetricsTable(SphinxDirective):
    """``{metrics-table}``: a line for each counter that Nsight Compute has as well, with the name to ask it for."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(ModuleAnalyzer.for_module(MODULE).srcname)
        rows = [f"| [`{name}`](#Metrics.{name}) | `{theirs}` |" for name, theirs in nsight_names().items()]
        made = parsed(self, ["| Counter | in Nsight Compute |", "|---|---|", *rows])
        made[0]["classes"].append("ww-names")
        return made


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


def group(name: str) -> str:
    return next(title for title, pattern in GROUPS.items() if re.fullmatch(pattern, name) and (title == "derived" or name in FIELDS))


def unit(name: str) -> str:
    """The unit of a metric; raises StopIteration for a name that none of the rules fits."""
    return next(text for pattern, text in UNITS.items() if re.fullmatch(pattern, name))


def nsight_names() -> dict[str, str]:
    """Metric -> the one name to ask Nsight Compute for; what is the sum of several there, or only near, is left to its entry."""
    found = {}
    for name, _, comment in metric_comments():
        theirs = comment.partition("Nsight Compute:")[2]
        if theirs and not re.search(r"nearest|together|twice|/ 32", theirs):
            found[name] = re.search(r"``(\w+__[\w.]+)``", theirs)[1]
    return found


def attribute(name: str, kind: str, comment: str) -> list[str]:
    """MyST lines that describe one attribute; unit, formula and what is said of Nsight Compute get a line each."""
    ours, mark, theirs = comment.strip().partition("Nsight Compute:")
    body = [ours.strip(), "", f"*Unit:* {unit(name)}."]
    body += ["", f"*Formula:* `{FORMULAS[name]}`"] if name in FORMULAS else []
    body += ["", f"*Nsight Compute:* {theirs.strip()}"] if mark else []
    return [f"````{{py:attribute}} Metrics.{name}", f":type: {kind}", "", *body, "````", ""]


def command_lines(app: Typer, path: str) -> list[str]:
    """MyST lines for a command such as ``grade`` or ``labs build``; raises KeyError for one that does not exist."""
    command = get_command(app)
    for part in path.split():
        command = command.commands[part]
    name = f"warpwise {path}"
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    lines = ["```console", f"$ {usage}", "```", "", *OPTION.sub(r"`\1`", command.help or "").splitlines(), ""]
    return lines + [line for parameter in command.params for line in parameter_lines(parameter, context)]


def parameter_lines(parameter, context) -> list[str]:
    """A definition-list item for an argument or option."""
    record = parameter.get_help_record(context)
    if record is None:
        return []
    spelling, text = record
    return [f"`{spelling}`", ": " + OPTION.sub(r"`\1`", text), ""]


def parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Parse lines as the page's own markup."""
    holder = nodes.container()
    directive.state.nested_parse(StringList(lines, directive.get_source_info()[0]), directive.content_offset, holder)
    return holder.children
