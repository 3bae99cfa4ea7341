"""Kernels on the host's side: configurations, options, and what a kernel can be asked for."""

import linecache
import pickle
import warnings

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import (
    ArithmeticFault,
    KernelError,
    LaunchError,
    LaunchStateError,
    LaunchTypeError,
    UnsupportedError,
)
from warpwise.simt import kernels_in


@cuda.jit
def shared_and_local(x):
    """Sum four numbers."""
    tile = cuda.shared.array(8, x.dtype)
    mine = cuda.local.array((2, 2), x.dtype)
    for k in range(4):
        mine[k // 2, k % 2] = x[k]
    tile[0] = mine[0, 0] + mine[0, 1] + mine[1, 0] + mine[1, 1]
    x[0] = tile[0]


@cuda.jit(device=True)
def reversed_by(size, x, i):
    part = cuda.local.array(size, np.int64)
    for k in range(size):
        part[size - 1 - k] = x[k]
    return part[i]


@cuda.jit
def reverses_twice(x, out):
    i = cuda.grid(1)
    out[i, 0] = reversed_by(2, x, i)
    out[i, 1] = reversed_by(4, x, i)


def test_a_device_function_is_compiled_for_each_constant_that_it_needs():
    x, out = np.arange(4, dtype=np.int64), np.zeros((2, 2), np.int64)
    trace(reverses_twice, 1, 2, x, out)
    np.testing.assert_array_equal(out, [[1, 3], [0, 2]])


# --- configurations ---


@pytest.mark.parametrize(
    ("config", "kind", "said"),
    [
        (((1, 2, 3, 4), 1), ValueError, r"griddim .* 1, 2 or 3 integers, got \[1, 2, 3, 4\]"),
        ((1, (1, 2, 3, 4)), ValueError, "blockdim .* 1, 2 or 3 integers"),
        ((2.0, 3), TypeError, r"griddim must be a sequence of integers, got \[2.0\]"),
        ((2, (3, 1.5)), TypeError, "blockdim must be a sequence of integers"),
        ((2, None), ValueError, "configuration was not specified"),
    ],
)
def test_a_configuration_is_checked_before_there_are_arguments(config, kind, said):
    with pytest.raises(kind, match=said) as error:
        shared_and_local[config]
    assert isinstance(error.value, LaunchError)


def test_a_configured_kernel_says_its_configuration():
    launch = shared_and_local[5, (8, 2), 0, 64]
    assert (launch.griddim, launch.blockdim, launch.sharedmem) == ((5, 1, 1), (8, 2, 1), 64)


def test_a_kernel_without_a_configuration_is_a_value_error():
    with pytest.raises(ValueError, match=r"shared_and_local\[blocks, threads\]"):
        shared_and_local(np.zeros(4))


def test_launch_bounds_limit_the_threads_of_a_block():
    kernel = cuda.jit(launch_bounds=(128, 2))(shared_and_local.py_func)
    kernel[1, 1](np.ones(4))
    with pytest.raises(LaunchError, match=r"256 threads.*lets a block have 128"):
        kernel[1, 256](np.ones(4))
    with pytest.raises(LaunchError, match="Got 4 launch bounds"):
        cuda.jit("void(float64[:])", launch_bounds=(128, 2, 4, 8))(shared_and_local.py_func)


class Doubles:
    """An extension that doubles numbers, and remembers what it did."""

    def __init__(self):
        self.done = []

    def prepare_args(self, ty, val, stream, retr):
        if np.ndim(val):
            return ty, val
        retr.append(lambda: self.done.append(str(ty)))
        return ty, 2 * val


def test_extensions_prepare_the_arguments():
    doubles = Doubles()
    kernel = cuda.jit(fill, extensions=[doubles])
    kernel.extensions.append(doubles)
    x = np.zeros(2)
    kernel[1, 2](x, 3)
    assert x.tolist() == [12, 12] and doubles.done == ["int64", "int64"]


def fill(x, n):
    x[cuda.grid(1)] = n


# --- options ---


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"boundscheck": True}, UnsupportedError, "boundscheck"),
        ({"link": ["code.cu"]}, UnsupportedError, "other languages"),
        ({"link": ["code.cu"], "device": True}, ValueError, "this is a device function"),
        ({"argtypes": (1,)}, LaunchError, "a signature is its first argument"),
        ({"shared_memory_carveout": 101}, ValueError, "between -1 and 100"),
        ({"shared_memory_carveout": "Most"}, ValueError, "Invalid carveout value"),
        ({"shared_memory_carveout": 1.5}, TypeError, "str or int, got float"),
    ],
)
def test_an_option_that_numba_refuses_is_refused(options, kind, said):
    with pytest.raises(kind, match=said):
        cuda.jit(**options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"debug": True}, "opt=False"),
        ({"debug": True, "opt": True}, "opt=False"),
        ({"debug": True, "opt": False, "lineinfo": True}, "mutually exclusive"),
    ],
)
def test_options_that_do_not_go_together_are_warned_of(options, said):
    with pytest.warns(UserWarning, match=said) as found:
        cuda.jit(**options)
    assert found[0].filename == __file__


