"""Python's syntax in a kernel: how each part of it is compiled, and lines of a kernel that use it.

In examples ``x`` and ``out`` are arrays and ``i`` is the thread's index; other names are those that
the tests define around a kernel."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import dedent

import numpy as np

from warpwise.simt.compiler import (
    arithmetic,
    attributes,
    calls,
    conditions,
    device_calls,
    expressions,
    iteration,
    loops,
    names,
    outputs,
    statements,
    subscripts,
    tuples,
)
from warpwise.simt.compiler.context import Attribute, Expression, Iterable, Method, Statement


@dataclass(frozen=True)
class Part:
    """A part of Python's syntax as the page shows it, and the handlers of what is new in it."""

    shown: str
    example: str
    statements: Mapping[type[ast.stmt], Statement] = field(default_factory=dict)
    expressions: Mapping[type[ast.expr], Expression] = field(default_factory=dict)
    iterables: Mapping[object, Iterable] = field(default_factory=dict)
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    methods: Mapping[str, Method] = field(default_factory=dict)

    @property
    def lines(self) -> str:
        """The example, as lines of a kernel's body."""
        return dedent(self.example).strip()


SYNTAX = (
    Part(
        "numbers, names, operators and calls",
        """
        a = 2 * i + 7 // 3 - (i << 2 & 0xF)
        b = -a % 5 ** 2
        cuda.atomic.add(out, 0, abs(b) / 2)
        """,
        {ast.Expr: statements.expression},
        {
            ast.BinOp: expressions.operation,
            ast.Call: calls.call,
            ast.Constant: names.constant,
            ast.Name: names.name,
            ast.UnaryOp: arithmetic.unary,
        },
    ),
    Part(
        "elements, rows and slices of arrays",
        """
        tail = x[4:]
        out[i] = x[i] + x[-1] + tail[0]
        out[:2] = 1
        """,
        expressions={ast.Slice: expressions.stray_slice, ast.Subscript: subscripts.subscript},
    ),
    Part(
        "attributes and methods of arrays",
        """
        pairs = x.reshape(-1, 2)
        swapped = pairs.T
        bits = x.view(np.int32)
        x.fill(x.dtype.type(1))
        out[i] = pairs.shape[0] + pairs.size + pairs.ndim
        out[i] += swapped[1, 0] + bits[i]
        out[i] += x.strides[0] + x.itemsize + x.nbytes + pairs.transpose()[0, 0]
        """,
        expressions={ast.Attribute: attributes.attribute},
        attributes={
            "shape": attributes.shape,
            "size": attributes.size,
            "ndim": attributes.ndim,
            "dtype": attributes.dtype,
            "T": attributes.transpose_of,
            "strides": attributes.strides,
            "itemsize": attributes.itemsize,
            "nbytes": attributes.nbytes,
        },
        methods={
            "transpose": attributes.transpose,
            "reshape": attributes.reshape,
            "view": attributes.view,
            "fill": attributes.fill,
        },
    ),
    Part(
        "methods of numbers",
        """
        bits = np.float32(i).view(np.int32)
        out[i] = bits.bit_count() + x[i].conjugate()
        """,
    ),
    Part(
        "return, without a value in a kernel, and pass",
        """
        if i > 3:
            return
        else:
            pass
        """,
        {ast.Pass: statements.pass_, ast.Return: statements.return_},
    ),
    Part(
        "assignment, also nested, unpacked, augmented and annotated",
        """
        (a, b), c = (i, 1), 2
        first = last = a
        last += b
        count: int = c
        """,
        {
            ast.AnnAssign: statements.annotated,
            ast.Assign: statements.assign,
            ast.AugAssign: statements.augmented,
        },
    ),
    Part(
        "if, elif, else; conditional expressions; chained comparisons",
        """
        if 0 < i <= 3:
            out[i] = 1 if x[i] > 2 else 0
        """,
        {ast.If: statements.if_},
        {ast.Compare: expressions.compare, ast.IfExp: conditions.if_expression},
    ),
    Part(
        "and, or, not: they give one of their values",
        """
        v = i or 7
        w = i and not x[i]
        """,
        expressions={ast.BoolOp: conditions.and_or},
    ),
    Part(
        "a call under a condition, on a line of its own",
        """
        i > 3 and cuda.atomic.add(out, 0, 1)
        cuda.syncwarp() if SCALE < 1 else None
        """,
    ),
    Part(
        "short names for what CUDA, modules and Python give, and for types",
        """
        b, t = cuda.blockIdx, cuda.threadIdx
        add = cuda.atomic.add
        small = min
        d = x.dtype
        tile = cuda.shared.array(4, d)
        tile[0] = d.type(b.x)
        add(out, t.x, small(i, 3) + tile[0])
        """,
    ),
    Part(
        "comparison with None",
        """
        v = None
        if v is None:
            out[i] = 1
        """,
    ),
    Part(
        "a number or None, from a device function or on some paths",
        """
        v = positive(i - 3)
        if v is not None:
            out[i] = v
        """,
    ),
    Part(
        "conditions known before the launch: the branch not taken may be of no type",
        """
        if x.ndim == 2:
            out[i] = x[0, i]
        elif WIDTH > 16 or MODE == 'slow':
            out[i] = x
        """,
    ),
    Part(
        "members of an enumeration, and their values",
        """
        side = Side.LEFT if i < 4 else Side.RIGHT
        if side is Side.LEFT and side != Side['RIGHT']:
            out[i] = side.value
        """,
    ),
    Part(
        "membership in a tuple",
        """
        if i in (1, 3):
            out[i] = 1
        """,
    ),
    Part(
        "for over range",
        """
        for k in range(i, 10, 2):
            out[i] += k
        """,
        {ast.For: loops.for_},
        iterables={range: iteration.range_items},
    ),
    Part(
        "for over range of floating-point numbers: their fractions are cut off",
        """
        for k in range(math.ceil(i / 4)):
            out[i] += k
        """,
    ),
    Part(
        "for over an array",
        """
        for v in x:
            out[i] += v
        """,
    ),
    Part(
        "for over a tuple or a list of values of one type",
        """
        for v in (1, 2, i):
            out[i] += v
        """,
    ),
    Part(
        "enumerate and zip, also nested",
        """
        for k, (a, b) in enumerate(zip(x, range(i)), 1):
            out[i] += k * a * b
        """,
        iterables={enumerate: iteration.enumerated, zip: iteration.zipped},
    ),
    Part(
        "np.ndindex: all indices of a shape",
        """
        for row, column in np.ndindex(2, 3):
            out[i] += row * column
        """,
        iterables={np.ndindex: iteration.indices_items},
    ),
    Part(
        "while, break, continue; else after a loop",
        """
        k = 0
        while k < i:
            k += 2
            if k == 4:
                continue
            if k == 6:
                break
        else:
            out[i] = k
        """,
        {ast.Break: loops.break_, ast.Continue: loops.continue_, ast.While: loops.while_},
    ),
    Part(
        "match on numbers, with alternatives, names and guards",
        """
        match i:
            case 0 | 1:
                out[i] = 1
            case n if n > 4:
                out[i] = n
            case _:
                pass
        """,
    ),
    Part(
        "tuples: constant indices, len, sum, min, max, +",
        """
        t = (i, 2) + (3,)
        out[i] = t[0] + t[-1] + len(t) + sum(t) + max(t)
        """,
        expressions={ast.Tuple: tuples.tuple_},
    ),
    Part(
        "functions within a kernel, and lambdas",
        """
        def shifted(v, by=1):
            return v + by + i
        double = lambda v: 2 * v
        out[i] = double(shifted(3))
        """,
        {ast.FunctionDef: device_calls.function_definition},
        {ast.Lambda: device_calls.lambda_},
    ),
    Part(
        "device functions with defaults, keywords and *values",
        "out[i] = scaled(i, by=3) + scaled(*(i, 2))",
    ),
    Part(
        "functions, types, text and words of CUDA as values and arguments",
        """
        f = squared
        out[i] = applied(f, i) + applied(math.sqrt, 4.0)
        out[i] += applied(np.float32, i)
        """,
    ),
    Part("device functions that call themselves", "out[i] = factorial(i % 8)"),
    Part("device functions made from a lambda, outside the kernel", "out[i] = halved(i)"),
    Part("device functions that call themselves", "out[i] = factorial(i % 8)"),
    Part(
        "sizes of arrays: numbers, constants from outside, and names for one of these",
        """
        n = WIDTH
        tile = cuda.shared.array((n, 4), np.float32)
        tile[0, 0] = 1
        shape = (2 * 4, n)
        other = cuda.shared.array(shape, np.float32)
        other[0, 0] = 1
        out[i] = tile.size + other.size
        """,
    ),
    Part(
        "assert, checked in every launch",
        "assert i >= 0, 'never negative'",
        {ast.Assert: outputs.assert_},
    ),
    Part(
        "raise, which ends the launch",
        """
        if i < 0:
            raise ValueError('negative')
        """,
        {ast.Raise: outputs.raise_},
    ),
    Part(
        "print of numbers, tuples and plain text",
        """
        if i == 0:
            print('first of', x.size, (i, x[i]))
        """,
    ),
    Part(
        "constants from outside, NumPy's types and text among them",
        """
        if MODE == 'fast':
            out[i] = SCALE * SIZES[1] + math.pi
        """,
    ),
)
