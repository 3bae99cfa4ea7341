"""The typing rules against Numba's typing context for CUDA, which needs no GPU."""

import functools
import itertools
import operator

import numba
import numpy as np
import pytest
from numba import cuda
from numba.cuda import types as numba_types
from numba.cuda.descriptor import cuda_target

from warpwise import trace
from warpwise.simt import kernels_in, types
from warpwise.simt.builtins import CUDA_FUNCTIONS
from warpwise.simt.builtins.intrinsics import CASTS, FUNCTIONS, ROUND, ROUND_DIGITS
from warpwise.simt.frontend.names import TYPE_NAMES
from warpwise.simt.types import BOOL, FLOAT16, FLOAT64, INT32, INT64, SCALARS

THEIRS = {t: numba_types.boolean if t == BOOL else getattr(numba_types, t.name) for t in SCALARS}
OURS = {theirs: ours for ours, theirs in THEIRS.items()}

#: Python's function -> our rule.
BINARY = {
    operator.add: types.arithmetic,
    operator.sub: types.arithmetic,
    operator.mul: types.arithmetic,
    operator.truediv: types.division,
    operator.floordiv: types.floor_division,
    operator.mod: types.floor_division,
    operator.pow: types.power,
    pow: types.power,
    operator.lshift: types.shift,
    operator.rshift: types.shift,
    operator.and_: types.bitwise,
    operator.or_: types.bitwise,
    operator.xor: types.bitwise,
    min: types.unify,
    max: types.unify,
}
UNARY = {operator.neg: types.negation, operator.pos: types.negation, abs: types.absolute}
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)

#: Deliberate differences, and their reasons.
EXCEPTIONS = {
    # Overload resolution finds the machine's powi(float32, int32) here; ours stays with the
    # integers, as for every other exponent.
    (operator.pow, BOOL, INT32),
    (pow, BOOL, INT32),
    # Numba has no conversion between the two and stops compiling; ours takes the bool as a number,
    # as everywhere.
    (min, BOOL, FLOAT16),
    (min, FLOAT16, BOOL),
    (max, BOOL, FLOAT16),
    (max, FLOAT16, BOOL),
}


@pytest.fixture(scope="module")
def context():
    context = cuda_target.typing_context
    context.refresh()
    return context


def signature(context, function, arguments):
    """Return Numba's signature of a call, or None where it refuses the types."""
    try:
        return context.resolve_function_type(function, tuple(THEIRS[a] for a in arguments), {})
    except (
        Exception
    ):  # Numba raises TypingError or NotImplementedError; anything else is a refusal, too
        return None


def theirs(context, function, arguments):
    found = signature(context, function, arguments)
    return found and _as_ours(found.return_type)


def _as_ours(theirs):
    if theirs == numba_types.none:
        return types.NONE
    return (
        types.TupleType(tuple(OURS[t] for t in theirs))
        if isinstance(theirs, numba_types.BaseTuple)
        else OURS[theirs]
    )


def ours(rule, arguments):
    try:
        return rule(*arguments)
    except types.TypeMismatch:
        return None


def differences(context, function, rule, arity):
    """Map types to (Numba's type, ours) wherever the two differ, exceptions aside."""
    found = {}
    for arguments in itertools.product(SCALARS, repeat=arity):
        pair = theirs(context, function, arguments), ours(rule, arguments)
        if (pair[0] is None) != (pair[1] is None) or pair[0] != pair[1]:
            found[arguments] = pair
    return {
        arguments: pair
        for arguments, pair in found.items()
        if (function, *arguments) not in EXCEPTIONS
    }


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_operations_of_two_numbers(context, function):
    assert differences(context, function, BINARY[function], 2) == {}


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_operations_of_one_number(context, function):
    assert differences(context, function, UNARY[function], 1) == {}


def test_invert_takes_integers_only(context):
    rule = {t: t if t == BOOL else types.widened(t) for t in SCALARS if types.is_integer(t)}
    assert {t: theirs(context, operator.invert, (t,)) for t in SCALARS} == {
        t: rule.get(t) for t in SCALARS
    }


@pytest.mark.parametrize("function", COMPARISONS, ids=lambda f: f.__name__)
def test_comparisons_meet_in_the_same_type(context, function):
    for pair in itertools.product(SCALARS, repeat=2):
        left, right = signature(context, function, pair).args
        assert OURS[left] == OURS[right] == types.comparison(*pair), pair