def test_options_that_go_together_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cuda.jit(debug=True, opt=False)
        cuda.jit(shared_memory_carveout="MaxL1", fastmath=True, launch_bounds=128)


def test_anything_but_a_function_is_refused():
    with pytest.raises(LaunchTypeError, match="makes a kernel of a function, not of 5"):
        cuda.jit(5)


# --- parameters with defaults ---

FACTOR = 3


@cuda.jit
def scaled(x, factor=FACTOR, offset=0.5):
    x[0] = x[0] * factor + offset


@pytest.mark.parametrize(("given", "want"), [((), 6.5), ((5,), 10.5), ((5, 1.0), 11)])
def test_a_launch_may_leave_defaults_out(given, want):
    x = np.full(1, 2.0)
    scaled[1, 1](x, *given)
    assert x[0] == want


@pytest.mark.parametrize("given", [(), (np.zeros(1), 1, 2, 3)])
def test_a_launch_gives_the_others(given):
    with pytest.raises(LaunchError, match=r"scaled\(x, factor, offset\) takes 3 arguments"):
        scaled[1, 1](*given)


@cuda.jit
def optional(x, y=None):
    if y is None:
        x[0] = 5
    else:
        x[0] = y


@cuda.jit
def truth_of_none(x, y=None):
    x[0] = y if y else 7


def test_none_is_false():
    x = np.zeros(1)
    truth_of_none[1, 1](x)
    assert x[0] == 7
    truth_of_none[1, 1](x, 3)
    assert x[0] == 3


@cuda.jit
def of_a_grid(x):
    cuda.cg.this_grid()
    x[0] = 1


def test_a_kernel_that_asks_for_its_grid_is_cooperative():
    of_a_grid[1, 1](np.zeros(1))
    optional[1, 1](np.zeros(1))
    assert [o.cooperative for o in of_a_grid.overloads.values()] == [True]
    assert not any(o.cooperative for o in optional.overloads.values())


def test_a_default_may_be_none():
    x = np.zeros(1)
    optional[1, 1](x)
    assert x[0] == 5
    optional[1, 1](x, 3)
    assert x[0] == 3
    with pytest.raises(LaunchError, match="argument y is a NoneType"):
        optional[1, 1](x, None)


def test_a_default_is_what_it_was_when_the_kernel_was_defined(monkeypatch):
    monkeypatch.setattr(f"{__name__}.FACTOR", 100)
    x = np.ones(1)
    scaled[1, 1](x)
    assert x[0] == 3.5


# --- what a kernel can be asked for ---


def test_a_kernel_keeps_what_its_function_has():
    assert shared_and_local.__doc__ == "Sum four numbers."
    assert shared_and_local.__name__ == "shared_and_local"
    assert shared_and_local.__module__ == __name__
    assert shared_and_local.__wrapped__ is shared_and_local.py_func
    assert cuda.jit(fastmath=True)(shared_and_local.py_func).targetoptions["fastmath"]


def test_a_kernel_knows_what_it_was_compiled_for():
    kernel = cuda.jit(shared_and_local.py_func)
    assert kernel.signatures == [] and len(kernel.overloads) == 0
    kernel[1, 1](np.ones(4, np.float32))
    kernel[1, 1](np.ones(4))
    kernel[1, 1](np.ones(4))
    assert [tuple(map(str, kinds)) for kinds in kernel.signatures] == [
        ("float32[::1]",),
        ("float64[::1]",),
    ]
    with pytest.raises(KeyError, match=r"compiled for \(float32"):
        kernel.overloads["void(int32[:])"]


