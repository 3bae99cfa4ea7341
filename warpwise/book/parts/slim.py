"""The slim wheel: what of this package a page's cell can use where there is only NumPy.

Its contents follow from imports: the packages in ``WHOLE``, and all that they and ``ROOTS`` import,
in functions too, but for what stands above the labs. Scripts and styles go along with the modules
of their folder. Comments, and docstrings of modules and of private functions, which nobody at a
page reads, are left out; lines keep their numbers. The same sources give the same bytes."""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import warpwise

SOURCE = Path(warpwise.__file__).parent
NAME = f"warpwise-{warpwise.__version__}"
#: Packages that a page may use any module of.
WHOLE = tuple("cells cluster cuda kernels metrics model playground report simt views".split())
ROOTS = (
    "warpwise",
    "warpwise.show",
    "warpwise.labs",
    "warpwise.book.keep",
    *(f"warpwise.gpt2.{name}" for name in "config checkpoint kernels model train".split()),
    *(
        f"warpwise.stopwatch.{name}"
        for name in ("line_by_line accesses cards engine film units").split()
    ),
)
#: Packages that need more than NumPy; of them only roots are in the wheel.
ABOVE = ("cli", "measure", "book", "doctor", "gpt2", "stopwatch", "toolchain", "grading")
METADATA = (
    f"Metadata-Version: 2.1\nName: warpwise\nVersion: {warpwise.__version__}\n"
    "Summary: What pages of the book use of Warpwise\nLicense: MIT\nRequires-Dist: numpy\n"
)
WHEEL = "Wheel-Version: 1.0\nGenerator: warpwise\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def slim_wheel(source: Path = SOURCE) -> tuple[str, bytes]:
    """Return the wheel's file name and its content."""
    modules = closure(source)
    folders = {path.parent for path in modules.values()}
    data = {path for folder in folders for path in folder.iterdir() if _is_data(path)}
    files = {
        path.relative_to(source.parent).as_posix(): _bare(path)
        for path in {*modules.values(), *data}
        if "book" not in path.relative_to(source).parts or path.suffix == ".py"
    }
    return f"{NAME}-py3-none-any.whl", _packed(files)


def _bare(path: Path) -> bytes:
    """Return a file, a module's without what is for its maintainers alone."""
    return _bare_text(path.read_text("utf-8")) if path.suffix == ".py" else path.read_bytes()


@cache  # `make serve` builds again and again
def _bare_text(text: str) -> bytes:
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() + "\n"
    for node in ast.walk(ast.parse(text)):
        if docstring := _for_maintainers(node):
            first, last = docstring.lineno - 1, docstring.end_lineno or docstring.lineno
            lines[first:last] = [" " * docstring.col_offset + '""\n', *"\n" * (last - first - 1)]
    return "".join(lines).encode()


def _for_maintainers(node: ast.AST) -> ast.Expr | None:
    """Return the docstring of a module, or of a private function, if it is the node's."""
    if not isinstance(node, ast.Module | ast.FunctionDef) or ast.get_docstring(node) is None:
        return None
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
        return None
    first = node.body[0]
    return first if isinstance(first, ast.Expr) else None


def closure(source: Path = SOURCE) -> dict[str, Path]:
    """Return the wheel's modules by name, with their paths."""
    found: dict[str, Path] = {}
    waiting = [*ROOTS, *(name for package in WHOLE for name in _modules(source, package))]
    while waiting:
        name = waiting.pop()
        path = _path(source, name)
        if path is None or name in found or (_is_above(name) and name not in ROOTS):
            continue
        found[name] = path
        waiting += imported(path.read_text("utf-8"))
    for name in ROOTS:  # the packages that they are in
        for package in _packages(name):
            found[package] = source.parent.joinpath(*package.split("."), "__init__.py")
    return found


@cache
def imported(text: str) -> tuple[str, ...]:
    """Return the names of all modules, and perhaps more, that a module's text imports.

    Those for types alone are left out."""
    names = []
    for node in _nodes(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(package for name in names for package in (*_packages(name), name))


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        yield from _nodes(node)


def _packages(name: str) -> list[str]:
    """Return the packages that a name is in: "a" and "a.b" of "a.b.c"."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _is_above(name: str) -> bool:
    return name.split(".")[1:2] > [] and name.split(".")[1] in ABOVE


def _modules(source: Path, package: str) -> list[str]:
    paths = (path.with_suffix("") for path in (source / package).rglob("*.py"))
    names = [".".join(path.relative_to(source.parent).parts) for path in paths]
    return [name.removesuffix(".__init__") for name in names]


def _path(source: Path, name: str) -> Path | None:
    path = source.parent.joinpath(*name.split("."))
    found = (one for one in (path / "__init__.py", path.with_suffix(".py")) if one.is_file())
    return next(found, None) if name.split(".")[0] == source.name else None


def _is_data(path: Path) -> bool:
    return path.is_file() and path.suffix in {".js", ".css", ".json", ".txt"}


def _packed(files: dict[str, bytes]) -> bytes:
    """Return a wheel of these files, with what the format asks for."""
    info = f"{NAME}.dist-info"
    files = dict(sorted(files.items()))
    files |= {f"{info}/METADATA": METADATA.encode(), f"{info}/WHEEL": WHEEL.encode()}
    record = "".join(_recorded(name, content) for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, content in files.items():
            member = ZipInfo(name, LONG_AGO)
            member.external_attr = 0o644 << 16
            archive.writestr(member, content, ZIP_DEFLATED, 9)
    return packed.getvalue()


def _recorded(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(content)}\n"
