"""Advice to programs that return what a call of ``dist`` gives, which is None or a handle.

Collectives and ``recv`` put what they do into an array that they are given. Found in the program's
text: the call whose value a ``return`` gives back, by itself or by a name, and what it has filled.
Left out: values that go through containers, or other functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: what fills an array, or the arrays of a list -> the parameter, which stands first
FILLS = {
    "recv": "tensor",
    "irecv": "tensor",
    "all_reduce": "tensor",
    "broadcast": "tensor",
    "reduce_scatter": "output",
    "reduce_scatter_tensor": "output",
    "all_gather": "tensor_list",
    "all_gather_into_tensor": "output_tensor",
    "all_to_all": "output_tensor_list",
}
SENDS = ("send", "isend", "barrier")  #: they fill nothing
WORDS = {*FILLS, *SENDS}


def advice_on_returns(tree: ast.AST, name: str) -> str:
    """Say what a function ``name`` in a tree should return in place of what ``dist`` gives.

    "" if it returns nothing of the kind."""
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name)
    return next((_advice(call) for one in functions for call in _returned(one)), "")


def _returned(function: ast.FunctionDef) -> Iterator[ast.Call]:
    """Yield the calls of ``dist`` whose values are returned, alone or in a tuple."""
    named = dict(_named(function))
    for node in ast.walk(function):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        for one in node.value.elts if isinstance(node.value, ast.Tuple) else (node.value,):
            call = named.get(one.id) if isinstance(one, ast.Name) else one
            if isinstance(call, ast.Call) and _word(call) in WORDS:
                yield call


def _named(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield names with what they were given last in the text."""
    found = [n for n in ast.walk(function) if isinstance(n, ast.Assign)]
    for node in sorted(found, key=lambda one: one.lineno):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value


def _word(call: ast.Call) -> str:
    """The name of a method; of ``dist.all_reduce(...).wait()`` that of the first call."""
    if not isinstance(call.func, ast.Attribute):
        return ""
    inner = call.func.value
    waits = call.func.attr == "wait" and isinstance(inner, ast.Call)
    return _word(inner) if waits and isinstance(inner, ast.Call) else call.func.attr


def _advice(call: ast.Call) -> str:
    inner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(inner, ast.Call):
        call = inner  # wait() returns nothing either
    word = _word(call)
    later = word in ("isend", "irecv") or any(k.arg == "async_op" for k in call.keywords)
    gives = "a handle, whose wait() returns None" if later else "None"
    waits = "wait() for it" if later else f"call dist.{word} on a line of its own"
    if word in SENDS:
        return f"dist.{word} returns {gives}: {waits}, and return the array after that"
    array = _filled(call, FILLS[word])
    where = f"{array}, in place," if array else "the array that it is given, in place,"
    what = f"return {array}" if array else "return that array, which needs a name"
    return f"dist.{word} puts its result into {where} and returns {gives}: {waits}, and then {what}"


def _filled(call: ast.Call, parameter: str) -> str:
    """What a call fills, as the text has it; "" if that has no name."""
    given = call.args[:1] or [k.value for k in call.keywords if k.arg == parameter]
    named = [one for one in given if isinstance(one, ast.Name)]
    return named[0].id if named else ""
