"""Sources of kernels: functions, closures, aliased imports; and text that is never run."""

import linecache
import math
import sys
import time
import types
from pathlib import Path

import numba
import numba.cuda as renamed
import numpy as np
import pytest
from numba.cuda import grid, shared, syncthreads, threadIdx

from warpwise import cuda, trace
from warpwise.errors import UndefinedNameError, UnsupportedError, WarpwiseError
from warpwise.simt import Kernel, as_kernel, kernels_in
from warpwise.simt.frontend.lambdas import read_lambda
from warpwise.simt.frontend.signatures import is_signature
from warpwise.simt.machine.device_memory import device_values

TILE = 32
settings = types.ModuleType("settings")
settings.scale = 5


def filled(kernel, *args):
    out = np.zeros(TILE, np.float32)
    trace(kernel, 1, TILE, *args, out)
    return out


# --- from functions ---


@renamed.jit
def by_another_name(out):
    i = renamed.grid(1)
    out[i] = i + renamed.blockDim.x


@numba.cuda.jit
def by_its_full_name(out):
    i = numba.cuda.grid(1)
    mine = numba.cuda.local.array(2, numba.float64)
    mine[0] = i
    out[i] = mine[0]


@renamed.jit
def by_names_of_its_own(out):
    part = shared.array(TILE, numba.int32)
    part[threadIdx.x] = grid(1)
    syncthreads()
    out[grid(1)] = part[TILE - 1 - threadIdx.x]


@cuda.jit
def by_warpwise(out):
    i = cuda.grid(1)
    out[i] = settings.scale * i


def plain_function(out):
    i = cuda.grid(1)
    out[i] = math.floor(i / 2)


@cuda.jit(device=True)
def twice(x):
    return 2 * x


@cuda.jit
def calls_a_function_of_warpwise(out):
    i = cuda.grid(1)
    out[i] = twice(i)


