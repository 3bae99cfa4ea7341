"""The launch of a mistake's program, written as a reader would write it.

Such a program has ``launch(rng)``, which returns kernel, blocks, threads and arguments, and its fix
has ``expected(...)``. Here they become plain statements that end with ``trace(...)``.
"""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass
from typing import Any

from warpwise.book.mistakes import SEED, without_comments


@dataclass(frozen=True)
class Program:
    """A program's text, without what the tests expect of it, and its tree."""

    text: str
    tree: ast.Module

    @classmethod
    def of(cls, text: str) -> Program:
        plain = "\n".join(without_comments(text))
        return cls(plain, ast.parse(plain))

    def function(self, name: str) -> Any:
        """Return the function of that name, or None."""
        return next((one for one in self.tree.body if getattr(one, "name", "") == name), None)

    def part(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.text, node) or ""

    def lines(self, body: list[ast.stmt]) -> str:
        """Return statements of a function as lines without indentation."""
        if not body:
            return ""
        lines = self.text.splitlines()[body[0].lineno - 1 : body[-1].end_lineno]
        return textwrap.dedent("\n".join(lines)) + "\n"


def as_launch(text: str, fix: str) -> str:
    """Return the launch of a program; if its fix has the same, with what the fix expects of it."""
    program, other = Program.of(text), Program.of(fix)
    *body, last = program.function("launch").body
    kernel, blocks, threads, args, *options = last.value.elts
    same = ast.dump(program.function("launch")) == ast.dump(other.function("launch"))
    reference = other.function("expected") if same else None
    named = reference or program.function(program.part(kernel))
    names = [arg.arg for arg in named.args.args]
    call = [*map(program.part, (kernel, blocks, threads)), *names]
    call += [f"**{program.part(one)}" for one in options]
    return (
        _rng(program)
        + program.lines(body)
        + "".join(_named(names, [program.part(one) for one in args.elts]))
        + (_expected(other, reference) if reference else "")
        + f"trace({', '.join(call)})\n"
    )


def _rng(program: Program) -> str:
    used = [node for node in ast.walk(program.tree) if isinstance(node, ast.Name)]
    is_used = any(node.id == "rng" for node in used)
    return f"rng = np.random.default_rng({SEED})\n" if is_used else ""


def _named(names: list[str], values: list[str]) -> list[str]:
    """Return assignments of arguments that do not have their parameters' names yet."""
    pairs = [(name, value) for name, value in zip(names, values, strict=True) if name != value]
    return [f"{name} = {value}\n" for name, value in pairs]


def _expected(fix: Program, function: Any) -> str:
    """Return statements that bind ``expected``, before the launch changes its arguments."""
    *body, last = function.body
    if not body:
        is_view = isinstance(last.value, ast.Name | ast.Attribute | ast.Subscript)
        return f"expected = {fix.part(last.value)}{'.copy()' if is_view else ''}\n"
    names = ", ".join(arg.arg for arg in function.args.args)
    lines = textwrap.indent(fix.lines(function.body), "    ")
    return f"\n\ndef reference({names}):\n{lines}\n\nexpected = reference({names})\n"
