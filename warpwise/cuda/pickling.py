"""Pickled kernels: by name where a module has them, else by value, for other processes.

By value a kernel takes along its file's text and what it reads of its module. As any pickle, one
from someone else can run anything."""

from __future__ import annotations

import linecache
import marshal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from warpwise.simt.frontend.kernel import Kernel


def name_of(kernel: Kernel) -> str | None:
    """Return the name by which the kernel's module has it, None if it has it by none."""
    function: Any = kernel.function
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return str(function.__qualname__) if found is kernel else None


def by_value(kernel: Kernel, rebuild: Callable[..., Kernel], *given: object) -> tuple[Any, ...]:
    """Return what ``__reduce__`` returns of a kernel by value: ``rebuild(function, *given)``."""
    function: Any = kernel.function
    return rebuild, (_Function(function, kernel), *given)


class _Function:
    """A function on its way into a pickle, out of which comes a function."""

    def __init__(self, function: FunctionType, kernel: Kernel):
        self.function, self.kernel = function, kernel

    def __reduce__(self) -> tuple[Any, ...]:
        function, code = self.function, self.function.__code__
        names = set(_names(code)) & function.__globals__.keys()
        seen = {name: function.__globals__[name] for name in names}
        closed = [cell.cell_contents for cell in function.__closure__ or ()]
        return _function, (
            marshal.dumps(code),
            (code.co_filename, linecache.getlines(code.co_filename)),
            {name: self._kept(value) for name, value in seen.items() if value is not self.kernel},
            [self._kept(None if value is self.kernel else value) for value in closed],
            function.__defaults__,
            (function.__module__, function.__qualname__, function.__doc__),
        )

    def _kept(self, value: object) -> object:
        return _Module(value.__name__) if isinstance(value, ModuleType) else value


class _Module:
    """A module on its way into a pickle, by its name."""

    def __init__(self, name: str):
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.name,)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a function, and those within it, may read of its module."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _function(
    code: bytes,
    text: tuple[str, list[str]],
    names: dict[str, object],
    closed: list[object],
    defaults: tuple[object, ...] | None,
    called: tuple[str, str, str | None],
) -> FunctionType:
    module, qualified, doc = called
    file, lines = text
    if not linecache.getlines(file):  # a cell's, or another machine's
        linecache.cache[file] = len("".join(lines)), None, lines, file
    made: CodeType = marshal.loads(code)
    cells = tuple(map(CellType, closed))
    space = {"__name__": module, "__builtins__": __builtins__, **names}
    function = FunctionType(made, space, made.co_name, defaults, cells)
    function.__qualname__, function.__module__, function.__doc__ = qualified, module, doc
    return function