def test_the_bytes_of_a_kernel_are_those_of_its_arrays():
    numba = pytest.importorskip("numba")
    kernel = cuda.jit(shared_and_local.py_func)
    kernel[1, 1](np.ones(4, np.float32))
    kernel[1, 1](np.ones(4))
    single, double = numba.void(numba.float32[::1]), numba.void(numba.float64[::1])
    assert kernel.get_shared_mem_per_block(single) == 32
    assert kernel.get_shared_mem_per_block()[double.args] == 64
    assert kernel.get_local_mem_per_thread("void(float32[:])") == 16
    assert kernel.get_const_mem_size(single) == 0
    assert kernel.get_max_threads_per_block(single) == 1024
    assert 16 <= kernel.get_regs_per_thread(single) <= 255


def test_the_bytes_of_constants_are_counted():
    table = np.arange(32)

    @cuda.jit("void(int64[::1])")
    def look_up(x):
        constants = cuda.const.array_like(table)
        x[cuda.grid(1)] = constants[cuda.grid(1)]

    assert look_up.get_const_mem_size() == table.nbytes
    assert look_up.get_max_threads_per_block() == 1024


def test_a_kernel_is_specialized_once():
    kernel = cuda.jit(shared_and_local.py_func)
    single = kernel.specialize(np.ones(4, np.float32))
    assert kernel.specialize(np.zeros(9, np.float32)) is single
    assert kernel.specialize(np.ones(4)) is not single
    assert single.get_shared_mem_per_block() == 32
    x = np.ones(4, np.float32)
    single[1, 1](x)
    assert x[0] == 4
    with pytest.raises(TypeError, match="compiled for"):
        single[1, 1](np.ones(4))
    with pytest.raises(LaunchStateError, match="already specialized"):
        single.specialize(x)
    with pytest.raises(RuntimeError, match="already specialized"):
        cuda.jit("void(float32[:])")(shared_and_local.py_func).specialize(x)


def test_a_kernel_is_compiled_for_a_signature_on_demand():
    kernel = cuda.jit(shared_and_local.py_func)
    assert kernel.compile("void(float32[:])").shared_mem_per_block == 32
    with pytest.raises(LaunchStateError, match="signatures of its decorator"):
        cuda.jit("void(float32[:])")(shared_and_local.py_func).compile("void(float64[:])")


@pytest.mark.parametrize("name", ["inspect_asm", "inspect_llvm", "inspect_sass", "inspect_types"])
def test_machine_code_is_refused_in_one_line(name):
    with pytest.raises(UnsupportedError, match="warpwise compile FILE shared_and_local"):
        getattr(shared_and_local, name)()


def test_a_kernel_of_a_module_can_be_pickled():
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    launch = pickle.loads(pickle.dumps(scaled[5, 8]))
    assert (launch.dispatcher, launch.griddim, launch.blockdim) == (scaled, (5, 1, 1), (8, 1, 1))


def local_kernel(amount):
    @cuda.jit(device=True)
    def more(v):
        return v + amount + np.float64(FACTOR)

    @cuda.jit("void(float64[:])")
    def kernel(x):
        x[0] = more(x[0])

    return kernel


def test_a_kernel_within_a_function_is_pickled_by_value():
    kernel = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(local_kernel(2)))))
    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 5
    assert kernel.specialized and kernel.get_shared_mem_per_block() == 0


def test_a_launch_with_callbacks_is_not_pickled():
    launch, seen = scaled[1, 1], []
    launch.pre_launch_callbacks.append(lambda kernel, configured: seen.append(configured.griddim))
    launch(np.zeros(1))
    assert seen == [(1, 1, 1)]
    with pytest.raises(pickle.PicklingError, match="callbacks"):
        pickle.dumps(launch)


# --- errors of a kernel, at the host ---


class OwnError(Exception):
    def __init__(self, code, reason):
        super().__init__(code, reason)


TEXT = "too small"


@cuda.jit(device=True)
def checked(v):
    if v < 0:
        raise ValueError(TEXT)
    if v == 0:
        raise OwnError(3, "zero")
    if v == 1:
        raise KeyError
    if v == 2:
        raise AssertionError("two")
    return v


