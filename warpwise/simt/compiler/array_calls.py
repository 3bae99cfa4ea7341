"""Arrays that a kernel makes or names: shared, local and constant ones.

A shared array of shape 0 is dynamic: its bytes are those that the launch asks for, and all dynamic
arrays of a kernel begin at the same address: they are views of one memory, as in CUDA."""

from __future__ import annotations

import ast
import math

import numpy as np

from warpwise.devices import MULTIPROCESSORS
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import Code
from warpwise.simt.compiler.context import Context
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.machine.array_views import argument
from warpwise.simt.machine.device_memory import captured
from warpwise.simt.machine.memory import ConstantArray
from warpwise.simt.machine.structured_records import is_known, structure_of
from warpwise.simt.types import ArrayType, DType

# the simulator keeps them for each of a batch's 16k lanes; a GPU has 512 KB
LOCAL_BYTES_PER_THREAD = 16 * 1024
MOST_SHARED_BYTES = max(sm.shared_bytes_per_block for sm in MULTIPROCESSORS.values())
# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"
CONSTANT_BYTES = 64 * 1024
_ARGUMENTS = ("shape", "dtype", "alignment")


def name_arrays(c: Context, node: ast.Assign) -> None:
    """Remember the names that an assignment gives to the arrays that its right side makes."""
    target = node.targets[0]
    c.target = target.id if isinstance(target, ast.Name) else ""
    c.targets = {}
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(node.value, ast.Tuple):
        pairs = zip(target.elts, node.value.elts, strict=False)
        c.targets = {value: name.id for name, value in pairs if isinstance(name, ast.Name)}


def _array_of(c: Context, node: ast.Call) -> tuple[DType, tuple[object, ...], str]:
    """Return the element type, shape and name of a shared or local array."""
    given, text = _given(node), ast.unparse(node)
    _need_one_shape(c, node)
    if not {"shape", "dtype"} <= set(given):
        what = f"{text}: a shape and a dtype are needed"
        c.refuse(node, what, _array_call(c, node, given))
    unknown = set(given) - set(_ARGUMENTS)
    if unknown or len(node.args) > len(_ARGUMENTS):
        what = f"{text}: an array is made from a shape, a dtype and an alignment"
        c.refuse(node, what, _array_call(c, node, given))
    if isinstance(given["dtype"], (ast.Tuple, ast.List)):
        swapped = f"{ast.unparse(given['dtype'])}, {ast.unparse(given['shape'])}"
        what = f"{text}: the shape comes first, then the type"
        c.refuse(node, what, f"{ast.unparse(node.func)}({swapped})")
    _need_names(c, node, given["shape"])
    found = c.constant(given["shape"])
    shape: tuple[object, ...] = found if isinstance(found, tuple) else (found,)
    if "alignment" in given and not _is_none(c, given["alignment"]):
        _check_alignment(c, node, c.constant(given["alignment"]))
    name = c.targets.get(node) or c.target or f"array on line {node.lineno}"
    return element_type(c, given["dtype"]), shape, name


def _need_one_shape(c: Context, node: ast.Call) -> None:
    """Refuse ``array(16, 16, np.float32)``: a shape needs brackets of its own."""
    sizes = [arg for arg in node.args if _is_size(c, arg)]
    if len(sizes) < 2 or sizes != node.args[: len(sizes)]:
        return
    shape = ", ".join(map(ast.unparse, sizes))
    others = [*node.args[len(sizes) :], *(k.value for k in node.keywords if k.arg == "dtype")]
    dtype = ast.unparse(others[0]) if others else advice.element_type(c.kernel.names())
    what = f"{ast.unparse(node)}: the shape is one argument, so it needs brackets of its own"
    c.refuse(node, what, f"{ast.unparse(node.func)}(({shape}), {dtype})")


def _is_size(c: Context, node: ast.expr) -> bool:
    value = node.value if isinstance(node, ast.Constant) else c.static(node)
    return isinstance(value, int) and not isinstance(value, bool)


