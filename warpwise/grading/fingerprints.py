"""Fingerprints of Python texts: a few numbers that similar programs share.

The text is parsed, and what does not change the program is put aside: layout, comments, docstrings,
annotations, imports, and the names that the text itself gives. A sequence of tokens is left. Every
K consecutive tokens make a gram, and of every WINDOW consecutive grams the one with the smallest
hash is kept, so that two texts which share K + WINDOW - 1 consecutive tokens share a gram. This is
winnowing: S. Schleimer, D. Wilkerson, A. Aiken, "Winnowing: local algorithms for document
fingerprinting", SIGMOD 2003.

Nothing runs. It is called in the simulation's process, since a hostile text can make Python's
parser use much memory. ``class_report.similar`` compares fingerprints."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from warpwise.grading.notebook import plain

K = 8  # tokens in a gram
WINDOW = 2  # grams of which at least one is kept
MOST_PRINTS = 200
MOST_NODES = 10_000  # looked at in a text; the answers of this course have under 2,000
MOST_PARTS = 6  # of a dotted name that is one token
BYTES = 6  # of a hash: below 2**53, so JSON keeps it in any reader
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
# Begins the token of a name that the text gives; no name of Python's and no other token holds it.
VARIABLE = "\0"


def fingerprint(text: str) -> tuple[int, ...]:
    """Return at most MOST_PRINTS numbers below 2**48, sorted; () for a text that is not Python.

    They are the same in every process. Never raises. Of a text with more numbers the smallest are
    kept, so that two long texts keep the same ones of what they share."""
    kept = {gram for row in _rows(text) for gram in _winnowed(row)}
    return tuple(sorted(kept)[:MOST_PRINTS])


def grams(text: str) -> frozenset[int]:
    """Return all numbers that ``fingerprint`` chooses from, to leave out those handed out."""
    return frozenset(gram for row in _rows(text) for gram in row)


def _rows(text: str) -> list[list[int]]:
    """Return the grams of each function, and of the code around them.

    They are apart, so that the order of functions does not matter."""
    try:
        tree = ast.parse(plain(text))
        tokens = _Tokens(list(islice(ast.walk(tree), MOST_NODES)))
        return [_grams(row) for row in tokens.rows()]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _grams(tokens: Sequence[str]) -> list[int]:
    """Hash every K consecutive tokens; fewer make one gram."""
    return [_hash(tokens[i : i + K]) for i in range(max(1, len(tokens) - K + 1))]


def _winnowed(row: Sequence[int]) -> Iterator[int]:
    """Yield the smallest gram of each window; a row shorter than a window is one."""
    for i in range(max(1, len(row) - WINDOW + 1)):
        yield min(row[i : i + WINDOW])


def _hash(tokens: Sequence[str]) -> int:
    """Hash a gram, with the text's own names numbered in order of appearance.

    So it counts which of them is used where, but not what they are called."""
    seen: dict[str, int] = {}
    canonical = "\n".join(
        f"{VARIABLE}{seen.setdefault(t, len(seen))}" if t.startswith(VARIABLE) else t
        for t in tokens
    )
    text = canonical.encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(text, digest_size=BYTES).digest(), "big")


class _Tokens:
    """The tokens of a text's functions, from the nodes of its syntax tree, the outermost first."""

    def __init__(self, nodes: Sequence[ast.AST]):
        stored = Counter(
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        )
        others = {node.arg for node in nodes if isinstance(node, ast.arg)}
        others |= {node.name for node in nodes if isinstance(node, DEFINITIONS)}
        numbers = dict(named for node in nodes if (named := _named_number(node)))
        self.left = MOST_NODES
        self.roots = [nodes[0], *(node for node in nodes if isinstance(node, FUNCTIONS))]
        self.own = {*stored, *others}
        self.modules = {"np": "numpy"} | dict(_imported(nodes))
        self.constants = {
            name: value
            for name, value in numbers.items()
            if stored[name] == 1 and name not in others
        }

    def rows(self) -> Iterator[list[str]]:
        """Yield the tokens of each function, and of the code around them, if there are any."""
        yield from filter(None, (list(self._tokens(root)) for root in self.roots))

    def _tokens(self, root: ast.AST) -> Iterator[str]:
        """Yield tokens in the order of the text, from a stack of nodes and tokens to come."""
        stack: list[ast.AST | str] = [root]
        if isinstance(root, FUNCTIONS):
            stack = [*reversed(root.body), root.args]
        while stack and self.left > 0:
            node = stack.pop()
            self.left -= 1
            if isinstance(node, str):
                yield node
            elif not self._is_put_aside(node):
                token, below = self._node(node)
                if token:
                    yield token
                stack += reversed(below)

    def _node(self, node: ast.AST) -> tuple[str, Sequence[ast.AST | str]]:
        """Return a node's own token, "" for none, and the nodes below it, with tokens between."""
        match node:
            case ast.Constant() | ast.Name() | ast.arg():
                return self._label(node), []
            case ast.Attribute():
                return self._label(node), [] if self._dotted(node) else [node.value]
            case ast.AugAssign():  # x += y is x = x + y
                return "Assign", [node.target, ast.BinOp(node.target, node.op, node.value)]
            case ast.AnnAssign():
                return "Assign", [node.target, *([node.value] if node.value else [])]
            case ast.BinOp():
                return self._label(node), self._operands(node)
            case ast.Compare(ops=[ast.Gt() | ast.GtE() as op]):  # x > y is y < x
                less = type(op).__name__.replace("G", "L")
                return "Compare", [node.comparators[0], less, node.left]
            case ast.Call():
                arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
                return f"Call{len(arguments)}", [node.func, *arguments]
            case ast.Tuple() | ast.List() | ast.Set():
                return f"Row{len(node.elts)}", node.elts
            case ast.If() | ast.For() | ast.While() | ast.With():
                children = ast.iter_child_nodes(node)
                head = [child for child in children if not isinstance(child, ast.stmt)]
                rest = getattr(node, "orelse", [])
                other = ["else", *rest] if rest else []
                return type(node).__name__, [*head, *node.body, *other, "end"]
        silent = isinstance(node, ast.expr_context | ast.Module | ast.Expr | ast.arguments)
        return "" if silent else type(node).__name__, list(ast.iter_child_nodes(node))

    def _label(self, node: ast.AST) -> str:
        match node:
            case ast.Constant():
                return _constant(node.value)
            case ast.Name():
                return self._name(node.id)
            case ast.arg():
                return VARIABLE + node.arg
            case ast.Attribute():
                return self._dotted(node) or f".{node.attr}"
            case ast.BinOp():
                return f"Bin{type(node.op).__name__}"
        return type(node).__name__

    def _operands(self, node: ast.BinOp) -> list[ast.expr]:
        """Order those of a sum or a product by their labels, so that the text's order is lost."""
        operands = [node.left, node.right]
        if isinstance(node.op, ast.Add | ast.Mult):
            operands.sort(key=lambda operand: self._label(operand).partition(VARIABLE)[:2])
        return operands

    def _is_put_aside(self, node: ast.AST) -> bool:
        named = _named_number(node)
        if named and named[0] in self.constants:
            return True
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Constant)
        return isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass, *FUNCTIONS))

    def _name(self, name: str) -> str:
        if name in self.constants:
            return _constant(self.constants[name])
        return VARIABLE + name if name in self.own else self.modules.get(name, name)

    def _dotted(self, node: ast.Attribute) -> str:
        """Make ``cuda.threadIdx.x`` one token, however the module was imported.

        "" if it begins with the text's own name."""
        parts: list[str] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute) and len(parts) < MOST_PARTS:
            parts.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name) or base.id in self.own:
            return ""
        return ".".join([self._name(base.id), *parts[::-1]])


def _imported(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield imported names and the parts of modules that they stand for.

    It is the last part with an ``as``, and the first without."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                first, last = alias.name.partition(".")[0], alias.name.rpartition(".")[2]
                yield (alias.asname, last) if alias.asname else (first, first)


def _named_number(node: ast.AST) -> tuple[str, int | float] | None:
    """Return name and number of an assignment such as ``SIZE = 32``; None for anything else."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(int() | float() as value)):
            return name, value
    return None


def _constant(value: object) -> str:
    """Label numbers by their value, 32 and 32.0 alike; other constants by their type."""
    if isinstance(value, int):  # True is 1; decimal digits of a long one would raise
        return f"number {int(value):x}"
    if isinstance(value, float):
        return f"number {int(value):x}" if value.is_integer() else f"number {value!r}"
    return type(value).__name__
