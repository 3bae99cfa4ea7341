"""Advice in error messages: likely spellings and replacements, in the learner's own names.

Nothing here decides whether something is a mistake; it runs only once there is one."""

from __future__ import annotations

import ast
import math
from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType

import numpy as np

from warpwise.simt.compiler.entries import Vocabulary
from warpwise.simt.compiler.spelling import OWN, meant
from warpwise.simt.compiler.value_types import KnownType, VectorType
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.names import CudaName, resolve
from warpwise.simt.frontend.source import Outside
from warpwise.simt.machine.structured_records import RecordType
from warpwise.simt.types import NONE, SCALARS, ArrayType, TupleType, is_float, is_scalar

PYTHON = (
    "range len min max abs pow round sum divmod enumerate zip print int float bool True False None"
)
IMPORTS = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "math": "import math",
    "cuda": "from warpwise import cuda",
}
#: names of ``math`` that people write without it
OF_MATH = "inf nan exp expm1 log log1p log2 log10 sqrt sin cos tan tanh erf ceil floor fabs".split()
MADE = ("array", "empty", "full", "ones", "zeros")


@dataclass(frozen=True)
class Own:
    """The names that a kernel has itself: parameters, those that are arrays, and variables."""

    parameters: tuple[str, ...]
    arrays: tuple[str, ...]
    variables: tuple[str, ...]

    def nearest(self, name: str) -> str:
        """Return the one that ``name`` is a misspelling of, or ""."""
        other_case = [known for known in self.parameters if known.lower() == name.lower()]
        known = (*self.parameters, *self.variables)
        return next(iter(other_case), "") or meant(name, known, shortest=OWN)


def undefined(
    name: str, own: Own, outside: Mapping[str, object], top: Iterable[str]
) -> tuple[str, str]:
    """Return the message for an undefined name, and what to try.

    ``own``: the kernel's names, ``outside``: those that it sees, ``top``: CUDA's."""
    what = f"{name} is not defined"
    if name in IMPORTS:
        return what, f"{IMPORTS[name]} at the top of the file, or in an earlier cell"
    near = _meant(name, own, outside, tuple(top))
    if near:
        return f"{what}; did you mean {near}?", f"write {near}"
    shape = f", as from {own.arrays[0]}.shape" if own.arrays else ""
    return what, f"give it a value on a line above{shape}, or define it above the kernel"


def _meant(name: str, own: Own, outside: Mapping[str, object], top: tuple[str, ...]) -> str:
    """Return the name that was probably meant, or ""."""
    modules = {k: v for k, v in outside.items() if isinstance(v, (ModuleType, CudaName))}
    cuda = next((k for k, v in modules.items() if resolve(v) == CudaName()), "cuda")
    if name in top:
        return f"{cuda}.{name}"
    if name in {t.name for t in SCALARS}:
        return element_type(outside, name)
    if name in OF_MATH:
        return f"{next((k for k, v in outside.items() if v is math), 'math')}.{name}"
    public = [k for k, v in outside.items() if not k.startswith("_") and _is_for_kernels(v)]
    near = own.nearest(name) or meant(name, (*public, *PYTHON.split()))
    word = "" if near else meant(name, top)
    return f"{cuda}.{word}" if word else near


def _is_for_kernels(value: object) -> bool:
    """True if a name outside a kernel may be meant in it: no list, and nothing of a notebook."""
    if isinstance(value, Outside):
        return value.is_function
    if isinstance(value, (ModuleType, CudaName, Kernel)):
        return True
    of_package = str(getattr(value, "__module__", "")).partition(".")[0] in ("warpwise", "IPython")
    return isinstance(value, Hashable) and not (of_package and callable(value))


def element_type(outside: Mapping[str, object], name: str = "float32") -> str:
    """Name an element type with the imports of a kernel's text: ``np.float32``, ``float32``."""
    if resolve(outside.get(name)) is getattr(np, name):
        return name
    numpy = next((k for k, v in outside.items() if v is np), "np")
    return f"{numpy}.{name}"