@cuda.jit
def check(x):
    x[0] = checked(x[0])


@pytest.mark.parametrize(
    ("v", "kind", "said"),
    [
        (-1, ValueError, r"^raise ValueError\(TEXT\) was reached: too small\n.*test_kernels.py:"),
        (0, OwnError, r"^raise OwnError\(3, 'zero'\) was reached"),
        (1, KeyError, "^raise KeyError was reached"),
        (2, AssertionError, "was reached"),
    ],
)
def test_what_a_kernel_raises_is_caught_by_its_class(v, kind, said):
    with pytest.raises(kind, match=said) as error:
        check[1, 1](np.array([v]))
    assert isinstance(error.value, KernelError)
    assert error.value.where.function == "checked"
    again = pickle.loads(pickle.dumps(error.value))
    assert isinstance(again, KernelError) and str(again) == str(error.value)
    check[1, 1](np.array([5]))


@cuda.jit
def outside(x):
    x[cuda.grid(1)] = 1


@cuda.jit
def whole_quotients(x):
    x[0] = 1 // x[0]


@pytest.mark.parametrize(
    ("kernel", "kind"), [(outside, IndexError), (whole_quotients, ZeroDivisionError)]
)
def test_a_fault_is_an_error_of_python_as_well(kernel, kind):
    with pytest.raises(kind) as error:
        kernel[1, 8](np.zeros(4, np.int64))
    assert isinstance(error.value, KernelError)


def quotients(x):
    x[1] = 1.0 / x[0]
    x[2] = 1.0 % x[0]


def test_a_float_divided_by_zero_raises_in_debug_mode_only():
    x = np.zeros(3)
    cuda.jit(quotients)[1, 1](x)
    assert np.isinf(x[1]) and np.isnan(x[2])
    with pytest.raises(ArithmeticFault, match=r"^division by zero"):
        cuda.jit(quotients, debug=True, opt=False)[1, 1](np.zeros(3))


def test_in_a_text_debug_counts_too():
    text = """
from warpwise import cuda

@cuda.jit(debug=True, opt=False)
def kernel(x):
    x[1] = 1 / x[0]
"""
    with pytest.raises(ArithmeticFault):
        trace(kernels_in(text)["kernel"], 1, 1, np.zeros(2))


# --- functions in other languages ---


def test_a_function_in_another_language_is_declared_and_not_called():
    source = cuda.CUSource("int twice(int *out, int a) { *out = 2 * a; return 0; }")
    twice = cuda.declare_device("twice", "int32(int32)", link=source)
    assert twice.name == "twice"

    @cuda.jit
    def kernel(x):
        x[0] = twice(x[0])

    with pytest.raises(UnsupportedError, match="twice cannot be called"):
        kernel[1, 1](np.zeros(1))


@pytest.mark.parametrize("signature", ["(int32,)", "int33(int32)"])
def test_a_declaration_needs_a_signature_with_a_result(signature):
    with pytest.raises(TypeError, match=r"Return type|int33 is no type"):
        cuda.declare_device("twice", signature)


# --- kernels made by exec ---

MADE = """
from warpwise import cuda

@cuda.jit
def made(x):
    x[cuda.grid(1)] = {value}
"""


def test_the_text_of_what_exec_made_is_found_where_python_keeps_it():
    text, names = MADE.format(value=7), {}
    linecache.cache["<made>"] = len(text), None, text.splitlines(True), "<made>"
    exec(compile(text, "<made>", "exec"), names)
    x = np.zeros(4)
    names["made"][1, 4](x)
    assert x.tolist() == [7] * 4


def test_without_its_text_a_kernel_is_refused_in_one_line():
    with pytest.raises(UnsupportedError, match=r"the text of made cannot be found.*\n.*linecache"):
        exec(compile(MADE.format(value=1), "<nowhere>", "exec"), {})
    other = MADE.format(value=1).replace("made", "other")
    linecache.cache["<another>"] = len(other), None, other.splitlines(True), "<another>"
    with pytest.raises(UnsupportedError, match="its file has changed since"):
        exec(compile(MADE.format(value=1), "<another>", "exec"), {})
