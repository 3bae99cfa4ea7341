"""The kernels of a file: a module, a notebook or a lab's source.

The file is executed, as by an import: it is the user's own. Launches that it makes run in the
simulator, or on the GPU where there is one, and the kernels remember their types. What it prints is
dropped. If it fails, in a launch for lack of a GPU or in a plot, the kernels that were defined by
then count.

Numba compiles a kernel that has a signature where it is defined, which needs a GPU. So its ``jit``
is called without the signature, which ``argument_types`` reads from the kernel's text."""

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
from typing import Any

from warpwise.errors import ToolchainError
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.source import as_kernel

NOTEBOOKS = (".ipynb", ".md")


@dataclass(frozen=True)
class Cell:
    """A piece of Python in a file; ``first`` is the number of its first line there."""

    file: str
    first: int
    text: str


@dataclass(frozen=True)
class Loaded:
    """The kernels and the other functions of a file.

    ``failure`` says in one line what stopped it, or a cell of it; "" if nothing did."""

    path: Path
    kernels: dict[str, object]
    others: dict[str, object]
    failure: str = ""

    def kernel(self, name: str) -> object:
        """Return the kernel of this name; a plain function will do.

        Raises ToolchainError, which lists the kernels."""
        found = self.kernels.get(name, self.others.get(name))
        if found is None:
            wrong = f"which kernel of {self.path}? Write FILE:KERNEL"
            if name:
                wrong = f"no kernel {name!r} in {self.path}"
            failed = f" ({self.failure})" if self.failure else ""
            raise ToolchainError(f"{wrong}; it has {', '.join(self.kernels) or 'none'}{failed}")
        if _is_device(found):
            raise ToolchainError(
                f"{name} is a device function, compiled as part of a kernel that calls it; "
                f"{self.path} has {', '.join(self.kernels) or 'no kernel'}"
            )
        if as_kernel(found).is_stub:
            raise ToolchainError(f"{name} in {self.path} has no body yet: write it first")
        return found


def load(path: str | Path) -> Loaded:
    """Execute a .py, .ipynb or text notebook (.md) and gather its kernels.

    Raises ToolchainError if it cannot be read."""
    path = Path(path)
    if not path.is_file():
        raise ToolchainError(f"no file at {path}")
    cells = _cells(path.absolute())
    with _module(path) as module, contextlib.redirect_stdout(io.StringIO()):
        failures = [failure for cell in cells if (failure := _executed(cell, module))]
    kernels: dict[str, object] = {}
    others: dict[str, object] = {}
    for name, value in vars(module).items():
        if _is_function(value) and not name.startswith("_"):
            plain = isinstance(value, FunctionType) or _is_device(value)
            (others if plain else kernels)[name] = value
    return Loaded(path, kernels, others, failures[0] if failures else "")


def _is_function(value: object) -> bool:
    numbas = hasattr(value, "targetoptions") and hasattr(value, "py_func")
    return numbas or isinstance(value, (Kernel, FunctionType))


def _is_device(value: object) -> bool:
    options = getattr(value, "targetoptions", {})
    return bool(getattr(value, "device", False) or options.get("device"))


def _cells(path: Path) -> list[Cell]:
    """Return the Python of a file.

    Lines are numbered as in the file, or from the top of the cell in a notebook, whose file is
    JSON."""
    if path.suffix in NOTEBOOKS:
        import jupytext
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix not in NOTEBOOKS:
            return [Cell(str(path), 1, text)]
        notebook = jupytext.read(path)
    except Exception as error:  # readers of notebooks raise a dozen kinds
        why = " ".join(str(error).split())[:200]
        raise ToolchainError(f"{path} cannot be read: {why}") from error
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    if path.suffix != ".ipynb":
        return list(_placed(path, text, sources))
    numbered = enumerate(map(_plain, sources), 1)
    return [Cell(f"{path}, cell {number}", 1, source) for number, source in numbered]


def _placed(path: Path, text: str, sources: list[str]) -> Iterator[Cell]:
    """Yield the cells of a text notebook, which holds them verbatim, with their first lines."""
    position = 0
    for source in sources:
        found = text.find(source, position)
        position = max(found, position)
        yield Cell(str(path), text.count("\n", 0, position) + 1, _plain(source))


def _plain(source: str) -> str:
    """Return a cell without IPython's magic, which is not Python; the number of lines stays."""
    if source.lstrip().startswith("%%"):
        return ""
    lines = source.split("\n")
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)


@contextlib.contextmanager
def _module(path: Path) -> Iterator[ModuleType]:
    """Make an empty module for the file's names.

    While the file is executed it can be imported by its name, and so can the file's neighbours."""
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
    """Execute a cell, and return what went wrong in one line, or ""."""
    _show_to_linecache(cell)
    name, before = Path(cell.file).name, cell.first - 1
    try:
        parsed = WithoutSignatures().visit(ast.parse(cell.text, cell.file))
        tree = ast.increment_lineno(parsed, before)
        exec(compile(tree, cell.file, "exec", dont_inherit=True), vars(module))
    except SyntaxError as error:
        return f"{name}:{(error.lineno or 1) + before}: {error.msg}"
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == cell.file]
        said = " ".join(str(error).split())[:200]
        return f"{name}:{lines[-1] if lines else cell.first}: {type(error).__name__}: {said}"
    return ""


class WithoutSignatures(ast.NodeTransformer):
    """Take positional arguments from ``@cuda.jit(signature, ...)`` where it is Numba's.

    Whether it is turns out as the file runs."""

    NUMBAS = "{}.__module__.startswith(('numba.cuda', 'numba_cuda_mlir'))"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [self._eager(decorator) for decorator in node.decorator_list]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Call):  # cuda.jit(signature)(function)
            node.func = self._eager(node.func)
        return self.generic_visit(node)

    def _eager(self, node: ast.expr) -> ast.expr:
        """Wrap the arguments. Only a name is looked up twice, so nothing happens twice."""
        if not isinstance(node, ast.Call) or not node.args:
            return node
        if not re.fullmatch(r"(\w+\.)*jit", ast.unparse(node.func)):
            return node
        test = ast.parse(self.NUMBAS.format(ast.unparse(node.func)), mode="eval").body
        kept = ast.IfExp(test, ast.Tuple([], ast.Load()), ast.Tuple(node.args, ast.Load()))
        inner = ast.Call(node.func, [ast.Starred(kept, ast.Load())], node.keywords)
        for new in ast.walk(test):
            ast.copy_location(new, node)
        return ast.fix_missing_locations(ast.copy_location(inner, node))


def _show_to_linecache(cell: Cell) -> None:
    """Put a cell where ``inspect`` and Numba look up a function's text.

    An entry without a modification time is kept, as for doctests."""
    if cell.file.endswith(".py"):
        return
    cache: dict[str, Any] = linecache.cache
    before = cell.first - 1
    earlier = cache[cell.file][2][:before] if cell.file in cache else []
    blank = ["\n"] * (before - len(earlier))
    own = [f"{line}\n" for line in cell.text.splitlines()]
    cache[cell.file] = (1, None, [*earlier, *blank, *own], cell.file)