def unknown_attribute(
    base: object, attribute: str, written: str, functions: Container[object]
) -> tuple[str, str]:
    """Return the message for ``math.sqr`` and the like, and what to try.

    ``written``: the text of ``base``; ``functions``: those that a kernel can call."""
    names = vars(base) if isinstance(base, ModuleType) else {}
    near = meant(attribute, [k for k, v in names.items() if _can_be_used(v, functions)])
    what = f"{written}.{attribute} is not defined"
    if near:
        return f"{what}; did you mean {written}.{near}?", f"write {written}.{near}"
    return what, f"{written} has nothing of this name: look it up in its documentation"


def _can_be_used(value: object, functions: Container[object]) -> bool:
    return isinstance(value, Hashable) and (isinstance(value, float) or value in functions)


def unknown_cuda(path: str, written: str, words: Vocabulary) -> tuple[str, str, bool]:
    """Return the message for ``cuda.<path>`` where it cannot be read or called, and what to try.

    The third value is True for a name that CUDA lacks."""
    prefix = written[: -len(path)] if written.endswith(path) else "cuda."
    first = path.partition(".")[0]
    if path in words.called:
        return f"{written} is a function", f"call it: {written}{words.called[path]}", False
    if path in words.read:
        return f"{written} is a number and cannot be called", f"{written} without ()", False
    if path in words.axes:
        what = f"{written} has three parts; a number is needed here"
        return what, f"{written}.x, .y or .z", False
    if member := words.member(path):
        return f"{written} is neither a function nor a value", f"{written}.{member}", False
    if first in words.axes:
        return f"{written} is not defined", f"{prefix}{first}.x, .y or .z", True
    if first in words.refused:
        return f"{written} is not known to the simulator", words.refused[first].instead, False
    synced = f"{path}_sync"  # an older name, of before Volta
    near = synced if synced in words.called else ""
    near = near or meant(path, (*words.called, *words.read, *words.top))
    if near:
        what = f"{written} is not defined; did you mean {prefix}{near}?"
        return what, f"write {prefix}{near}{words.called.get(near, '')}", True
    known = ", ".join(word for word in words.top if word not in words.vectors)
    return f"{written} is not known to the simulator", f"known are {known}", False


def on_call(
    node: ast.Call, function: object, types_of: Mapping[str, object], outside: Mapping[str, object]
) -> str:
    """Suggest what to write instead of a call that a kernel cannot make."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if function is NotImplemented:
        return _on_call_of_a_value(node, types_of.get(name))
    if function is range:
        return "range(...) belongs in a loop: for i in range(n):"
    if getattr(np, name, None) is function and name in MADE:
        return _instead_of_array(node, name, types_of, outside)
    if isinstance(function, FunctionType) and not function.__module__.startswith("numpy"):
        return f"if {name} is meant for kernels, write @cuda.jit(device=True) above it"
    if isinstance(function, np.ufunc):
        return _instead_of_ufunc(node, function.__name__)
    if function in (sum, sorted, any, all, round) or getattr(np, name, None) is function:
        return "write a loop over the elements; math.* functions, min, max and abs work on numbers"
    return "a kernel can call math.* functions, min, max, abs and device functions"


def _instead_of_array(
    node: ast.Call, name: str, types_of: Mapping[str, object], outside: Mapping[str, object]
) -> str:
    """Suggest an array of a kernel instead of ``np.zeros(n, dtype=np.int32)``: sizes are known."""
    given = {k.arg: k.value for k in node.keywords}
    sizes = node.args[0] if node.args and name != "array" else None
    plain = [n.id for n in ast.walk(sizes) if isinstance(n, ast.Name)] if sizes else []
    varies = any(variable in types_of for variable in plain)
    shape = "SIZE" if varies or sizes is None else ast.unparse(sizes)
    places = {"empty": 1, "zeros": 1, "ones": 1, "array": 1, "full": 2}
    dtype = given.get("dtype", next(iter(node.args[places[name] :]), None))
    made = f"array({shape}, {ast.unparse(dtype) if dtype else element_type(outside)})"
    choice = f"cuda.local.{made} for one thread, or cuda.shared.{made} for a block"
    constant = ", with SIZE = ... above the kernel" if shape == "SIZE" else ""
    return f"{choice}{constant}; then fill it in a loop"


def _instead_of_ufunc(node: ast.Call, name: str) -> str:
    """Suggest what to write for a function of NumPy that Numba's CUDA compiler has no code for."""
    a, b = [*map(ast.unparse, node.args), "a", "b"][:2]
    known = {
        "absolute": f"abs({a})",
        "square": f"{a} * {a}",
        "power": f"{a} ** {b}",
        "reciprocal": f"1 / {a}",
        "rint": f"round({a})",
    }
    if hasattr(math, name):
        known.setdefault(name, f"math.{name}({', '.join(map(ast.unparse, node.args))})")
    instead = known.get(name, "math.* functions and operators")
    return f"{instead}: Numba's compiler has no such code for a GPU"