def _given(node: ast.Call) -> dict[str, ast.expr]:
    """Return the arguments of a call by their names; ``**`` is one of its own."""
    given = dict(zip(_ARGUMENTS, node.args, strict=False))
    return given | {k.arg or "**": k.value for k in node.keywords}


def _need_names(c: Context, node: ast.Call, shape: ast.expr) -> None:
    """Refuse sums with names: Numba's compiler takes a size as a number or as a name."""
    for size in shape.elts if isinstance(shape, ast.Tuple) else [shape]:
        names = [n for n in ast.walk(size) if isinstance(n, ast.Name)]
        if isinstance(size, (ast.BinOp, ast.UnaryOp, ast.Call)) and names:
            text = ast.unparse(size)
            takes = "Numba's compiler takes numbers and single names only"
            try_this = f"SIZE = {text} above the kernel, and SIZE in the shape"
            c.refuse(node, f"{text} is a computed size, and {takes}", try_this)


def _is_none(c: Context, node: ast.expr) -> bool:
    return node.value is None if isinstance(node, ast.Constant) else c.static(node) is None


def _check_alignment(c: Context, node: ast.Call, value: object) -> None:
    if not isinstance(value, int) or value is True or value < 1 or value & (value - 1):
        what = f"{ast.unparse(node)}: an alignment is a power of two"
        c.refuse(node, what, "alignment=16")


def _alignment(c: Context, node: ast.Call) -> int:
    """Return the bytes of which the array's address has to be a multiple; 1 if it does not say."""
    asked = _given(node).get("alignment")
    found = 1 if asked is None or _is_none(c, asked) else c.constant(asked)
    return found if isinstance(found, int) else 1


def _checked(c: Context, node: ast.Call, shape: tuple[object, ...]) -> tuple[int, ...]:
    """Return a shape of positive integers; any other is refused."""
    sizes = tuple(n for n in shape if isinstance(n, int) and n > 0)
    if not sizes or len(sizes) < len(shape):
        what = f"{ast.unparse(_shape_of(node))} is no shape: positive integers are needed"
        try_this = "whole numbers above 0, such as 32 or (32, 32); // divides integers"
        c.refuse(node, what, try_this)
    return sizes


def _array_call(c: Context, node: ast.Call, given: dict[str, ast.expr]) -> str:
    """Complete a call, with the shape and type that are there already."""
    plain = advice.element_type(c.kernel.names())
    dtype = ast.unparse(given["dtype"]) if "dtype" in given else plain
    function = ast.unparse(node.func)
    if "shape" in given:
        return f"{function}({ast.unparse(given['shape'])}, {dtype})"
    return f"{function}(shape, {dtype}), with numbers for the shape"


def dtype_of(c: Context, node: ast.expr) -> DType | None:
    """Return the element type that ``a.dtype`` names; None for anything else."""
    if not isinstance(node, ast.Attribute) or node.attr != "dtype":
        return None
    if c.static(node) is not NotImplemented:
        return None
    base = c.expression(node.value)
    return base.type.dtype if isinstance(base.type, ArrayType) else None


def element_type(c: Context, node: ast.expr) -> DType:
    """Return the element type that an argument names.

    A NumPy or Numba type, ``a.dtype``, or a structured type; Numba refuses Python's."""
    dtype = dtype_of(c, node)
    if dtype is not None:
        return dtype
    value = node.value if isinstance(node, ast.Constant) else c.static(node)
    if isinstance(value, CudaName):
        value = value.path
    value = structure_of(value)
    if isinstance(value, type) and value in (float, int, bool, complex):
        what = f"{ast.unparse(node)} is Python's own type, and Numba takes no such element type"
        c.refuse(node, what, f"{advice.element_type(c.kernel.names())}, for example")
    try:
        dtype = np.dtype(value) if isinstance(value, (str, type, np.dtype)) else None
    except TypeError:
        dtype = None
    if dtype is None or not is_known(dtype):
        what = f"{ast.unparse(node)} is not an element type the simulator knows"
        c.refuse(node, what, f"{advice.element_type(c.kernel.names())}, for example")
    return dtype


