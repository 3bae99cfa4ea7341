"""What a text has in common with others, as a few numbers: its fingerprint.

The text is parsed, and what does not change the program is put aside: layout, comments, docstrings, annotations, imports, the names that
the text itself gives. What is left is a row of tokens. Every K tokens in a row make a gram, and of every WINDOW grams in a row the one
with the smallest hash is kept, so that two texts which share K + WINDOW - 1 tokens in a row share a gram. This is winnowing: S. Schleimer,
D. Wilkerson, A. Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003.

Nothing runs. It is called in the simulation's process, since Python's parser can be made to use much memory by a text that is written
for it. What two fingerprints say of two students is for ``similar``.
"""

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
MOST_NODES = 10_000  # of a text that are looked at; the answers of this course have under 2,000
MOST_PARTS = 6  # of a dotted name that is one token
BYTES = 6  # of a hash: below 2**53, so JSON keeps it in any reader
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
VARIABLE = "\0"  # begins the token of a name that the text gives; no name of Python's and no other token holds it


def fingerprint(text: str) -> tuple[int, ...]:
    """At most MOST_PRINTS numbers below 2**48, sorted, the same in every process; () for a text that is not Python.

    Never raises. Of a text with more numbers the smallest stay: two such texts keep the same ones of what they share.
    """
    kept = {gram for row in _rows(text) for gram in _winnowed(row)}
    return tuple(sorted(kept)[:MOST_PRINTS])


def grams(text: str) -> frozenset[int]:
    """All that ``fingerprint`` chooses from: what to leave out for a text that everybody was given."""
    return frozenset(gram for row in _rows(text) for gram in row)


def _rows(text: str) -> list[list[int]]:
    """The grams of each function, and of what stands around them, in order. So the order of functions does not matter."""
    try:
        tree = ast.parse(plain(text))
        tokens = _Tokens(list(islice(ast.walk(tree), MOST_NODES)))
        return [_grams(row) for row in tokens.rows()]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _grams(tokens: Sequence[str]) -> list[int]:
    """Of K tokens in a row each; fewer make one gram."""
    return [_hash(tokens[i : i + K]) for i in range(max(1, len(tokens) - K + 1))]


def _winnowed(row: Sequence[int]) -> Iterator[int]:
    """Of each window its smallest gram; a row shorter than a window is one."""
    for i in range(max(1, len(row) - WINDOW + 1)):
        yield min(row[i : i + WINDOW])


def _hash(tokens: Sequence[str]) -> int:
    """The text's own names are numbered as they come in the gram: what is done with which of them counts, not what they are called."""
    seen: dict[str, int] = {}
    canonical = "\n".join(f"{VARIABLE}{seen.setdefault(t, len(seen))}" if t.startswith(VARIABLE) else t for t in tokens)
    return int.from_bytes(hashlib.blake2b(canonical.encode("utf-8", "replace"), digest_size=BYTES).digest(), "big")


class _Tokens:
    """The tokens of a text's functions, given the nodes of its syntax tree, the outermost first."""

    def __init__(self, nodes: Sequence[ast.AST]):
        stored = Counter(node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
        others = {node.arg for node in nodes if isinstance(node, ast.arg)} | {node.name for node in nodes if isinstance(node, DEFINITIONS)}
        numbers = {node.targets[0].id: node.value.value for node in nodes if _names_a_number(node)}
        self.left = MOST_NODES
        self.roots = [nodes[0], *(node for node in nodes if isinstance(node, FUNCTIONS))]
        self.own = {*stored, *others}
        self.modules = {"np": "numpy"} | dict(_imported(nodes))
        self.constants = {name: value for name, value in numbers.items() if stored[name] == 1 and name not in others}

    def rows(self) -> Iterator[list[str]]:
        """Of each function, and of what stands around them, if there is any."""
        yield from filter(None, (list(self._tokens(root)) for root in self.roots))

    def _tokens(self, root: ast.AST) -> Iterator[str]:
        """In the order of the text. The stack holds nodes still to come, and tokens to be said after them."""
        stack: list[ast.AST | str] = [root.args, *root.body][::-1] if isinstance(root, FUNCTIONS) else [root]
        while stack and self.left > 0:
            node = stack.pop()
            self.left -= 1
            if isinstance(node, str):
                yield node
            elif not self._is_put_aside(node):
                token, below = self._node(node)
                if token:
                    yield token
                stack += below[::-1]

    def _node(self, node: ast.AST) -> tuple[str, list]:
        """A node's own token, "" for none, and what comes below it: nodes, and tokens between them."""
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
                return "Compare", [node.comparators[0], type(op).__name__.replace("G", "L"), node.left]
            case ast.Call():
                return f"Call{len(node.args) + len(node.keywords)}", [node.func, *node.args, *(k.value for k in node.keywords)]
            case ast.Tuple() | ast.List() | ast.Set():
                return f"Row{len(node.elts)}", node.elts
            case ast.If() | ast.For() | ast.While() | ast.With():
                before = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
                rest = getattr(node, "orelse", [])
                return type(node).__name__, [*before, *node.body, *(["else", *rest] if rest else []), "end"]
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
        """Those of a sum or a product in an order that does not depend on the text's, as far as their labels tell them apart."""
        if isinstance(node.op, ast.Add | ast.Mult):
            return sorted([node.left, node.right], key=lambda operand: self._label(operand).partition(VARIABLE)[:2])
        return [node.left, node.right]

    def _is_put_aside(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Assign) and _names_a_number(node) and node.targets[0].id in self.constants:
            return True
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Constant)
        return isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass, *FUNCTIONS))

    def _name(self, name: str) -> str:
        if name in self.constants:
            return _constant(self.constants[name])
        return VARIABLE + name if name in self.own else self.modules.get(name, name)

    def _dotted(self, node: ast.Attribute) -> str:
        """``cuda.threadIdx.x`` is one token, however the module was imported; "" if it begins with the text's own name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute) and len(parts) < MOST_PARTS:
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.own:
            return ""
        return ".".join([self._name(node.id), *parts[::-1]])


def _imported(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """What imported names stand for: the last part of what was imported, or the first where there is no ``as``."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                first, last = alias.name.partition(".")[0], alias.name.rpartition(".")[2]
                yield (alias.asname, last) if alias.asname else (first, first)


def _names_a_number(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int | float)
    )


def _constant(value: object) -> str:
    """Numbers count with their value, 32 and 32.0 alike; other constants by their type."""
    if isinstance(value, int):  # True is 1; decimal digits of a long one would raise
        return f"number {int(value):x}"
    if isinstance(value, float):
        return f"number {int(value):x}" if value.is_integer() else f"number {value!r}"
    return type(value).__name__