@pytest.mark.parametrize(
    ("kernel", "want"),
    [
        (by_another_name, lambda i: i + 32),
        (by_its_full_name, lambda i: i),
        (by_names_of_its_own, lambda i: 31 - i),
        (by_warpwise, lambda i: 5 * i),
        (plain_function, lambda i: i // 2),
        (calls_a_function_of_warpwise, lambda i: 2 * i),
    ],
    ids=lambda k: getattr(k, "__name__", ""),
)
def test_a_name_means_what_it_was_imported_as(kernel, want):
    np.testing.assert_array_equal(filled(kernel), want(np.arange(TILE)))


def test_a_closure_keeps_its_own_values():
    def make(offset):
        @cuda.jit
        def kernel(out):
            out[cuda.grid(1)] = offset

        return kernel

    one, two = make(1), make(2)
    assert (filled(one)[0], filled(two)[0], filled(one)[0]) == (1, 2, 1)


def test_a_kernel_made_twice_of_one_function_is_one():
    def kernel(out):
        out[cuda.grid(1)] = 3

    assert as_kernel(kernel) is as_kernel(kernel)


def test_line_numbers_are_those_of_the_file():
    t = trace(by_warpwise, 1, TILE, np.zeros(TILE))
    lines = Path(__file__).read_text().splitlines()
    assert t.file == "test_source.py"
    assert all(lines[n - 1] == text for n, text in t.source.items())
    assert "out[i] = settings.scale * i" in lines[max(t.by_line) - 1]


def test_the_source_of_device_functions_is_in_the_trace():
    t = trace(calls_a_function_of_warpwise, 1, TILE, np.zeros(TILE))
    assert "    return 2 * x" in t.source.values()
    assert "    out[i] = twice(i)" in t.source.values()


def test_what_has_no_text_is_refused():
    namespace = {"cuda": cuda}
    exec("def kernel(out):\n    out[0] = 1\n", namespace)
    with pytest.raises(UnsupportedError, match="cannot be found"):
        as_kernel(namespace["kernel"])
    for thing in (len, 3, np.sin, "text", None):
        with pytest.raises(UnsupportedError):
            trace(thing, 1, 1, np.zeros(1))


def test_a_lambda_whose_text_is_python_no_more_is_not_found():
    name, text = "<a cell that was edited>", "double = lambda v: 2 * v\n"
    space: dict = {}
    exec(compile(text, name, "exec"), space)
    for now, found in ((text, True), (text + "1 +\n", False)):
        linecache.cache[name] = len(now), None, now.splitlines(True), name
        assert (read_lambda(space["double"]) is not None) == found


def test_signatures_that_kernels_do_not_have():
    def many(*out):
        out[0] = 1

    def named(*, out):
        out[0] = 1

    for function in (many, named):
        with pytest.raises(UnsupportedError, match="plain positional parameters"):
            trace(function, 1, 1, *([np.zeros(1)] * len(as_kernel(function).parameters)))


# --- from text ---

CELL = """
import numpy as np
import math as m
import numba
from numba import cuda as gpu, float32 as real
from math import sqrt

ROWS, COLUMNS = 4, 2 ** 3
SHAPE = (ROWS, COLUMNS + 1)
HALF = np.float32(0.5)
DOUBLE = np.float64
other = open("nowhere")

@gpu.jit(device=True)
def half(x):
    return x * HALF

@gpu.jit("void(float32[:])", fastmath=True)
def kernel(out):
    tile = gpu.shared.array(SHAPE, dtype=real)
    wide = gpu.local.array(ROWS, DOUBLE)
    i = gpu.grid(1)
    tile[i // 8, i % COLUMNS] = half(i)
    wide[1] = tile[i // 8, i % 8]
    out[i] = wide[1] + sqrt(4) + m.pi + numba.int32(1) + np.int8(1)

def host():
    raise SystemExit

class Ignored:
    print("never")
"""


def test_a_kernel_from_text():
    read = kernels_in(CELL)
    assert list(read) == ["half", "kernel"]
    assert read["half"].device and not read["kernel"].device
    np.testing.assert_allclose(filled(read["kernel"]), np.arange(TILE) / 2 + 4 + math.pi, rtol=1e-6)


def test_lines_of_text_can_begin_anywhere():
    kernel = kernels_in(CELL, "exercise 2", first_line=100)["kernel"]
    t = trace(kernel, 1, TILE, np.zeros(TILE, np.float32))
    assert t.file == "exercise 2"
    assert min(t.by_line) == 100 + CELL.splitlines().index("    return x * HALF")


def test_text_says_parameters_and_whether_an_exercise_was_begun():
    text = '''
from warpwise import cuda
@cuda.jit
def begun(src, dst):
    """Copy."""
    dst[0] = src[0]
@cuda.jit
def stub(src, dst):
    """Copy."""
    ...  # roughly 3 lines
@cuda.jit
def empty(src): pass
'''
    read = kernels_in(text)
    assert {name: k.is_stub for name, k in read.items()} == {
        "begun": False,
        "stub": True,
        "empty": True,
    }
    assert read["begun"].parameters == ("src", "dst")
    assert read["stub"].source.splitlines()[0] == "@cuda.jit"
    assert isinstance(read["stub"], Kernel)


def test_a_later_definition_replaces_an_earlier_one():
    text = "from numba import cuda\nN = 1\n@cuda.jit\ndef k(out):\n    out[cuda.grid(1)] = N\n"
    text += "N = 2\n@cuda.jit\ndef k(out):\n    out[cuda.grid(1)] = 10 * N\n"
    assert filled(kernels_in(text)["k"])[0] == 20


@pytest.mark.parametrize("value", ["TABLE", "np.arange(3, TABLE)", "np.zeros(3, TABLE)"])
def test_text_may_name_an_array_where_a_type_could_be(value):
    text = "import numpy as np\nfrom numba import cuda\nTABLE = np.array([1, 2])\n"
    text += f"OTHER = {value}\n@cuda.jit\ndef k(out):\n    out[0] = TABLE[1]\n"
    assert filled(kernels_in(text)["k"])[0] == 2


# --- hostile text ---

MARKER = "/tmp/warpwise-should-not-exist"
IMPORTS = "import os, sys, math\nimport numpy as np\nfrom numba import cuda, float32\n"


def hostile(body: str, head: str = "") -> str:
    lines = body.splitlines()
    return (
        IMPORTS
        + head
        + "\n@cuda.jit\ndef kernel(out):\n    i = cuda.grid(1)\n"
        + "\n".join("    " + line for line in lines)
        + "\n"
    )


REFUSED = {
    name: hostile(f"out[i] = {expression}")
    for name, expression in {
        "open": f"open({MARKER!r}, 'w')",
        "eval": "eval('1')",
        "exec": "exec('1')",
        "import": "__import__('os')",
        "getattr": "getattr(cuda, 'grid')",
        "globals": "globals()",
        "vars": "vars()",
        "type": "type(i)",
        "breakpoint": "breakpoint()",
        "input": "input()",
        "exit": "exit()",
        "input of a name": "input",
        "compile": "compile('1', '', 'eval')",
        "os.system": f"os.system('touch {MARKER}')",
        "os": "os",
        "np.load": "np.load('x')",
        "np.fromfile": "np.fromfile('x')",
        "np.lib": "np.lib.format",
        "np.testing": "np.testing",
        "np.__loader__": "np.__loader__",
        "cuda.__class__": "cuda.__class__",
        "grid.__globals__": "cuda.grid.__globals__",
        "out.__class__": "out.__class__.__mro__",
        "literal.__class__": "(1).__class__",
        "out.tofile": f"out.tofile({MARKER!r})",
        "out.ctypes": "out.ctypes.data",
        "math.__loader__": "math.__loader__.load_module",
        "kernel.lookup": "kernel.lookup",
        "call of a call": "(lambda: 1)()()",
        "subscript of a builtin": "print[0]",
    }.items()
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_reaches_outside_is_refused(name):
    with pytest.raises((UnsupportedError, UndefinedNameError)) as error:
        filled(kernels_in(REFUSED[name])["kernel"])
    assert error.value.where.text.startswith("out[i] =")


NEVER_RUN = [
    hostile("out[i] = 1", head=f"open({MARKER!r}, 'w')\n"),
    hostile("out[i] = 1", head="sys.exit(3)\nraise SystemExit\nwhile True:\n    pass\n"),
    hostile("out[i] = 1", head=f"def evil(f=open({MARKER!r}, 'w')):\n    return f\n"),
    hostile("out[i] = 1", head=f"class Evil(metaclass=open({MARKER!r}, 'w')):\n    pass\n"),
    hostile("out[i] = 1", head="@sys.exit\n@os._exit\ndef f():\n    pass\n"),
    hostile("out[i] = 1").replace("@cuda.jit", "@cuda.jit(device=sys.exit(3))"),
    hostile("out[i] = 1").replace("@cuda.jit", "@sys.exit\n@cuda.jit"),
    hostile("out[i] = 1").replace(
        "def kernel(out):", "def kernel(out: sys.exit(3)) -> sys.exit(4):"
    ),
    hostile("v: sys.exit(3) = 1\nout[i] = v"),
    hostile(
        "out[i] = 1",
        head=(
            "N = 10 ** 10 ** 10\n"
            "M = 1 << 10 ** 9\n"
            "S = 'a' * 10 ** 12\n"
            "T = (0,) * 10 ** 12\n"
            "U = [0] * 10 ** 12\n"
        ),
    ),
    hostile(
        "out[i] = 1",
        head="from os import *\nfrom . import x\nimport numpy.testing as nt\nexec('1')\n",
    ),
]


@pytest.mark.parametrize("text", NEVER_RUN, ids=range(len(NEVER_RUN)))
def test_what_surrounds_a_kernel_is_never_run(text, tmp_path):
    start = time.process_time()
    np.testing.assert_array_equal(filled(kernels_in(text)["kernel"]), 1)
    assert time.process_time() - start < 5
    assert not Path(MARKER).exists()


def test_naming_a_module_does_not_import_it(monkeypatch):
    """numpy imports some of its parts when they are first named, as SciPy may have done."""
    for name in [name for name in sys.modules if name.startswith("numpy.f2py")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(np), "f2py", raising=False)  # np.f2py, asked for, would import it
    with pytest.raises(UndefinedNameError):
        filled(
            kernels_in(
                hostile(
                    "out[i] = np.f2py.crackfortran", head="from numpy import f2py\nA = np.f2py\n"
                )
            )["kernel"]
        )
    assert "numpy.f2py" not in sys.modules


def functions(template: str, levels: int) -> str:
    bodies = ["1", *(template.replace("F", f"f{n - 1}") for n in range(1, levels))]
    return "".join(
        f"@cuda.jit(device=True)\ndef f{n}(a):\n    return {body}\n"
        for n, body in enumerate(bodies)
    )


EXPLOSIVE = {
    "a number too large": hostile("out[i] = M", head="M = 10 ** 10 ** 10\n"),
    "a shape too large": hostile("s = cuda.shared.array(1 << 10 ** 9, float32)"),
    "shared memory without end": hostile("s = cuda.shared.array((2 ** 40, 2 ** 40), float32)"),
    "local memory without end": hostile("s = cuda.local.array(2 ** 62, float32)"),
    "tuples of tuples": hostile("a = (1, 1)\n" + "a = (a, a)\n" * 60),
    "constants of constants": hostile("out[i] = A", head="A = (1, 1)\n" + "A = (A, A)\n" * 60),
    "arguments that double": hostile(
        "t = (1, 1)\n" + "t = pack(*t, *t)\n" * 60,
        head="@cuda.jit(device=True)\ndef pack(*a):\n    return a\n",
    ),
    "collected tuples that double": hostile(
        "t = (1, 1)\n" + "t = pack(t, t)\n" * 60,
        head="@cuda.jit(device=True)\ndef pack(*a):\n    return a\n",
    ),
    "zips that double": hostile(
        "t = (1,)\n"
        + "".join("    " * n + "for t in zip((t,), (t,)):\n" for n in range(40))
        + "    " * 40
        + "v = 1"
    ),
    "lambdas in lambdas": hostile(
        "f = " + "".join(f"lambda a{n}: (" for n in range(60)) + "1" + ")" * 60 + "\nout[i] = f"
    ),
    "functions that pass each other": hostile("f = lambda g: g(g)\nout[i] = f(f)"),
    "calls that double": hostile("out[i] = f59(1)", head=functions("F(a) + F(a)", 60)),
    "types that double": hostile("out[i] = f59(1)", head=functions("F((a, 1)) + F((a, 1.0))", 60)),
    "loops in loops": hostile(
        "".join("    " * n + f"for k{n} in range(9):\n" for n in range(60)) + "    " * 60 + "v = 1"
    ),
    "a long sum": hostile("out[i] = " + " + ".join(["i"] * 2000)),
    "brackets in brackets": hostile("out[i] = " + "-" * 3000 + "1"),
    "attributes of attributes": hostile("out[i] = 1", head="A = a" + ".b" * 2000 + "\n"),
    "not Python": "def kernel(:\n",
    "a null byte": "a = 1\0",
    "digits": "A = " + "9" * 5000,
    "endless": hostile("while True:\n    out[i] = 1"),
}


@pytest.mark.parametrize("name", EXPLOSIVE)
def test_what_would_grow_without_end_is_stopped_in_time(name):
    start = time.process_time()
    with pytest.raises(WarpwiseError):
        trace(kernels_in(EXPLOSIVE[name])["kernel"], 1, TILE, np.zeros(TILE), max_steps=20_000)
    assert time.process_time() - start < 10


def test_large_powers_and_shifts_stay_within_64_bits():
    start = time.process_time()
    text = hostile(
        "out[i] = 7 ** 10 ** 9 + (1 << 10 ** 9) + (3 << i * 1000) + i ** 10 ** 18 + 10 ** 10 ** 10"
    )
    assert np.isfinite(filled(kernels_in(text)["kernel"])).all()
    assert time.process_time() - start < 5


IMPORTED = {
    "import numba.cuda as nc": ("nc.jit", "nc.popc(7) + nc.fp16.hadd(1, 2)", 6),
    "from numba import cuda as gpu, types": ("gpu.jit", "types.int8(300) + types.f4(0.5)", 44.5),
    "import numba": ("numba.cuda.jit", "numba.types.uint8(-1) + numba.int16(1)", 256),
    "from numba import cuda\nfrom numba.types import float32 as real, boolean": (
        "cuda.jit",
        "real(0.1) + boolean(3)",
        1 + np.float32(0.1),
    ),
    "from numba import cuda\nfrom numba.cuda import libdevice as lib": (
        "cuda.jit('void(float64[:])')",
        "lib.mul24(3, 4) + lib.sqrt(4.0)",
        14,
    ),
    "from numba import cuda\nfrom numba.cuda.libdevice import sqrtf": (
        "cuda.jit(['void(float64[:])'], fastmath=True)",
        "sqrtf(9)",
        3,
    ),
    "from warpwise import cuda\nfrom math import pi as PI\nimport math as m\nTURN = 2 * m.pi": (
        "cuda.jit",
        "TURN - PI - m.pi",
        0,
    ),
    "from numba import cuda\n"
    "import enum\n"
    "class Kind(enum.IntEnum):\n"
    "    A = 3\n"
    "    B = 4\n"
    "    __doc__ = 5": (
        "cuda.jit",
        "Kind.A * Kind.B",
        12,
    ),
    "from numba import cuda\n"
    "import cmath, math\n"
    "from enum import IntEnum as I\n"
    "class Kind(I):\n"
    "    A, B = 1, 2": (
        "cuda.jit",
        "Kind.B",
        2,
    ),
    "from numba import cuda\nREAL = 'float32'": (
        "cuda.jit",
        "1 if REAL == 'float32' else 'text'",
        1,
    ),
}


@pytest.mark.parametrize("imports", IMPORTED)
def test_what_text_imports_means_what_it_means_to_python(imports):
    decorator, expression, want = IMPORTED[imports]
    kernel = kernels_in(f"{imports}\n@{decorator}\ndef k(out):\n    out[0] = {expression}\n")["k"]
    out = np.zeros(1)
    trace(kernel, 1, 1, out)
    assert out[0] == want


class Loud:
    """An object that does something when it is asked for an attribute, as ``ctypes.cdll`` does."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was asked for")


LOUD = Loud()


@cuda.jit
def reads_an_object(x):
    x[0] = LOUD


def test_objects_are_not_asked_for_attributes_that_they_do_not_have():
    assert not is_signature(LOUD) and device_values(LOUD) is None
    with pytest.raises(UnsupportedError, match="LOUD is a Loud"):
        trace(reads_an_object, 1, 1, np.zeros(1))