def result_of(function):
    return lambda *arguments: function.sign(*arguments).result


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: FUNCTIONS[f].name)
def test_functions(context, function):
    known = FUNCTIONS[function]
    assert differences(context, function, result_of(known), known.arity) == {}


@pytest.mark.parametrize("rounding", [ROUND, ROUND_DIGITS], ids=lambda f: str(f.arity))
def test_round(context, rounding):
    assert differences(context, round, result_of(rounding), rounding.arity) == {}


def numbas(path: str):
    """Return what Numba has at a path below ``cuda``, or None if it lacks the name."""
    return functools.reduce(lambda base, part: getattr(base, part, None), path.split("."), cuda)


@pytest.mark.parametrize("path", CUDA_FUNCTIONS)
def test_cuda_functions(context, path):
    assert numbas(path) is not None
    assert (
        differences(
            context, numbas(path), result_of(CUDA_FUNCTIONS[path]), CUDA_FUNCTIONS[path].arity
        )
        == {}
    )


@pytest.mark.parametrize("path", CUDA_FUNCTIONS)
def test_cuda_functions_compute_in_the_types_of_numbas_signature(context, path):
    function = CUDA_FUNCTIONS[path]
    for t in SCALARS:
        found = signature(context, numbas(path), (t,) * function.arity)
        if found is not None and path != "selp":  # whose condition Numba takes as it comes
            assert (
                tuple(OURS[a] for a in found.args)
                == function.sign(*(t,) * function.arity).arguments
            )


def test_numbas_names_of_types_are_known():
    for module in (numba, numba.types, numba.cuda.types, cuda):
        for name, value in vars(module).items():
            if (
                not name.startswith(("c_", "np_", "py_"))
                and isinstance(value, numba_types.Type)
                and value in OURS
            ):
                assert TYPE_NAMES[name] == OURS[value], name


@pytest.mark.parametrize("cast", CASTS, ids=lambda c: c.__name__)
def test_casts(context, cast):
    # The context knows float16 by its own name.
    function = numba_types.NumberClass(numba_types.float16) if cast is np.float16 else cast
    # float(True): Numba refuses, ours is 1.0.
    assert differences(context, function, CASTS[cast], 1) in ({}, {(BOOL,): (None, FLOAT64)})


def test_every_exception_is_still_one(context):
    for function, *arguments in EXCEPTIONS:
        assert theirs(context, function, arguments) != ours(BINARY[function], arguments), (
            function,
            arguments,
        )


def value_of(expression: str, **arrays: np.ndarray):
    """Evaluate an expression over the first elements of arrays, stored as float64."""
    names = ", ".join([*arrays, "out"])
    kernel = kernels_in(
        "import numpy as np\n"
        "from numba import cuda\n"
        "@cuda.jit\n"
        f"def kernel({names}):\n"
        f"    out[0] = {expression}\n"
    )["kernel"]
    out = np.zeros(1)
    trace(kernel, 1, 1, *arrays.values(), out)
    return out[0]


def of(value, dtype):
    return np.array([value], dtype)


def test_unsigned_numbers_are_negated_in_their_own_width():
    """Numba negates and inverts before it widens: -uint8(7) is 249."""
    assert value_of("-a[0]", a=of(7, np.uint8)) == 249
    assert value_of("~a[0]", a=of(7, np.uint8)) == 248
    assert value_of("-a[0]", a=of(-128, np.int8)) == -128
    assert value_of("-a[0]", a=of(True, np.bool_)) == -1


def test_extremes_of_int64():
    lowest = np.iinfo(np.int64).min
    assert value_of("-a[0] - 1", a=of(lowest, np.int64)) == np.iinfo(np.int64).max
    assert value_of("abs(a[0])", a=of(lowest, np.int64)) == lowest
    assert value_of("-9223372036854775808") == lowest
    assert value_of("(9223372036854775807 + 1) // 2") == lowest // 2


def test_a_tuple_of_floats_is_a_constant():
    """NumPy calls float64 equal to None, which must not make it one."""
    assert value_of("(0.5, 0.25)[1]") == 0.25


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3e38, -7.9])
def test_one_thread_casts_a_float_to_int64_as_many_do(value):
    one, many = types.cast(np.float32(value), INT64), np.full(32, value, np.float32)
    with np.errstate(invalid="ignore"):
        assert type(one) is int and (types.cast(many, INT64) == one).all()