def shared_array(c: Context, node: ast.Call) -> Code:
    dtype, given, name = _array_of(c, node)
    key, site = (c.kernel, node.lineno, node.col_offset), c.site(node)
    alignment = _alignment(c, node)
    if given == (0,):
        t = ArrayType(dtype, 1, "shared")
        return Code(lambda f, m: f.batch.arrays.dynamic(name, dtype, site, alignment), t)
    shape = _checked(c, node, given)
    if math.prod(shape) * dtype.itemsize > MOST_SHARED_BYTES:
        what = f"{name} of shape {shape} is larger than any GPU's shared memory"
        most = 48 * 1024 // dtype.itemsize
        c.refuse(node, what, f"at most {most:,} elements of {dtype}")
    t = ArrayType(dtype, len(shape), "shared")
    c.counts.arrays["shared", key] = math.prod(shape) * dtype.itemsize
    return Code(lambda f, m: f.batch.arrays.shared(key, name, dtype, shape, site, alignment), t)


def local_array(c: Context, node: ast.Call) -> Code:
    dtype, given, name = _array_of(c, node)
    shape = _checked(c, node, given)
    if math.prod(shape) * dtype.itemsize > LOCAL_BYTES_PER_THREAD:
        space = f"the {LOCAL_BYTES_PER_THREAD:,} bytes that a thread has here"
        most = LOCAL_BYTES_PER_THREAD // dtype.itemsize
        what = f"{name} of shape {shape} is larger than {space}"
        c.refuse(node, what, f"at most {most:,} elements of {dtype}")
    key = (c.kernel, node.lineno, node.col_offset)
    t = ArrayType(dtype, len(shape), "local")
    c.counts.arrays["local", key] = math.prod(shape) * dtype.itemsize
    return Code(lambda f, m: f.batch.arrays.local(key, name, dtype, shape), t)


# --- constants ---


def const_array_like(c: Context, node: ast.Call) -> Code:
    """Compile ``cuda.const.array_like(TABLE)``; of an argument it is the argument, as in Numba."""
    one = len(node.args) == 1 and not node.keywords
    value = c.static(node.args[0]) if one else NotImplemented
    if one and value is NotImplemented:
        given = c.expression(node.args[0])
        if isinstance(given.type, ArrayType):
            return given
    if not isinstance(value, np.ndarray):
        name = ast.unparse(node.func)
        what = f"{ast.unparse(node)}: {name} takes one NumPy array from outside the kernel"
        c.refuse(node, what, f"{name}(TABLE), with TABLE = np.array(...) above the kernel")
    return constant_array(c, node.args[0], value)


def constant_array(c: Context, node: ast.expr, values: np.ndarray) -> Code:
    """Compile an array outside the kernel, which is copied into constant memory."""
    name = ast.unparse(node)
    if not is_known(values.dtype) or values.ndim == 0:
        what = f"{name} is an array of {values.dtype}, which a kernel cannot hold"
        c.refuse(node, what, "an array of numbers")
    if values.nbytes > CONSTANT_BYTES:
        what = f"{name} is an array outside the kernel of {values.nbytes:,} bytes"
        try_this = f"pass {name} to the kernel as an argument"
        c.refuse(node, f"{what}, and constants have {CONSTANT_BYTES:,}", try_this)
    array = ConstantArray(name, values)
    c.counts.arrays["const", id(values)] = values.nbytes
    return Code(lambda f, m: array, ArrayType(values.dtype, values.ndim, "const"))


def captured_array(c: Context, node: ast.expr, values: np.ndarray) -> Code:
    """Compile a device array outside the kernel, which is the array itself and no copy."""
    name = ast.unparse(node)
    if not is_known(values.dtype):
        what = f"{name} is an array of {values.dtype}, which a kernel cannot hold"
        c.refuse(node, what, "an array of numbers")
    array = argument(name, values, captured(values))
    named = [one for one in c.counts.captured if one.info == array.info]
    if named:
        array = named[0]
    else:
        c.counts.captured.append(array)
    return Code(lambda f, m: array, ArrayType(values.dtype, values.ndim, "global"))


def _shape_of(node: ast.Call) -> ast.expr:
    return node.args[0] if node.args else next(k.value for k in node.keywords if k.arg == "shape")
