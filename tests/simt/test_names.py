"""Names that kernels see outside: lambdas, and constants of modules, classes and named tuples."""

import enum
import types
from collections import namedtuple

import numba.cuda
import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import LaunchError, UnsupportedError
from warpwise.simt import kernels_in
from warpwise.simt.frontend.source import as_kernel


class Settings:
    COUNT = 4
    REAL = np.float32

    @cuda.jit
    def of_an_object(self, out):
        out[0] = 1


class Mode(enum.IntEnum):
    FAST = 3


Pair = namedtuple("Pair", "low high")
ENDS = Pair(7, 8.5)
thing = types.SimpleNamespace(count=4)

square = cuda.jit(device=True)(lambda v: v * v)
of_numba = numba.cuda.jit(device=True)(lambda v: v + 1)
twice, thrice = cuda.jit(device=True)(lambda v: v * 2), cuda.jit(device=True)(lambda v: v * 3)
named = {"é": cuda.jit(device=True)(lambda v: v * 5), "b": cuda.jit(device=True)(lambda v: v * 7)}
five, seven = named.values()
inner = (lambda k: cuda.jit(device=True)(lambda v: v * k + 1))(11)
same_a, same_b = [
    numba.cuda.jit(device=True)(make(4))
    for make in (lambda k: lambda v: v + k, lambda k: lambda v: v - k)
]
# fmt: off
long = cuda.jit(device=True)(
    lambda v: v
    + 100
)
# fmt: on


def times(k):
    return cuda.jit(device=True)(lambda v: v * k)


by_nine, by_ten = times(9), times(10)


@cuda.jit
def calls_lambdas(out):
    out[0] = square(3)
    out[1] = of_numba(3)
    out[2] = twice(3)
    out[3] = thrice(3)
    out[4] = five(3)
    out[5] = seven(3)
    out[6] = inner(3)
    out[7] = same_a(3)
    out[8] = same_b(3)
    out[9] = long(3)
    out[10] = by_nine(3)
    out[11] = by_ten(3)


def test_a_lambda_is_found_by_its_place_among_others():
    out = np.zeros(12)
    trace(calls_lambdas, 1, 1, out)
    assert list(out) == [9, 4, 6, 9, 15, 21, 34, 7, -1, 103, 27, 30]


def test_a_lambda_has_the_name_that_it_is_assigned_to_and_its_own_lines():
    assert as_kernel(square).name == "square" and as_kernel(twice).name == "lambda"
    assert [line.strip() for line in as_kernel(long).source.splitlines()] == [
        "lambda v: v",
        "+ 100",
    ]


def test_lambdas_on_one_line_that_python_keeps_no_columns_of():
    a, b = lambda v: v + 1, lambda v: v + 2
    for function in (a, b):
        function.__code__ = function.__code__.replace(co_linetable=b"")
    with pytest.raises(UnsupportedError, match="which of them is meant") as error:
        as_kernel(a)
    assert error.value.try_this == "one lambda a line, or def"


def test_lambdas_in_text():
    text = (
        "from numba import cuda\n"
        "f = cuda.jit(device=True)(lambda v: v + 1)\n"
        "g = print(lambda v: v)\n"
    )
    text += (
        "@cuda.jit\ndef k(out):\n    out[0] = f(1)\n@cuda.jit\ndef bad(out):\n    out[0] = g(1)\n"
    )
    kernels, out = kernels_in(text), np.zeros(1)
    trace(kernels["k"], 1, 1, out)
    assert out[0] == 2 and kernels["f"].device and "g" not in kernels
    with pytest.raises(UnsupportedError, match="g is not a plain constant"):
        trace(kernels["bad"], 1, 1, out)


@cuda.jit
def reads_members(out):
    out[0] = Mode.FAST
    out[1] = ENDS.low
    out[2] = ENDS.high + ENDS[0]


def test_members_of_an_enum_and_of_a_named_tuple_are_read():
    out = np.zeros(3)
    trace(reads_members, 1, 1, out)
    assert list(out) == [3, 7, 15.5]


@cuda.jit
def reads_a_class(out):
    out[0] = Settings.COUNT


@cuda.jit
def sizes_by_a_class(out):
    out[0] = cuda.local.array(Settings.COUNT, np.float32).size


@cuda.jit
def reads_an_object(out):
    out[0] = thing.count


@cuda.jit
def calls_of_a_class(out):
    out[0] = Settings.REAL(3)


