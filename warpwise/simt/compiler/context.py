"""The compilation of one function for one tuple of argument types: its state, and the language.

A handler takes the context and a piece of syntax, compiles it and returns its closure. The table of
handlers is ``language.LANGUAGE``; the context is given it, so that handlers can use each other
through it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias, TypeVar

from warpwise.errors import KernelError, KernelTypeError, UnsupportedError
from warpwise.simt import types
from warpwise.simt.compiler import advice, known_names, optional_values
from warpwise.simt.compiler.closures import (
    Charge,
    Code,
    Cost,
    Items,
    Number,
    Run,
    Step,
    charging,
    uncounted,
)
from warpwise.simt.compiler.entries import Refused, Vocabulary
from warpwise.simt.compiler.known_names import KnownNames
from warpwise.simt.compiler.notes import Notes
from warpwise.simt.compiler.program import Counts, Program, Results
from warpwise.simt.compiler.value_types import KnownType
from warpwise.simt.compiler.variables import Loop, Variables
from warpwise.simt.frontend.kernel import Kernel, Node
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.wraps import written_as
from warpwise.simt.types import ArrayType, OptionalType, Type, is_scalar

MAX_STATEMENTS = 20_000  # compiled for one function, a loop's body as often as its types change
MAX_PARDONS = 100  # errors in loops whose types are not known yet, before one counts

# Handlers. Those of syntax take the node of their kind; one that may pass returns None.
Statement: TypeAlias = Callable[["Context", Any], Step | None]
Expression: TypeAlias = Callable[["Context", Any], Code]
Call: TypeAlias = Callable[["Context", ast.Call], Code]
Read: TypeAlias = Callable[[], Code]  #: a word of CUDA that is a value
Attribute: TypeAlias = Callable[[Run, ArrayType], Code]  #: of an array
Method: TypeAlias = Callable[["Context", ast.Call, Run, ArrayType], Code | None]  #: of an array
#: What a loop runs over: the loop, the call after ``in``, and its hidden variable.
Iterable: TypeAlias = Callable[["Context", ast.For, ast.Call, str], Items]
#: Compiles a function for argument types, called by these.
Compile: TypeAlias = Callable[[Kernel, tuple[Type, ...], tuple[Kernel, ...]], Program]
Made = TypeVar("Made")


@dataclass(frozen=True)
class Language:
    """The handlers of all that a kernel can say, and advice for what it cannot."""

    statements: Mapping[type[ast.AST], Statement]
    expressions: Mapping[type[ast.AST], Expression]
    iterables: Mapping[object, Iterable]  #: by Python's function
    attributes: Mapping[str, Attribute]
    methods: Mapping[str, Method]
    functions: Mapping[object, Call]  #: Python's, NumPy's and types
    words: Mapping[str, Call]  #: CUDA's, by their path below ``cuda``
    values: Mapping[str, Read]  #: also CUDA's
    refused: Mapping[type[ast.AST], Refused]  #: syntax
    vocabulary: Vocabulary


class Context:
    """The state of compiling one function, and what every handler needs."""

    def __init__(
        self,
        kernel: Kernel,
        callers: tuple[Kernel, ...],
        mixed: Mapping[str, OptionalType | None],
        language: Language,
        compile_function: Compile,
    ):
        """``callers``: the functions that lead here, this one last; ``mixed``: ``Variables``."""
        self.kernel, self.callers, self.language = kernel, callers, language
        self.compile_function = compile_function
        self.variables = Variables(kernel, mixed)
        self.names = KnownNames(kernel, self.variables, language.vocabulary)
        self.notes = Notes(kernel, advice.element_type(kernel.names()))
        self.results = Results(kernel)
        self.counts = Counts()
        self.cost = Cost()  #: of what was compiled since the statement began
        self.target, self.targets = "", dict[ast.expr, str]()  #: see ``array_calls.name_arrays``
        self.unused: ast.expr | None = None  #: a call whose result nobody uses
        self.looping: ast.expr | None = None  #: a loop's condition, without its ``not``
        self.loops: list[Loop] = []  #: around this place
        #: Errors while the types in a loop are not known yet; its end shows if they remain.
        self.forgiven: list[KernelError] | None = None
        self.loop_count = self.compiled = self.pardons = 0

    # --- places and messages ---

    def refuse(
        self, node: Node, what: str, try_this: str, kind: type[KernelError] = UnsupportedError
    ) -> NoReturn:
        known_names.refuse(self.kernel, node, what, try_this, kind)

    def site(self, node: ast.stmt | ast.expr) -> Site:
        where = self.kernel.where(node)
        shown = where.line, where.file, where.text, where.function
        return Site(node.lineno, *shown, written_as(node))

    # --- names ---

    def static(self, node: ast.expr) -> object:
        """Return what a name means before the kernel runs; NotImplemented if that is not known."""
        return self.names.static(node)

    def constant(self, node: ast.expr) -> object:
        """Return a number or tuple that must be known before the kernel runs."""
        return self.names.constant(node)

    def bind(self, name: str, t: Type) -> int:
        """Give a variable a type from here on; return its slot."""
        return self.variables.bind(name, t)

    # --- statements ---

    def body(self, statements: list[ast.stmt]) -> Step:
        """Compile statements that run one after another, as long as lanes go on."""
        steps = []
        for statement in statements:
            if self.variables.here is None:
                break
            try:
                step = self.statement(statement)
            except KernelError as error:
                if self.forgiven is None or self.pardons >= MAX_PARDONS:
                    raise
                self.pardons += 1
                self.forgiven.append(error)
                step = None
            if step is not None:
                steps.append(step)
        return steps[0] if len(steps) == 1 else _in_turn(steps)

    def statement(self, node: ast.stmt) -> Step | None:
        """Compile one statement. Raises UnsupportedError or KernelTypeError, naming the line."""
        handler = self.language.statements.get(type(node))
        if handler is None:
            word = ast.unparse(node).split()[0].rstrip(":")
            what = f"{word} has no meaning in a kernel"
            self._refuse_syntax(node, what, "use assignments, if, for, while and calls")
        self.compiled += 1
        if self.compiled > MAX_STATEMENTS:
            what = f"{self.kernel.name} has too many statements in loops within loops"
            self.refuse(node, what, "move inner loops to device functions")
        self.cost = Cost()
        try:
            return handler(self, node)
        except types.TypeMismatch as error:
            raise KernelTypeError(str(error), self.kernel.where(node), error.try_this) from error

    def charge(self, node: ast.stmt, least: int = 0) -> Charge:
        """Return the closure that counts what was compiled since the statement began."""
        if self.cost.slots < least:
            self.cost.add("integer")  # a move
        return charging(node.lineno, self.cost)

    # --- expressions ---

    def expression(self, node: ast.expr) -> Code:
        """Compile one expression. Raises UnsupportedError or KernelTypeError, naming the line."""
        handler = self.language.expressions.get(type(node))
        if handler is None:
            what = f"{ast.unparse(node)!r} is not something a kernel can compute here"
            self._refuse_syntax(node, what, "use numbers, elements of arrays and calls")
        try:
            return handler(self, node)
        except types.TypeMismatch as error:
            what, where = f"{ast.unparse(node)}: {error}", self.kernel.where(node)
            raise KernelTypeError(what, where, error.try_this) from error

    def scalar(self, node: ast.expr) -> Number:
        """Compile an expression; anything but a number is refused."""
        return self.number(node, self.expression(node))

    def number(self, node: ast.expr, code: Code) -> Number:
        """Return ``code``, that of ``node``; anything but a number is refused."""
        if isinstance(code, Number):
            return code
        if is_scalar(code.type):
            return Number(code.run, code.type, code.constant)
        if isinstance(code.type, OptionalType):
            text = ast.unparse(node)
            return optional_values.unwrapped(code, code.type.item, self.site(node), text)
        if isinstance(code.type, KnownType):
            told = advice.on_known(node, code.type.value, self.language.vocabulary)
            self.refuse(node, *told)
        what = f"{ast.unparse(node)} is {types.described(code.type)}; a number is needed here"
        try_this = advice.on_number_needed(node, code.type, self.kernel.tree)
        self.refuse(node, what, try_this, KernelTypeError)

    def _refuse_syntax(self, node: Node, what: str, otherwise: str) -> NoReturn:
        refused = self.language.refused.get(type(node))
        self.refuse(node, what, refused.instead if refused else otherwise)

    def apart(
        self, compile_part: Callable[[], Made], node: ast.expr, apart: bool = True
    ) -> tuple[Made, Charge]:
        """Compile a part that runs under a mask of its own, and the closure that counts it.

        Not ``apart``: it is counted with the rest."""
        if not apart:
            return compile_part(), uncounted
        outer, self.cost = self.cost, Cost()
        made = compile_part()
        charge = charging(node.lineno, self.cost)
        self.cost = outer
        return made, charge

    def callee(self, kernel: Kernel, arguments: tuple[Type, ...]) -> Program:
        """Compile a device function for argument types; this one counts its barriers and more."""
        program = self.compile_function(kernel, arguments, self.callers)
        self.counts.add(program)
        self.notes.merge(program.notes)
        return program


def _in_turn(steps: list[Step]) -> Step:
    def run(frame: Frame, mask: Mask) -> Mask | None:
        for step in steps:
            on = step(frame, mask)
            if on is None:
                return None
            mask = on
        return mask

    return run
