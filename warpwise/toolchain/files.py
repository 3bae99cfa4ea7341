"""The kernels of a file: a module, a notebook or a lab's source. The file is executed, as an import would: it is the user's own.

Launches that it makes run in the simulator, or on the GPU where there is one, and their types are remembered by the kernels. What it
prints is dropped. If it fails, in a launch for lack of a GPU or in a plot, the kernels that were defined by then count.

Numba compiles a kernel that has a signature where it is defined, which needs a GPU. So its ``jit`` is called without the signature.
``argument_types`` reads that from the kernel's text.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType

from warpwise.errors import ToolchainError
from warpwise.simt.text.source import Kernel, as_kernel

NOTEBOOKS = (".ipynb", ".md")


@dataclass(frozen=True)
class Cell:
    """A piece of Python as it stands in a file; ``first`` is the number of its first line there."""

    file: str
    first: int
    text: str


@dataclass(frozen=True)
class Loaded:
    """What a file defines. ``failure`` says in one line what stopped it, or a cell of it, and is empty if nothing did."""

    path: Path
    kernels: dict[str, object]
    others: dict[str, object]
    failure: str = ""

    def kernel(self, name: str) -> object:
        """The kernel of this name; a plain function will do. Raises ToolchainError, which lists what there is."""
        found = self.kernels.get(name, self.others.get(name))
        if found is None:
            named = f"no kernel {name!r} in {self.path}" if name else f"which kernel of {self.path}? Write FILE:KERNEL"
            raise ToolchainError(f"{named}; it has {', '.join(self.kernels) or 'none'}" + (f" ({self.failure})" if self.failure else ""))
        if getattr(found, "device", False) or getattr(found, "targetoptions", {}).get("device"):
            raise ToolchainError(f"{name} is a device function, compiled as part of a kernel that calls it; {self._has}")
        if as_kernel(found).is_stub:
            raise ToolchainError(f"{name} in {self.path} has no body yet: write it first")
        return found

    @property
    def _has(self) -> str:
        return f"{self.path} has {', '.join(self.kernels) or 'no kernel'}"


def load(path: str | Path) -> Loaded:
    """Execute a .py, .ipynb or text notebook (.md) and gather its kernels. Raises ToolchainError if it cannot be read."""
    path = Path(path)
    if not path.is_file():
        raise ToolchainError(f"no file at {path}")
    cells = _cells(path.absolute())
    with _module(path) as module, contextlib.redirect_stdout(io.StringIO()):
        failures = [failure for cell in cells if (failure := _executed(cell, module))]
    functions = {name: value for name, value in vars(module).items() if _is_function(value) and not name.startswith("_")}
    kernels = {name: value for name, value in functions.items() if _is_kernel(value)}
    return Loaded(path, kernels, {n: f for n, f in functions.items() if n not in kernels}, failures[0] if failures else "")


def _is_function(value) -> bool:
    return isinstance(value, (Kernel, FunctionType)) or (hasattr(value, "targetoptions") and hasattr(value, "py_func"))


def _is_kernel(value) -> bool:
    device = getattr(value, "device", False) or getattr(value, "targetoptions", {}).get("device")
    return not isinstance(value, FunctionType) and not device


def _cells(path: Path) -> list[Cell]:
    """The Python of a file. Lines are numbered as in the file, or from the top of the cell in a notebook, whose file is JSON."""
    if path.suffix in NOTEBOOKS:
        import jupytext
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix not in NOTEBOOKS:
            return [Cell(str(path), 1, text)]
        notebook = jupytext.read(path)
    except Exception as error:  # readers of notebooks have a dozen kinds
        raise ToolchainError(f"{path} cannot be read: {' '.join(str(error).split())[:200]}") from error
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    if path.suffix == ".ipynb":
        return [Cell(f"{path}, cell {number}", 1, _plain(source)) for number, source in enumerate(sources, 1)]
    return list(_placed(path, text, sources))


def _placed(path: Path, text: str, sources: list[str]) -> Iterator[Cell]:
    """Cells of a text notebook, with their place in the text, where they stand as they are."""
    position = 0
    for source in sources:
        found = text.find(source, position)
        position = max(found, position)
        yield Cell(str(path), text.count("\n", 0, position) + 1, _plain(source))


def _plain(source: str) -> str:
    """A cell without IPython's magic, which is not Python; the number of lines stays."""
    if source.lstrip().startswith("%%"):
        return ""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n"))


@contextlib.contextmanager
def _module(path: Path) -> Iterator[ModuleType]:
    """An empty module for the file's names, importable by its name, and with the file's neighbours, while the file is executed."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    before, folder = sys.modules.get(path.stem), str(path.parent.resolve())
    if before is None:
        sys.modules[path.stem] = module
    sys.path.insert(0, folder)
    try:
        yield module
    finally:
        sys.path.remove(folder)
        if before is None:
            del sys.modules[path.stem]


def _executed(cell: Cell, module: ModuleType) -> str:
    """Execute a cell; what went wrong in one line, or ""."""
    _show_to_linecache(cell)
    try:
        tree = ast.increment_lineno(WithoutSignatures().visit(ast.parse(cell.text, cell.file)), cell.first - 1)
        exec(compile(tree, cell.file, "exec", dont_inherit=True), vars(module))
    except SyntaxError as error:
        return f"{Path(cell.file).name}:{(error.lineno or 1) + cell.first - 1}: {error.msg}"
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == cell.file]
        said = " ".join(str(error).split())
        return f"{Path(cell.file).name}:{lines[-1] if lines else cell.first}: {type(error).__name__}: {said[:200]}"
    return ""


class WithoutSignatures(ast.NodeTransformer):
    """``@cuda.jit(signature, ...)`` without what stands by position, where ``cuda.jit`` turns out to be Numba's as the file runs."""

    NUMBAS = "{}.__module__.startswith('numba.cuda')"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list = [self._eager(decorator) for decorator in node.decorator_list]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if isinstance(node.func, ast.Call):  # cuda.jit(signature)(function)
            node.func = self._eager(node.func)
        return self.generic_visit(node)

    def _eager(self, node: ast.expr) -> ast.expr:
        """Only a name, or a name of a module, is looked up twice: nothing happens twice."""
        if not (isinstance(node, ast.Call) and node.args and re.fullmatch(r"(\w+\.)*jit", ast.unparse(node.func))):
            return node
        test = ast.parse(self.NUMBAS.format(ast.unparse(node.func)), mode="eval").body
        kept = ast.IfExp(test, ast.Tuple([], ast.Load()), ast.Tuple(node.args, ast.Load()))
        inner = ast.Call(node.func, [ast.Starred(kept, ast.Load())], node.keywords)
        for new in ast.walk(test):
            ast.copy_location(new, node)
        return ast.fix_missing_locations(ast.copy_location(inner, node))


def _show_to_linecache(cell: Cell) -> None:
    """Where ``inspect`` and Numba look a function's text up. An entry without a time of change is kept, as for doctests."""
    if not cell.file.endswith(".py"):
        lines = linecache.cache[cell.file][2] if cell.file in linecache.cache else []
        lines = lines[: cell.first - 1] + ["\n"] * (cell.first - 1 - len(lines)) + cell.text.splitlines(keepends=True)
        linecache.cache[cell.file] = (1, None, [line if line.endswith("\n") else line + "\n" for line in lines], cell.file)
