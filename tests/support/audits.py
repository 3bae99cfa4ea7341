"""Audits of budgets: for each kernel exercise, which counter pays for each way to reach a lane.

A lab's ``audit.toml`` has a table for each kernel exercise: a way of WAYS, and the counter of the
exercise's budget that grows with what comes by it, or ``free: reason`` where it brings no lane
anything that was not paid for. The table ``[free]`` holds for all exercises that say nothing else.
``names`` gives the letters of the budget in the lab's text as Python, over the kernel's arguments
and the launch's ``blocks`` and ``threads``.

A program on a cluster has an entry for the letters of its budget alone: its counters are of
what ranks send, which the cluster counts itself as it carries it, and they share nothing else, so
that there is no other way to pay for.

``with_more`` changes a right answer so that more data moves by one way, and ``by_atomics`` writes
its loads as ``cuda.atomic.add(x, i, 0)``; neither changes a result."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod

import numpy as np

from support.lab_cases import cells, names_of, solved_cells
from support.paths import ROOT
from warpwise.hopper import TensorMap
from warpwise.labs.exercise import InOut, Launch, Out, Program, value_of
from warpwise.labs.source import role

FREE = "free: "
WAYS = {
    "global": "an input is loaded again",
    "output": "an output is scratch: stored and read back",
    "shared": "through shared memory",
    "local": "through an array of the thread's own",
    "constant": "from constant memory",
    "atomic": "an input is loaded by atomics",
    "shuffle": "from another lane's register",
    "captured": "from a value outside the kernel that it names",
}
#: accesses of each thread to add, if need be: a budget may have some to spare
TRIPS = (8, 64, 512, 4096)
ROW = re.compile(r"^\| `(\w+)` \| (?:at (?:most|least) )?`([^`]+)` \|", re.MULTILINE)


@dataclass(frozen=True)
class Audit:
    """What pays for each way in one exercise."""

    pays: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def counters(self) -> dict[str, str]:
        """The ways that a counter pays for."""
        return {way: paid for way, paid in self.pays.items() if not paid.startswith(FREE)}


@cache
def audits(lab: str) -> dict[str, Audit]:
    """Return a lab's audits by exercise; of a lab without kernels, none."""
    path = ROOT / "tests/course" / lab / "audit.toml"
    tables = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    free = {way: FREE + reason for way, reason in tables.pop("free", {}).items()}
    return {
        exercise: Audit(free | {k: v for k, v in table.items() if k != "names"}, table["names"])
        for exercise, table in tables.items()
    }


# --- the text ---


def budget_of_text(lab: str, name: str) -> dict[str, str]:
    """Return the table of counters and limits in an exercise's section: counter -> Python."""
    above = ""
    for cell in solved_cells(lab):
        if role(cell) == "exercise" and cell.metadata["warpwise"]["name"] == name:
            return dict(ROW.findall(above.rpartition("\n## ")[2]))
        above += f"{cell.source}\n"
    raise LookupError(name)


def limits(
    lab: str, audit: Audit, case: Launch | Program, parameters: Sequence[str]
) -> Callable[[str], float]:
    """Return what works out a limit of the text for a launch, or for a program by the arguments of
    its first rank."""
    arguments = zip(parameters, case.args, strict=True)
    known = names_of(lab) | {name: _array(given) for name, given in arguments}
    if isinstance(case, Program):
        known["ranks"] = case.ranks
    else:
        known |= {"blocks": prod(np.atleast_1d(case.blocks)), "threads": _count(case.threads)}
    letters = {letter: eval(meaning, known) for letter, meaning in audit.names.items()}
    return lambda text: eval(text, known | letters)


def _count(shape: int | tuple[int, ...]) -> int:
    return prod(shape) if isinstance(shape, tuple) else shape


def _array(given: object) -> object:
    """Return an argument as the kernel meets it, an output as zeros."""
    if isinstance(given, Out):
        return np.zeros(given.shape, given.dtype)
    return given.start if isinstance(given, InOut) else given


# --- changed answers ---


def with_given(lab: str, text: str, name: str) -> str:
    """Return a module with those of the lab's device functions that its kernel ``name`` calls."""
    kernel = _function(ast.parse(text), name)
    called = {ast.unparse(node.func) for node in ast.walk(kernel) if isinstance(node, ast.Call)}
    given = (node for cell in cells(lab, "given") for node in ast.parse(cell).body)
    kept = [n for n in given if isinstance(n, ast.FunctionDef) and n.decorator_list]
    return "\n\n".join([*(ast.unparse(n) for n in kept if n.name in called), text])


def with_more(way: str, text: str, name: str, launch: Launch, trips: int) -> str:
    """Return a module whose kernel ``name`` moves more data by one way. Raises LookupError."""
    tree = ast.parse(text)
    kernel = _function(tree, name)
    parameters = [argument.arg for argument in kernel.args.args]
    given = dict(zip(parameters, launch.args, strict=True))
    outputs = {k for k, v in given.items() if isinstance(v, Out | InOut)}
    loaded = {name_in(k, v): value_of(v) for k, v in given.items() if k not in outputs}
    inputs = {k: v for k, v in loaded.items() if isinstance(v, np.ndarray) and v.size}
    if way == "output":
        again = _AgainAfterStores(outputs, trips)
        again.visit(kernel)
        if not again.found:
            raise LookupError(f"{name} stores no element of {', '.join(outputs)}")
        return ast.unparse(ast.fix_missing_locations(tree))
    if way == "atomic":
        inputs = {k: v for k, v in inputs.items() if has_atomics(v)}
        # a device function loads what it is handed plainly, and would race with atomics
        plain = {k: v for k, v in inputs.items() if k not in _handed_on(kernel)}
        for function, arrays in () if plain else _receivers(tree, kernel, inputs):
            _AsAtomics(arrays).visit(function)
        inputs = plain or inputs
        _AsAtomics({k: v.ndim for k, v in inputs.items()}).visit(kernel)
    lines = _added(way, inputs, _count(launch.threads), trips)
    first = 1 if ast.get_docstring(kernel) else 0
    kernel.body[first:first] = ast.parse(lines).body
    return ast.unparse(ast.fix_missing_locations(tree))


