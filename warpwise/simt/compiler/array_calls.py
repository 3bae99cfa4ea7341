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
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.machine.memory import ConstantArray
from warpwise.simt.machine.structured_records import is_known, structure_of
from warpwise.simt.types import ArrayType

# the simulator keeps them for each of a batch's 16k lanes; a GPU has 512 KB
LOCAL_BYTES_PER_THREAD = 16 * 1024
MOST_SHARED_BYTES = max(sm.shared_bytes_per_block for sm in MULTIPROCESSORS.values())
# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"
CONSTANT_BYTES = 64 * 1024
_ARGUMENTS = ("shape", "dtype", "alignment")


class ArrayCalls:
    """Mixin of ``Compiler`` for arrays made in a kernel."""

    def name_arrays(self, node: ast.Assign) -> None:
        """Remember the names that an assignment gives to the arrays that its right side makes."""
        target = node.targets[0]
        self.target = target.id if isinstance(target, ast.Name) else ""
        self.targets = {}
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(node.value, ast.Tuple):
            pairs = zip(target.elts, node.value.elts, strict=False)
            self.targets = {value: name.id for name, value in pairs if isinstance(name, ast.Name)}

    def _array_of(self, node: ast.Call) -> tuple[np.dtype, tuple[int, ...], str]:
        """Return the element type, shape and name of a shared or local array."""
        given, text = dict(zip(_ARGUMENTS, node.args, strict=False)), ast.unparse(node)
        given |= {k.arg: k.value for k in node.keywords}
        if not {"shape", "dtype"} <= set(given):
            what = f"{text}: a shape and a dtype are needed"
            self.refuse(node, what, self._array_call(node, given))
        unknown = set(given) - set(_ARGUMENTS)
        if unknown or len(node.args) > len(_ARGUMENTS):
            what = f"{text}: an array is made from a shape, a dtype and an alignment"
            self.refuse(node, what, self._array_call(node, given))
        if isinstance(given["dtype"], (ast.Tuple, ast.List)):
            swapped = f"{ast.unparse(given['dtype'])}, {ast.unparse(given['shape'])}"
            what = f"{text}: the shape comes first, then the type"
            self.refuse(node, what, f"{ast.unparse(node.func)}({swapped})")
        self._need_names(node, given["shape"])
        shape = self.constant(given["shape"])
        shape = shape if isinstance(shape, tuple) else (shape,)
        if "alignment" in given:
            self._check_alignment(node, self.constant(given["alignment"]))
        name = self.targets.get(node) or self.target or f"array on line {node.lineno}"
        return self.element_type(given["dtype"]), shape, name

    def _need_names(self, node: ast.Call, shape: ast.expr) -> None:
        """Refuse sums with names: Numba's compiler takes a size as a number or as a name."""
        for size in shape.elts if isinstance(shape, ast.Tuple) else [shape]:
            names = [n for n in ast.walk(size) if isinstance(n, ast.Name)]
            if isinstance(size, (ast.BinOp, ast.UnaryOp, ast.Call)) and names:
                text = ast.unparse(size)
                takes = "Numba's compiler takes numbers and single names only"
                try_this = f"SIZE = {text} above the kernel, and SIZE in the shape"
                self.refuse(node, f"{text} is a computed size, and {takes}", try_this)

    def _check_alignment(self, node: ast.Call, value) -> None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or value < 1 or value & (value - 1):
            what = f"{ast.unparse(node)}: an alignment is a power of two"
            self.refuse(node, what, "alignment=16")

    def _need_shape(self, node: ast.Call, shape: tuple) -> None:
        if not shape or not all(isinstance(n, int) and n > 0 for n in shape):
            what = f"{ast.unparse(_shape_of(node))} is no shape: positive integers are needed"
            try_this = "whole numbers above 0, such as 32 or (32, 32); // divides integers"
            self.refuse(node, what, try_this)

    def _array_call(self, node: ast.Call, given: dict[str, ast.expr]) -> str:
        """Complete a call, with the shape and type that are there already."""
        plain = advice.element_type(self.kernel.names())
        dtype = ast.unparse(given["dtype"]) if "dtype" in given else plain
        function = ast.unparse(node.func)
        if "shape" in given:
            return f"{function}({ast.unparse(given['shape'])}, {dtype})"
        return f"{function}(shape, {dtype}), with numbers for the shape"

    def element_type(self, node: ast.expr) -> np.dtype:
        """Return the element type that an argument names.

        A NumPy or Numba type, ``a.dtype``, or a structured type."""
        dtype = self.dtype_of(node)
        if dtype is not None:
            return dtype
        value = node.value if isinstance(node, ast.Constant) else self.static(node)
        if isinstance(value, CudaName):
            value = value.path
        value = structure_of(value)
        try:
            dtype = np.dtype(value) if isinstance(value, (str, type, np.dtype)) else None
        except TypeError:
            dtype = None
        if dtype is None or not is_known(dtype):
            what = f"{ast.unparse(node)} is not an element type the simulator knows"
            self.refuse(node, what, f"{advice.element_type(self.kernel.names())}, for example")
        return dtype

    def _cuda_shared_array(self, node: ast.Call) -> Code:
        dtype, shape, name = self._array_of(node)
        key, site = (self.kernel, node.lineno, node.col_offset), self.site(node)
        if shape == (0,):
            t = ArrayType(dtype, 1, "shared")
            return Code(lambda f, m: f.batch.arrays.dynamic(name, dtype, site), t)
        self._need_shape(node, shape)
        if math.prod(shape) * dtype.itemsize > MOST_SHARED_BYTES:
            what = f"{name} of shape {shape} is larger than any GPU's shared memory"
            most = 48 * 1024 // dtype.itemsize
            self.refuse(node, what, f"at most {most:,} elements of {dtype}")
        t = ArrayType(dtype, len(shape), "shared")
        return Code(lambda f, m: f.batch.arrays.shared(key, name, dtype, shape, site), t)

    def _cuda_local_array(self, node: ast.Call) -> Code:
        dtype, shape, name = self._array_of(node)
        self._need_shape(node, shape)
        if math.prod(shape) * dtype.itemsize > LOCAL_BYTES_PER_THREAD:
            space = f"the {LOCAL_BYTES_PER_THREAD:,} bytes that a thread has here"
            most = LOCAL_BYTES_PER_THREAD // dtype.itemsize
            what = f"{name} of shape {shape} is larger than {space}"
            self.refuse(node, what, f"at most {most:,} elements of {dtype}")
        key = (self.kernel, node.lineno, node.col_offset)
        t = ArrayType(dtype, len(shape), "local")
        return Code(lambda f, m: f.batch.arrays.local(key, name, dtype, shape), t)

    # --- constants ---

    def _cuda_const_array_like(self, node: ast.Call) -> Code:
        one = len(node.args) == 1 and not node.keywords
        value = self.static(node.args[0]) if one else NotImplemented
        if not isinstance(value, np.ndarray):
            name = ast.unparse(node.func)
            what = f"{ast.unparse(node)}: {name} takes one NumPy array from outside the kernel"
            self.refuse(node, what, f"{name}(TABLE), with TABLE = np.array(...) above the kernel")
        return self.constant_array(node.args[0], value)

    def constant_array(self, node: ast.expr, values: np.ndarray) -> Code:
        """Compile an array outside the kernel, which is copied into constant memory."""
        name = ast.unparse(node)
        if not is_known(values.dtype) or values.ndim == 0:
            what = f"{name} is an array of {values.dtype}, which a kernel cannot hold"
            self.refuse(node, what, "an array of numbers")
        if values.nbytes > CONSTANT_BYTES:
            what = f"{name} is an array outside the kernel of {values.nbytes:,} bytes"
            try_this = f"pass {name} to the kernel as an argument"
            self.refuse(node, f"{what}, and constants have {CONSTANT_BYTES:,}", try_this)
        array = ConstantArray(name, values)
        return Code(lambda f, m: array, ArrayType(values.dtype, values.ndim, "const"))


def _shape_of(node: ast.Call) -> ast.expr:
    return node.args[0] if node.args else next(k.value for k in node.keywords if k.arg == "shape")