@pytest.mark.parametrize(
    ("kernel", "what", "try_this"),
    [
        (
            reads_a_class,
            "Settings.COUNT is an attribute of a class",
            "a module constant: COUNT = 4",
        ),
        (
            sizes_by_a_class,
            "Settings.COUNT is an attribute of a class",
            "a module constant: COUNT = 4",
        ),
        (
            reads_an_object,
            "thing.count is an attribute of an object",
            "a module constant: count = 4",
        ),
        (
            calls_of_a_class,
            "Settings.REAL is an attribute of a class",
            "a name at the top of the file",
        ),
    ],
)
def test_attributes_of_classes_and_objects_are_refused_as_the_compiler_does(kernel, what, try_this):
    with pytest.raises(UnsupportedError) as error:
        trace(kernel, 1, 1, np.zeros(1))
    assert (
        error.value.what.startswith(what)
        and error.value.try_this == try_this
        and "out[0]" in error.value.where.text
    )


def test_a_class_in_text_is_refused():
    text = (
        "from numba import cuda\n"
        "class Settings:\n"
        "    COUNT = 4\n"
        "@cuda.jit\n"
        "def k(out):\n"
        "    out[0] = Settings.COUNT\n"
    )
    with pytest.raises(UnsupportedError, match="Settings is not a plain constant") as error:
        trace(kernels_in(text)["k"], 1, 1, np.zeros(1))
    assert error.value.try_this == "write its constants at the top, such as N = 4"


@cuda.jit
def adds(values, out):
    out[0] = values[0]


@pytest.mark.parametrize(
    ("value", "kind", "try_this"),
    [
        ([1, 2], "list", "np.array(values)"),
        ("text", "str", "np.frombuffer(values.encode(), np.uint8)"),
        ({"a": 1}, "dict", "np.array(list(values.values()))"),
        ({1, 2}, "set", "np.array(list(values))"),
        (thing, "SimpleNamespace", "a number, an array such as np.array([1.0, 2.0])"),
    ],
)
def test_an_argument_that_no_kernel_takes_says_what_to_pass(value, kind, try_this):
    with pytest.raises(LaunchError) as error:
        trace(adds, 1, 1, value, np.zeros(1))
    assert f"argument values is a {kind}; a kernel takes arrays and numbers. Try: " in str(
        error.value
    )
    assert try_this in str(error.value)


def test_a_kernel_with_self_is_told_to_leave_its_class():
    with pytest.raises(
        LaunchError, match=r"has the parameter self.*outside of the class, or as @staticmethod"
    ):
        trace(Settings.of_an_object, 1, 1, np.zeros(1))
    with pytest.raises(
        LaunchError,
        match=(
            r"argument self is a Settings.*"
            r"define of_an_object outside of the class, without self"
        ),
    ):
        trace(Settings.of_an_object, 1, 1, Settings(), np.zeros(1))


@pytest.mark.parametrize(
    ("line", "try_this"),
    [
        ("hist[x[i]] += 1", "cuda.atomic.add(hist, x[i], 1)"),
        ("hist[x[i]] -= i", "cuda.atomic.sub(hist, x[i], i)"),
        ("hist[x[i]] |= i", "cuda.atomic.or_(hist, x[i], i)"),
        ("hist[x[i]] = hist[x[i]] + 1", "cuda.atomic.add(hist, x[i], 1)"),
        ("hist[0] = max(hist[0], i)", "cuda.atomic.max(hist, 0, i)"),
    ],
)
def test_a_race_of_an_update_has_one_advice(line, try_this):
    text = f"from numba import cuda\n@cuda.jit\ndef k(x, hist):\n    i = cuda.grid(1)\n    {line}\n"
    races = trace(kernels_in(text)["k"], 1, 64, np.zeros(64, np.int64), np.zeros(4, np.int64)).races
    assert {race.first.writes for race in races} | {race.second.writes for race in races} == {
        True,
        False,
    } and len(races) > 1
    assert all(race.try_this.startswith(f"{try_this}: ") for race in races)


@pytest.mark.parametrize(
    "line",
    ["hist[0] *= 2", "hist[0] = 1 + x[i]", "hist[0] = max(hist[1], i)", "hist[0] = hist[1] + 1"],
)
def test_a_race_that_no_atomic_replaces_has_the_advice_that_it_had(line):
    text = f"from numba import cuda\n@cuda.jit\ndef k(x, hist):\n    i = cuda.grid(1)\n    {line}\n"
    races = trace(kernels_in(text)["k"], 1, 64, np.zeros(64, np.int64), np.zeros(4, np.int64)).races
    assert races and not any(
        "each must see what the others wrote" in race.try_this for race in races
    )