def by_atomics(text: str, name: str, launch: Launch) -> str:
    """Return a module whose kernel loads its inputs by atomics, as far as their types have any."""
    tree = ast.parse(text)
    kernel = _function(tree, name)
    given = zip([argument.arg for argument in kernel.args.args], launch.args, strict=True)
    loads = _AsAtomics(
        {k: v.ndim for k, v in given if isinstance(v, np.ndarray) and has_atomics(v)}
    )
    loads.visit(kernel)
    return ast.unparse(ast.fix_missing_locations(tree)) if loads.found else ""


def name_in(parameter: str, given: object) -> str:
    """Return what a kernel calls the array of an argument."""
    return f"{parameter}.array" if isinstance(given, TensorMap) else parameter


def loaded_by_atomics(launch: Launch) -> bool:
    """True if an atomic takes elements of an input of this launch."""
    return any(isinstance(given, np.ndarray) and has_atomics(given) for given in launch.args)


def has_atomics(array: np.ndarray) -> bool:
    """True if ``cuda.atomic.add`` takes elements of this array."""
    return array.dtype.name in ("float32", "float64", "int32", "int64", "uint32", "uint64")


def _added(way: str, inputs: Mapping[str, np.ndarray], threads: int, trips: int) -> str:
    place = (
        "_t = cuda.threadIdx.x + cuda.blockDim.x"
        " * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)\n"
    )
    loop = f"for _k in range({trips}):\n    "
    if way == "shared":
        lines = f"_s = cuda.shared.array({threads}, np.float32)\n_s[_t] = 0\n"
        return place + lines + loop + "_v = _s[_t]\n    _s[_t] = _v"
    if way == "local":
        return place + "_l = cuda.local.array(4096, np.float32)\n" + loop + "_l[_k % 4096] = _t"
    if way == "shuffle":
        return loop + "_v = cuda.shfl_sync(0xFFFFFFFF, _k, 0)"
    name, array = next(iter(inputs.items()))
    axes = [f"(_t + _k) % {name}.shape[{axis}]" for axis in range(array.ndim)]
    index = axes[0] if array.ndim == 1 else f"({', '.join(axes)})"
    element = f"cuda.atomic.add({name}, {index}, 0)" if way == "atomic" else f"{name}[{index}]"
    return place + loop + f"_v = {element}"


def _handed_on(kernel: ast.FunctionDef) -> set[str]:
    """Return the names that calls in a kernel are given, whole or with an index."""
    given = [arg for node in ast.walk(kernel) if isinstance(node, ast.Call) for arg in node.args]
    return {ast.unparse(arg.value if isinstance(arg, ast.Subscript) else arg) for arg in given}


def _receivers(
    tree: ast.Module, kernel: ast.FunctionDef, inputs: Mapping[str, np.ndarray]
) -> Iterator[tuple[ast.FunctionDef, dict[str, int]]]:
    """Yield the module's functions that a kernel hands inputs to: parameters -> axes."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for call in ast.walk(kernel):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in functions:
            function = functions[ast.unparse(call.func)]
            parameters = [parameter.arg for parameter in function.args.args]
            handed = zip(parameters, map(ast.unparse, call.args), strict=False)
            yield function, {p: inputs[arg].ndim for p, arg in handed if arg in inputs}


def _function(tree: ast.Module, name: str) -> ast.FunctionDef:
    return next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name)


class _AgainAfterStores(ast.NodeTransformer):
    """Puts a loop behind each store to an output that stores what it reads back.

    Behind an atomic on an output, the loop has atomics that add 0."""

    def __init__(self, outputs: set[str], trips: int):
        self.outputs, self.trips, self.found = outputs, trips, False

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        return self._again(node, node.targets[0])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        return self._again(node, node.target)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        call = node.value
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("cuda.atomic."):
            array, place = map(ast.unparse, call.args[:2])
            if array in self.outputs:
                return self._loop(node, f"cuda.atomic.add({array}, {place}, 0)")
        return node

    def _again(self, node: ast.stmt, target: ast.expr) -> ast.AST | list[ast.stmt]:
        if not (isinstance(target, ast.Subscript) and ast.unparse(target.value) in self.outputs):
            return node
        return self._loop(node, f"{ast.unparse(target)} = {ast.unparse(target)}")

    def _loop(self, node: ast.stmt, again: str) -> list[ast.stmt]:
        self.found = True
        return [node, *ast.parse(f"for _again in range({self.trips}):\n    {again}").body]


class _AsAtomics(ast.NodeTransformer):
    """Writes loads of whole elements as atomics that add 0; ``arrays``: name -> axes."""

    def __init__(self, arrays: Mapping[str, int]):
        self.arrays, self.found = arrays, False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        whole = len(indices) == self.arrays.get(name) and not any(
            isinstance(index, ast.Slice) for index in indices
        )
        if not (whole and isinstance(node.ctx, ast.Load)):
            return node
        self.found = True
        return ast.parse(f"cuda.atomic.add({name}, {ast.unparse(node.slice)}, 0)", mode="eval").body