def _on_call_of_a_value(node: ast.Call, t: object) -> str:
    text = ast.unparse(node.func)
    if isinstance(node.func, ast.Name) and isinstance(t, (ArrayType, TupleType)):
        index = ", ".join(map(ast.unparse, node.args)) or "i"
        return f"square brackets take an element: {text}[{index}]"
    if isinstance(node.func, ast.Attribute):
        return _on_method(node, node.func)
    return f"{text} is not a function: is an operator such as * missing before the bracket?"


def _on_method(node: ast.Call, function: ast.Attribute) -> str:
    """Suggest what to write for ``x.size()``, ``x[i].astype(np.float32)`` and other methods."""
    value, name = ast.unparse(function.value), function.attr
    if name in ("size", "shape", "ndim"):
        of_an_axis = f", and {value}.shape[0] is the length of its first axis"
        return f"it is not a function: write {value}.{name} without brackets{of_an_axis}"
    if name == "astype" and node.args:
        return f"call the type: {ast.unparse(node.args[0])}({value})"
    if name in ("item", "copy") and isinstance(function.value, ast.Subscript):
        return f"an element is a number already: {value}"
    return "an array has no methods in a kernel: write a loop over its elements"


def on_unused(node: ast.expr, function: object, called: Mapping[str, str]) -> str:
    """Suggest what to do about a value that no line uses.

    ``function``: what the expression means, if that is known before the launch; ``called``: CUDA's
    functions with their arguments."""
    text = ast.unparse(node)
    if isinstance(function, CudaName) and function.path in called:
        return f"add brackets: {text}{called[function.path]}"
    if isinstance(function, Kernel) or (callable(function) and not isinstance(function, CudaName)):
        return f"call it: {text}(...)"
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        return f"== compares; to assign, {left} = {right}"
    return f"assign it to a name, such as value = {text}, or delete the line"


def on_number_needed(node: ast.expr, t: object, tree: ast.AST) -> str:
    """Suggest what to write for ``node`` in the function ``tree``, where a number is needed."""
    text = ast.unparse(node)
    if isinstance(t, ArrayType):
        return f"one element of it: {text}[{letters(t.ndim) or '()'}]"
    if isinstance(t, TupleType):
        return f"one of its parts: {text}[0]"
    if isinstance(t, VectorType):
        return f"one of its parts: {text}.x"
    if isinstance(t, RecordType):
        return f"one of its fields: {text}.{(t.dtype.names or ('',))[0]}"
    return on_result(node, tree) or "give it a number"


def on_result(node: ast.expr, tree: ast.AST) -> str:
    """Suggest what to do about a function that returns nothing; "" if ``node`` is no result."""
    made_by = _call_behind(node, tree)
    if made_by.endswith("syncthreads"):
        return f"{made_by} returns nothing: call it on a line of its own"
    return f"{made_by} returns nothing: end it with return ..." if made_by else ""


def _call_behind(node: ast.expr, tree: ast.AST) -> str:
    """Return the text of the function of a call, or of the call that a name was assigned."""
    if isinstance(node, ast.Name):
        calls = (
            a.value
            for a in ast.walk(tree)
            if isinstance(a, ast.Assign) and isinstance(a.value, ast.Call)
            if node.id in [getattr(t, "id", "") for t in a.targets]
        )
        node = next(calls, node)
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def on_index(node: ast.expr, t: object) -> str:
    """Suggest what to write instead of an index that is no integer."""
    text = ast.unparse(node)
    if isinstance(t, KnownType) and isinstance(t.value, CudaName):
        return f"{text}.x, {text}.y or {text}.z"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        quotient = ast.unparse(ast.BinOp(node.left, ast.FloorDiv(), node.right))
        return f"// divides integers: {quotient}"
    if is_scalar(t) and is_float(t):
        return f"int({text}), or // instead of / where it is computed"
    return "an integer for each dimension"


