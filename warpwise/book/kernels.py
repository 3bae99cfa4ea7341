"""``{kernel-ladder} softmax``: what a module of reference kernels is about, and a list of its steps, in the words of the code."""

from __future__ import annotations

from importlib import import_module
from inspect import cleandoc

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from warpwise.book.reference import parsed
from warpwise.kernels.step import Step


class KernelLadder(SphinxDirective):
    """Names a module of ``warpwise.kernels``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = import_module(f"warpwise.kernels.{self.arguments[0]}")
        self.env.note_dependency(module.__file__)
        about = cleandoc(module.__doc__).split("\n\n")[0].replace("``", "`")
        return parsed(self, [about, "", *map(item, module.STEPS)])


def item(step: Step) -> str:
    """A step as a line of the list. Kernels of a step that are launched alike are told of once."""
    launches = dict.fromkeys(f"{built.threads} x {built.blocks_per_sm}" for built in step.built)
    return f"- `{step.name}`: {step.idea} ({', '.join(launches)})"


def setup(app: Sphinx) -> dict:
    """Called by Sphinx once, through ``warpwise.book``."""
    app.add_directive("kernel-ladder", KernelLadder)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
