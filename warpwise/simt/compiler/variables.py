"""The variables of a function while it is compiled.

Types flow with the text: at every point a variable has the type that Numba would give it there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from warpwise.simt import types
from warpwise.simt.compiler.closures import Step
from warpwise.simt.compiler.value_types import MixedType
from warpwise.simt.frontend.assigned import unsure_reads
from warpwise.simt.frontend.kernel import Kernel, Node
from warpwise.simt.types import NONE, OptionalType, Type

Env: TypeAlias = dict[str, Type]  #: the types of the variables that have a value at some point


@dataclass
class Loop:
    """A loop being compiled, and the types where break and continue leave it."""

    number: int
    by_block: bool = False  #: it has a barrier, so that blocks must stay whole
    by_grid: bool = False  #: it has a sync of the grid, so that all blocks must stay
    ends: list[Env | None] = field(default_factory=list)
    again: list[Env | None] = field(default_factory=list)
    orelse: Step | None = None  #: for lanes that did not leave by break


class Variables:
    """The types of a function's variables here and everywhere, and their slots in a frame.

    ``mixed``: the names of variables that hold more than one type, each with that of a number or
    None if it is one."""

    def __init__(self, kernel: Kernel, mixed: Mapping[str, OptionalType | None]):
        self.kernel, self.mixed = kernel, mixed
        self.assigned = kernel.assigned.union(kernel.captured)
        self.unsure = unsure_reads(kernel.tree, self.assigned, kernel.parameters)
        self.here: Env | None = {}  #: None behind a statement that no lane goes on from
        self.slots: dict[str, int] = {}
        self.types_of: dict[str, set[Type]] = {}  #: all that a variable has anywhere

    def unsure_in(self, loop: ast.For | ast.While) -> set[str]:
        """Return the names that a loop's body assigns, and reads where they may lack a value."""
        nodes = [n for part in loop.body for n in ast.walk(part) if isinstance(n, ast.Name)]
        written = {n.id for n in nodes if isinstance(n.ctx, ast.Store)}
        return {n.id for n in nodes if (n.lineno, n.col_offset) in self.unsure} & written

    @property
    def env(self) -> Env:
        return {} if self.here is None else self.here

    def bind(self, name: str, t: Type) -> int:
        """Give a variable a type from here on; return its slot."""
        self.env[name] = t
        self.types_of.setdefault(name, set()).add(t)
        return self.slot(name)

    def slot(self, name: str) -> int:
        """Return the slot of a variable of its present type.

        Where ``x = x[i]`` is guarded, other lanes still have the array of that name."""
        t, kept = self.env[name], self.mixed.get(name)
        if kept is not None and (t == NONE or types.is_scalar(t)):
            t = kept
        return self.hidden(name if types.is_scalar(t) else f"{name}, {type(t).__name__}")

    def optional(self, name: str, t: Type) -> OptionalType | None:
        """Return the type of the pair that keeps a value of type ``t``; None if nothing has to."""
        is_one = t == NONE or types.is_scalar(t) or isinstance(t, OptionalType)
        return self.mixed.get(name) if is_one else None

    def found(self) -> Mapping[str, OptionalType | None]:
        """Return ``mixed`` as it was found to be."""
        several = {name: kinds for name, kinds in self.types_of.items() if len(kinds) > 1}
        return {name: _optional_of(kinds) for name, kinds in several.items()}

    def hidden(self, key: str) -> int:
        """Return the slot of a value that has no name in the text."""
        return self.slots.setdefault(key, len(self.slots))

    def joined(self, node: Node, a: Env | None, b: Env | None) -> Env | None:
        """Return the types after two paths meet; a path that does not get here is None."""
        if a is None or b is None:
            return b if a is None else a
        both = dict(a)
        for name, t in b.items():
            both[name] = self._met(node, name, both.get(name, t), t)
        return both

    def _met(self, node: Node, name: str, a: Type, b: Type) -> Type:
        """Return the type of a variable where paths meet: a mistake only if it is read there."""
        if isinstance(a, MixedType) or isinstance(b, MixedType):
            return a if isinstance(a, MixedType) else b
        try:
            t = types.unify(a, b)
        except types.TypeMismatch as error:
            return MixedType(f"{name} is {error}", error.try_this, node)
        self.types_of[name].add(t)
        return t


def _optional_of(kinds: Iterable[Type]) -> OptionalType | None:
    """Return the type of a number or None that holds all of a variable's numbers."""
    found: Type | None = None
    for t in kinds:
        if isinstance(t, OptionalType) or types.is_scalar(t):
            found = t if found is None else types.unify(found, t)
    return found if isinstance(found, OptionalType) else None
