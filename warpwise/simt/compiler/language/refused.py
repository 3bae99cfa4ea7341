"""Syntax and names that a kernel cannot use, with the advice that errors and the book give.

A test compiles every example, and checks that it is refused with this advice."""

from __future__ import annotations

import ast

from warpwise.simt.compiler.entries import Refused

_STATEMENTS: dict[type[ast.AST], Refused] = {
    ast.Try: Refused(
        "try", "try:\n    pass\nexcept ValueError:\n    pass", "check conditions with if"
    ),
    ast.With: Refused(
        "with",
        "with x:\n    pass",
        "a kernel has no context managers: write the lines without with",
    ),
    ast.ClassDef: Refused("class", "class A:\n    pass", "use arrays"),
    ast.Import: Refused("import", "import os", "import at the top of the file"),
    ast.ImportFrom: Refused(
        "from ... import", "from os import path", "import at the top of the file"
    ),
    ast.Delete: Refused("del", "del i", "leave the line out"),
    ast.Global: Refused("global", "global n", "pass values as arguments"),
    ast.Nonlocal: Refused(
        "nonlocal", "def f():\n    nonlocal i\n    return i\nv = f()", "pass values as arguments"
    ),
    ast.Match: Refused(
        "match with patterns of parts",
        "match i:\n    case (1, 2):\n        pass",
        "match numbers, | of them, names and _; or use if and elif",
    ),
}
_EXPRESSIONS: dict[type[ast.AST], Refused] = {
    ast.List: Refused("lists", "v = [1, 2]", "use a tuple, or cuda.local.array"),
    ast.Dict: Refused("dictionaries", "v = {1: 2}", "use arrays and integer indices"),
    ast.Set: Refused("sets", "v = {1, 2}", "use arrays and integer indices"),
    ast.ListComp: Refused("list comprehensions", "v = [k for k in range(3)]", "write a loop"),
    ast.GeneratorExp: Refused("generators", "v = (k for k in range(3))", "write a loop"),
    ast.SetComp: Refused("set comprehensions", "v = {k for k in range(3)}", "write a loop"),
    ast.DictComp: Refused(
        "dictionary comprehensions", "v = {k: k for k in range(3)}", "write a loop"
    ),
    ast.Yield: Refused("yield", "v = yield", "write results into an array argument"),
    ast.JoinedStr: Refused("f-strings", "v = f'{i}'", "a kernel has no strings: use numbers"),
    ast.Await: Refused("await", "v = await x", "a kernel has no coroutines: leave await out"),
    ast.NamedExpr: Refused(
        "assignment within an expression, which Numba's compiler takes of plain names only",
        "v = (w := i)",
        "assign on a line of its own",
    ),
    ast.Starred: Refused("* outside of a call", "v = (*x, 1)", "write the arguments out"),
}
#: CUDA's words, by their path below ``cuda``.
REFUSED_CUDA = {
    "bf16": Refused(
        "cuda.bf16", "v = cuda.bf16.hadd(1, 2)", "float32 or cuda.fp16: NumPy has no bfloat16"
    ),
    "rsqrt": Refused(
        "cuda.rsqrt",
        "v = cuda.rsqrt(2.0)",
        "cuda.libdevice.rsqrtf(x) or 1 / math.sqrt(x): Numba has no such name",
    ),
    "literal_unroll": Refused(
        "cuda.literal_unroll",
        "v = cuda.literal_unroll((1, 2))",
        "a loop over a tuple of values of one type",
    ),
    "jit": Refused(
        "cuda.jit in a kernel", "v = cuda.jit(x)", "define device functions outside the kernel"
    ),
}
_USES = (
    Refused(
        "a device function that calls itself before any path returns a value",
        "v = again(i)",
        "first return a value on a path without a call, or write a loop",
    ),
    Refused(
        "reversed", "for k in reversed(range(3)):\n    pass", "count down: range(n - 1, -1, -1)"
    ),
    Refused(
        "a loop over a tuple of several types",
        "for v in (1, 2.5):\n    pass",
        "items of one type, such as (1.0, 2.5)",
    ),
    Refused("a loop over a tuple of no items", "for v in ():\n    pass", "leave the loop out"),
    Refused("a star in an assignment", "a, *b = (1, 2, 3)", "a name for each value"),
    Refused(
        "%, + and format of text in print",
        "print('v = %d' % i)",
        "print the values one after another: print('v =', i)",
    ),
    Refused(
        "NumPy's functions of arrays, unless an array for the results comes last: np.sin(x, out)",
        "v = np.dot(x, x)",
        "write a loop over the elements",
    ),
    Refused(
        "np.sqrt, np.exp, np.abs, np.floor and more: Numba has no GPU code for them",
        "v = np.sqrt(2.0)",
        "math.sqrt(2.0)",
    ),
    Refused(
        "np.zeros, np.empty and their like",
        "v = np.zeros(3)",
        "cuda.local.array(3, np.float32) for one thread",
    ),
    Refused("computing with text", "v = 'text' + 'more'", "use numbers"),
    Refused("sep= and end= of print", "print(i, sep='')", "leave sep= out"),
    Refused(
        "f-strings in print", "print(f'{i}')", "print the values one after another: print('x', x)"
    ),
    Refused("a value returned by a kernel", "return i", "write results into an array argument"),
    Refused(
        "libdevice's sums and products rounded in other ways",
        "v = cuda.libdevice.fadd_rz(1.0, 2.0)",
        "fadd_rn",
    ),
)
#: Kinds of syntax.
REFUSED_SYNTAX = _STATEMENTS | _EXPRESSIONS
REFUSED: tuple[Refused, ...] = (*REFUSED_SYNTAX.values(), *_USES, *REFUSED_CUDA.values())