def on_pair(node: ast.Subscript, part: ast.expr, count: int, ndim: int, tree: ast.AST) -> str:
    """Suggest what to write for ``x[i, 0]`` where ``part``, here ``i``, is a tuple.

    It has ``count`` indices, and the array has ``ndim`` dimensions."""
    array, pair = ast.unparse(node.value), ast.unparse(part)
    whole = ", ".join(f"{pair}[{k}]" for k in range(count))
    apart = [whole if one is part else ast.unparse(one) for one in _parts(node)]
    given = [f"{pair}[0]" if one is part else ast.unparse(one) for one in _parts(node)]
    found = [f"{array}[{pair}]"] if count == ndim else []
    found += [f"{array}[{', '.join(apart)}]"] if len(given) - 1 + count == ndim else []
    found += [f"{array}[{', '.join(given)}]"] if len(given) == ndim else []
    if _call_behind(part, tree).endswith("grid"):
        found.append(f"{letters(count)} = cuda.grid({count})")
    return ", or ".join(found) or f"its parts one by one: {pair}[0]"


def on_stored(target: ast.AST, t: object, tree: ast.AST) -> str:
    """Suggest what to write where a value of type ``t``, no number, is assigned to an element."""
    if isinstance(t, KnownType):
        is_axes = isinstance(t.value, CudaName)
        return "one of its parts: .x, .y or .z" if is_axes else "call it, or store a number"
    values = (a.value for a in ast.walk(tree) if isinstance(a, ast.Assign) and target in a.targets)
    value = next(values, None) if t is NONE else None
    return (value and on_result(value, tree)) or f"store one number: {ast.unparse(target)} = ..."


def on_count_of_indices(node: ast.Subscript, ndim: int, tree: ast.AST) -> str:
    """Suggest what to write where the indices of an array are not one for each dimension."""
    name, given = ast.unparse(node.value), _indices(node)
    if len(given) < ndim:  # a[i][j] is a common wish
        for outer in ast.walk(tree):
            if isinstance(outer, ast.Subscript) and outer.value is node:
                given += _indices(outer)
    if len(given) > ndim:
        many = "one" if len(given) == ndim + 1 else "some"
        return f"leave {many} out, such as {name}[{', '.join(given[:ndim])}]"
    rest = [x for x in "ijklmnopq" if x not in given][: ndim - len(given)]
    return f"all indices in one pair of brackets, such as {name}[{', '.join(given + rest)}]"


def _indices(node: ast.Subscript) -> list[str]:
    return [ast.unparse(part) for part in _parts(node)]


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def on_outside(node: ast.expr, value: object) -> tuple[str, str]:
    """Describe a value outside the kernel, and suggest what to do instead of reading it there."""
    if isinstance(value, np.ndarray):
        return "an array outside the kernel", "pass it to the kernel as an argument"
    if isinstance(value, np.dtype):
        text = ast.unparse(node)
        return "an element type", f"{text}.type(v) makes a number of it"
    if callable(value):
        return "a function", f"call it: {ast.unparse(node)}(...)"
    if isinstance(value, ModuleType):
        return "a module", f"name something in it: {ast.unparse(node)}.name"
    what = f"a {type(value).__name__}"
    if isinstance(value, (list, dict, set)):
        return what, "put its numbers into a NumPy array, and pass that as an argument"
    return what, "a kernel takes numbers and arrays: pass what it needs as arguments"


def on_known(node: ast.expr, value: object, words: Vocabulary) -> tuple[str, str]:
    """Describe a function, type, text or word of CUDA where a number is needed, and suggest one."""
    text = ast.unparse(node)
    if isinstance(value, CudaName):
        return unknown_cuda(value.path, text, words)[:2]
    if isinstance(value, str):
        return f"a kernel cannot compute with the text {value!r}", "use numbers"
    kind, try_this = on_outside(node, value)
    return f"{text} is {kind}; a number is needed here", try_this


def on_loop(node: ast.For, types_of: Mapping[str, object]) -> str:
    """Suggest what a loop can run over instead."""
    name = node.iter.id if isinstance(node.iter, ast.Name) else ""
    if is_scalar(types_of.get(name)):
        return f"for i in range({name}):"
    return "for i in range(n): and index inside"


def letters(count: int) -> str:
    """Return names for indices: "i, j"."""
    return ", ".join("ijklmnopq"[:count])
