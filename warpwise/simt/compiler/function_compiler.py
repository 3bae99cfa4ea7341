"""Compile a function: once per combination of argument types, to a ``Program``.

Types flow with the text, and a loop is compiled again until its types no longer change; so is the
function, until it is known which of its variables hold more than one type, and what it returns to
calls of itself."""

from __future__ import annotations

from collections.abc import Mapping

from warpwise.errors import UnsupportedError
from warpwise.simt.compiler.closures import Step, optional
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.language import LANGUAGE
from warpwise.simt.compiler.program import Program, Results, recursion
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.hopper.block import units_of
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import NONE, OptionalType, Type

MAX_PROGRAMS = 64  # of one function


def compile_function(
    kernel: Kernel, arguments: tuple[Type, ...], callers: tuple[Kernel, ...] = ()
) -> Program:
    """Compile a kernel or device function for argument types, once: the kernel keeps the result.

    Raises UnsupportedError or KernelTypeError, naming the line."""
    if kernel.refused is not None:
        raise kernel.refused
    if arguments in kernel.begun:
        results: Results = kernel.begun[arguments]
        results.used = True
        return recursion(kernel, arguments, results.unified())
    if arguments not in kernel.programs:
        if len(kernel.programs) >= MAX_PROGRAMS:
            what = f"{kernel.name} is used with more than {MAX_PROGRAMS} combinations of types"
            raise UnsupportedError(what, kernel.where(kernel.tree), "call it with fewer")
        kernel.programs[arguments] = _compiled(kernel, arguments, (*callers, kernel))
    program: Program = kernel.programs[arguments]
    return program


def _compiled(kernel: Kernel, arguments: tuple[Type, ...], callers: tuple[Kernel, ...]) -> Program:
    known: Mapping[str, OptionalType | None] = {}
    returns: Type | None = None  # what a function that calls itself was found to return
    while True:
        context = Context(kernel, callers, known, LANGUAGE, compile_function)
        if returns is not None:
            context.results.add(returns, kernel.tree)
        kernel.begun[arguments] = context.results
        try:
            program = _program(context, arguments)
        except RecursionError:
            what, where = f"{kernel.name} is nested too deeply", kernel.where(kernel.tree)
            raise UnsupportedError(what, where, "write shorter expressions") from None
        finally:
            del kernel.begun[arguments]
        mixed, returned = context.variables.found(), program.result
        # NumPy takes None for float64 where it compares types
        again = context.results.used and (returns is None or returns != returned)
        if mixed == known and not again:
            return program
        known, returns = mixed, returned if context.results.used else None


def _program(c: Context, arguments: tuple[Type, ...]) -> Program:
    kernel, counts = c.kernel, c.counts
    _check_signature(c)
    for name, t in zip(kernel.parameters, arguments, strict=True):
        c.bind(name, t)
    run = _with_units(c, _with_pairs(c, arguments, c.body(kernel.tree.body)))
    if c.results.found and c.variables.here is not None:
        c.results.add(NONE, kernel.tree)
    return Program(
        kernel,
        run,
        len(c.variables.slots),
        c.loop_count,
        c.results.unified(),
        counts.barriers,
        counts.grid_syncs,
        counts.atomics,
        counts.shuffles,
        counts.waits,
        c.notes.all(),
        tuple(counts.captured),
        counts.arrays,
        counts.cooperative,
        counts.units,
    )


def _with_units(c: Context, run: Step) -> Step:
    """Let a block have its asynchronous units, which watch it, before its first access."""
    if not c.counts.units:
        return run
    site = c.site(c.kernel.tree)

    def begin(frame: Frame, mask: Mask) -> Mask | None:
        units_of(frame.batch, site)
        return run(frame, mask)

    return begin


def _with_pairs(c: Context, arguments: tuple[Type, ...], run: Step) -> Step:
    """Let a function begin with its arguments as pairs where they are a number or None later."""
    given = enumerate(zip(c.kernel.parameters, arguments, strict=True))
    found = [(i, t, to) for i, (name, t) in given if (to := c.variables.optional(name, t))]
    if not found:
        return run

    def begin(frame: Frame, mask: Mask) -> Mask | None:
        for slot, t, to in found:
            frame.assign(slot, optional(frame.values[slot], t, to), mask)
        return run(frame, mask)

    return begin


def _check_signature(c: Context) -> None:
    tree = c.kernel.tree
    a, plain = tree.args, f"def {c.kernel.name}({', '.join(c.kernel.parameters)}):"
    special = a.vararg or a.kwarg or a.kwonlyargs or a.posonlyargs
    if len(c.callers) == 1 and special:
        c.refuse(tree, "a kernel takes plain positional parameters", plain)
    if a.kwarg:
        c.refuse(tree, f"a device function cannot take **{a.kwarg.arg}", plain)
