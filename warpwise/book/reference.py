"""The directives of the reference pages, which read the code so that pages cannot fall behind it.

``{metrics-reference} GROUP`` lists fields of ``Metrics`` with their comments, units and formulas,
``{metrics-table}`` their names in Nsight Compute, ``{command-reference} MODULE COMMAND`` describes
one command, and ``{kernel-ladder} MODULE`` the steps of a module of reference kernels.
"""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from inspect import cleandoc, getdoc
from typing import Any, cast

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from typer import Typer
from typer.main import get_command

from warpwise.book.markup import parsed
from warpwise.kernels.step import Step
from warpwise.metrics import FIELDS, RATIOS, Metrics

MODULE = "warpwise.metrics"
#: An option in a sentence, where two hyphens would become a dash.
OPTION = re.compile(r"(?<![`\w-])(--[a-z][a-z-]*)")

#: Group of the page -> pattern of its counters; the first match counts. What is no counter is in
#: the group DERIVED.
GROUPS = {
    "atomics": r"atomics|.*atomic_.*",
    "global": r"global_(load|store)_.*|global_bytes_distinct",
    "shared": r"shared_(load|store)_.*",
    "mix": r"op_.*",
    "arithmetic": r"flops_fp\d+",
    "control": r"barriers|.*branches",
    "instructions": r"(warp|thread)_instructions|lanes_active",
}
DERIVED = "derived"

#: Pattern of a metric -> its unit; the first match counts.
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

#: Derived metric -> its formula over counters, as Python; a ratio over nothing is 0. A test
#: compares each with its property.
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
    "l2_bytes_moved": (
        f"max(SECTOR_BYTES * ({_SECTORS_DISTINCT} + global_atomic_sectors), "
        f"global_bytes_distinct), SECTOR_BYTES * ({_SECTORS} + global_atomic_sectors)"
    ),
    "dram_bytes_moved": (
        f"max(SECTOR_BYTES * ({_SECTORS_DISTINCT}), global_bytes_distinct), "
        f"SECTOR_BYTES * ({_SECTORS} + 2 * global_atomic_sectors)"
    ),
    "shared_bytes_moved": "shared_load_bytes + shared_store_bytes",
    "flops_per_byte": "flops / dram_bytes_moved[1], flops / dram_bytes_moved[0]",
}


class MetricsReference(SphinxDirective):
    """``{metrics-reference} global``: the metrics of one group, as objects that pages link to."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(ModuleAnalyzer.for_module(MODULE).srcname)
        wanted = self.arguments[0]
        chosen = [metric for metric in metric_comments() if group(metric[0]) == wanted]
        if not chosen:
            raise self.error(
                f"no metric is in the group {wanted!r}; there are {', '.join([*GROUPS, DERIVED])}"
            )
        return parsed(self, [line for metric in chosen for line in attribute(*metric)])


class MetricsTable(SphinxDirective):
    """``{metrics-table}``: a line for each counter with a name in Nsight Compute."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(ModuleAnalyzer.for_module(MODULE).srcname)
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


def metric_comments() -> list[tuple[str, str, str]]:
    """Return (name, type, comment) of every counter, then of every derived metric."""
    found = ModuleAnalyzer.for_module(MODULE).find_attr_docs()
    counters = [(f.name, str(f.type), " ".join(found["Metrics", f.name])) for f in fields(Metrics)]
    derived = [(name, getattr(Metrics, name)) for name in RATIOS]
    return counters + [
        (name, ratio.fget.__annotations__["return"], getdoc(ratio) or "") for name, ratio in derived
    ]


def group(name: str) -> str:
    """Return the group of a metric; raises LookupError for a counter that no pattern fits."""
    if name not in FIELDS:
        return DERIVED
    for title, pattern in GROUPS.items():
        if re.fullmatch(pattern, name):
            return title
    raise LookupError(f"no group fits {name}: add a pattern to GROUPS in {__name__}")


def unit(name: str) -> str:
    """Return the unit of a metric; raises LookupError for a name that no pattern of UNITS fits."""
    for pattern, text in UNITS.items():
        if re.fullmatch(pattern, name):
            return text
    raise LookupError(f"no unit fits {name}: add a pattern to UNITS in {__name__}")


def nsight_names() -> dict[str, str]:
    """Return metric -> its name in Nsight Compute.

    A metric that is a sum of several there, or only close to one, is left to its entry.
    """
    found = {}
    for name, _, comment in metric_comments():
        theirs = comment.partition("Nsight Compute:")[2]
        if theirs and not re.search(r"nearest|together|twice|/ 32", theirs):
            (found[name],) = re.findall(r"``(\w+__[\w.]+)``", theirs)[:1]
    return found


def attribute(name: str, kind: str, comment: str) -> list[str]:
    """Return MyST for one metric, with its unit, formula and Nsight Compute note on own lines."""
    ours, mark, theirs = comment.strip().partition("Nsight Compute:")
    body = [ours.strip(), "", f"*Unit:* {unit(name)}."]
    body += ["", f"*Formula:* `{FORMULAS[name]}`"] if name in FORMULAS else []
    body += ["", f"*Nsight Compute:* {theirs.strip()}"] if mark else []
    return [f"````{{py:attribute}} Metrics.{name}", f":type: {kind}", "", *body, "````", ""]


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
    return lines + [
        line for parameter in command.params for line in parameter_lines(parameter, context)
    ]


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
