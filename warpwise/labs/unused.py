"""Find the names of a function that nothing is made of: a parameter that is never read, a variable
that is worked out and left, a maximum that stays as it began.

In a wrong answer such a name is often the step that is left out. It is found in the text alone, and
says nothing of the numbers. Left out: loop variables, parts of a tuple, and names that begin with
an underscore, which people leave unused on purpose."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from warpwise.labs.causes import words_of

OF_ITS_SHAPE = frozenset({"shape", "size", "ndim", "dtype", "nbytes"})
NEVER_READ = "{names} {is_} never read: which step of the exercise needs {it}?"
NEVER_USED = "{names} {is_} worked out and never used: where {is_} {it} needed?"
NEVER_CHANGED = "{name} begins at -inf and is never changed: where does it take its new value?"
ENDS_EARLY = (
    "a {word} stands in a loop, under no condition, and ends it in its first step: is that meant?"
)
INFINITE = ("inf", "-inf", "math.inf", "-math.inf", "np.inf", "-np.inf", "'-inf'", "MASKED")
MAKERS = ("float", "float16", "float32", "float64", "full", "full_like")
MOST_NAMED = 3


def unused(tree: ast.FunctionDef, outputs: Collection[str] = ()) -> str:
    """Ask about the names that a function never uses; "" if there are none.

    ``outputs`` are parameters that nobody has to read."""
    used = _used(tree).union(outputs)
    parameters = [arg.arg for arg in tree.args.args if arg.arg not in used]
    if parameters:
        return _told(NEVER_READ, parameters)
    left = [name for name in _assigned(tree) if name not in used]
    return _told(NEVER_USED, left) or next(map(_told_of_one, _never_changed(tree)), "")


def ends_early(tree: ast.FunctionDef) -> str:
    """Ask about a loop that ends in its first step, by a return or break that nothing guards."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While):
            for line in node.body:
                if isinstance(line, ast.Return | ast.Break):
                    return ENDS_EARLY.format(word=ast.unparse(line).split()[0])
    return ""


def _told_of_one(name: str) -> str:
    return NEVER_CHANGED.format(name=name)


def _told(form: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    *first, last = names[:MOST_NAMED]
    joined = f"{', '.join(first)} and {last}" if first else last
    is_, it = ("are", "they") if first else ("is", "it")
    if form == NEVER_READ and first:
        it = "them"
    return form.format(names=joined, is_=is_, it=it)


def _used(tree: ast.FunctionDef) -> frozenset[str]:
    """Return the names whose value is used, or to whose elements something is stored.

    The shape of an array is no use of its elements."""
    of_shapes = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in OF_ITS_SHAPE
    }
    return frozenset(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and id(node) not in of_shapes
    )


def _never_changed(tree: ast.FunctionDef) -> Iterator[str]:
    """Yield the names that begin at minus infinity, and that loops take for a running maximum."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    for name, value in _values(tree):
        read = any(_subtracts(node, name) for loop in loops for node in ast.walk(loop))
        if (
            _is_infinite(value)
            and read
            and sum(_may_change(node, name) for node in ast.walk(tree)) == 1
        ):
            yield name


def _values(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that are given a value, also several in a line, with its text."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            yield from ((one.id, value) for one, value in pairs if isinstance(one, ast.Name))


def _is_infinite(value: ast.expr) -> bool:
    """True for -math.inf, np.float32(-math.inf), np.full(n, -np.inf) and the like."""
    if isinstance(value, ast.Call):
        maker = ast.unparse(value.func).rpartition(".")[2]
        return maker in MAKERS and any(map(_is_infinite, value.args))
    return ast.unparse(value) in INFINITE


def _subtracts(node: ast.AST, name: str) -> bool:
    """True for a difference of the name and something else."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
        return False
    return name in (ast.unparse(node.left), ast.unparse(node.right))


def _may_change(node: ast.AST, name: str) -> bool:
    """True for what gives a name a value, stores to its elements, or is told to, as by out=."""
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Subscript):
        return not isinstance(node.ctx, ast.Load) and name in words_of(node.value)
    return isinstance(node, ast.keyword) and node.arg == "out" and name in words_of(node.value)


def _assigned(tree: ast.FunctionDef) -> list[str]:
    """Return the names that a statement of their own gives a value, in order, each once."""
    targets = [
        target
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    ]
    return list(dict.fromkeys(target.id for target in targets))
