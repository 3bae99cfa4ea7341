"""``cuda.vectorize``, ``cuda.guvectorize`` and ``cuda.reduce``: functions of arrays, on kernels."""

import functools
import math

import numpy as np
import pytest

from warpwise import cuda
from warpwise.errors import KernelError, LaunchError

NUMBERS = ["int32(int32, int32)", "float32(float32, float32)", "f8(f8, f8)"]
X = np.arange(6, dtype=np.float32)


@cuda.vectorize(NUMBERS)
def add(a, b):
    """Return the sum."""
    return a + b


@cuda.guvectorize(["void(f4[:, :], f4[:], f4[:])"], "(m,n),(n)->(m)")
def product(matrix, vector, out):
    for i in range(matrix.shape[0]):
        out[i] = 0
        for j in range(matrix.shape[1]):
            out[i] += matrix[i, j] * vector[j]


# --- vectorize ---


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_the_signature_of_the_types_is_used(dtype):
    x = np.arange(300).astype(dtype)
    found = add(x, x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, 2 * x)


def test_broadcasting_and_numbers():
    x = X.reshape(2, 3)
    np.testing.assert_array_equal(add(x, X[:3]), x + X[:3])
    np.testing.assert_array_equal(add(x.T, x[:, :1].T), x.T + x[:, :1].T)
    np.testing.assert_array_equal(add(X, 2), X + 2)
    assert add(1.2, 2.3).tolist() == [3.5] and add((1.0, 2.0), (3.0, 4.0)).tolist() == [4, 6]
    with pytest.raises(ValueError, match="argument #1"):
        add(X, X[:4])


def test_results_stay_on_the_device():
    d = cuda.to_device(X.reshape(2, 3))
    found = add(d, X[:3])
    assert isinstance(found, cuda.DeviceArray) and found.shape == (2, 3)
    assert isinstance(add(d, d, out=d), cuda.DeviceArray)
    np.testing.assert_array_equal(d.copy_to_host(), 2 * X.reshape(2, 3))
    out = np.zeros(6, np.float32)
    assert add(X, X, out=out, stream=cuda.stream()) is out and out[5] == 10
    with pytest.raises(TypeError, match="out is an array of int32"):
        add(X, X, out=np.zeros(6, np.int32))


def test_types_are_not_converted():
    with pytest.raises(TypeError, match=r"No matching version.*\(float16, float16\)"):
        add(X.astype(np.float16), X.astype(np.float16))
    with pytest.raises(TypeError, match="ambiguous"):
        cuda.vectorize(["f4(f4)", "f8(f8)"])(math_root)(np.int8(1))


def math_root(x):
    return math.sqrt(x)


def test_a_result_is_cast_to_the_signatures_type():
    to_int = cuda.vectorize(["int32(float32)"])(lambda x: x * 2.5)
    found = to_int(X)
    assert found.dtype == np.int32 and found.tolist() == [0, 2, 5, 7, 10, 12]
    untold = cuda.vectorize("(f4,)")(math_root)
    assert untold(X).dtype == np.float32 and untold.__name__ == "math_root"


@pytest.mark.parametrize("n", [1, 2, 7, 100, 1025])
def test_a_ufunc_reduces(n):
    x = np.arange(n, dtype=np.int32)
    assert add.reduce(x) == x.sum() and add.reduce(cuda.to_device(x)) == x.sum()
    assert x.sum() == n * (n - 1) // 2  # the host's array is as it was


def test_a_mistake_is_named_when_the_ufunc_is_made():
    with pytest.raises(KernelError):
        cuda.vectorize(["f8(f8)"])(lambda x: x.shape + 1)
    with pytest.raises(TypeError, match="returns no number"):

        @cuda.vectorize(["f8(f8)"])
        def nothing(x):
            pass


def test_options_of_vectorize():
    with pytest.warns(RuntimeWarning, match="redundant"):
        cuda.vectorize(["f8(f8)"], target="cuda", nopython=True)
    with pytest.raises(KeyError, match="Unrecognized options"):
        cuda.vectorize(["f8(f8)"], fast=True)
    for given in ((), math_root):
        with pytest.raises(LaunchError, match="needs signatures"):
            cuda.vectorize(given)
    for given in ("f8", "f8(", "nothing(f8)", 3):
        with pytest.raises(TypeError):
            cuda.vectorize([given])(math_root)


# --- guvectorize ---


def test_a_generalized_ufunc_works_along_outer_axes():
    m = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    v = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(product(m, v), np.einsum("kmn,kn->km", m, v))
    np.testing.assert_array_equal(product(m, v[1]), m @ v[1])
    np.testing.assert_array_equal(product(m[0], v[1]), m[0] @ v[1])
    there = product(cuda.to_device(m), v)
    assert isinstance(there, cuda.DeviceArray) and there.shape == (4, 2)
    out = np.zeros((4, 2), np.float32)
    assert product(m, v, out) is out and product(m, v, out=out) is out
    np.testing.assert_array_equal(out, there)


def test_several_outputs_and_numbers():
    @cuda.guvectorize(["(f8, f8[:], f8[:], f8[:])"], "(),(n)->(n),()")
    def scaled(a, x, out, total):
        total[0] = 0
        for i in range(x.size):
            out[i] = a * x[i]
            total[0] += out[i]

    out, total = scaled(2.0, np.arange(6.0).reshape(2, 3))
    assert out.tolist() == [[0, 2, 4], [6, 8, 10]] and total.tolist() == [6, 24]


def test_shapes_that_do_not_go_together():
    m, v = np.zeros((4, 2, 3), np.float32), np.zeros(3, np.float32)
    for args, said in (
        ((m, v[:2]), r"arg #2: shape\[0\]"),
        ((v, v), "insufficient"),
        ((m, np.zeros((3, 3), np.float32)), "outer dimension"),
        ((m, v, np.zeros(4, np.float32)), "output shape"),
    ):
        with pytest.raises(ValueError, match=said):
            product(*args)
    for args, said in (((m,), "2 positional arguments"), ((m, v.astype(np.int8)), "no matching")):
        with pytest.raises(TypeError, match=said):
            product(*args)


@pytest.mark.parametrize(
    ("signature", "layout", "kind"),
    [
        ("f8(f8[:], f8[:])", "(n)->(n)", TypeError),
        ("(f8[:], f8[:])", "(n)->(m)", NameError),
        ("(f8[:], f8[:])", "(n)(n)", ValueError),
        ("(f8, f8[:])", "(n)->(n)", ValueError),
        ("(f8[:],)", "(n)->(n)", TypeError),
    ],
)
def test_signatures_of_generalized_ufuncs(signature, layout, kind):
    with pytest.raises(kind):
        cuda.guvectorize([signature], layout)(lambda x, out: None)


@pytest.mark.parametrize("options", [{"nopython": False}, {"fast": 1}, {"cache": True}])
def test_options_of_guvectorize(options):
    with pytest.raises(TypeError):
        cuda.guvectorize(["(f8[:], f8[:])"], "(n)->(n)", **options)


# --- reduce ---


@pytest.mark.parametrize("n", [1, 31, 33, 127, 128, 129, 1000, 9001])
def test_a_reduction_runs_on_kernels(n):
    x = np.random.default_rng(n).integers(-9, 9, n)
    for op in (lambda a, b: a + b, lambda a, b: max(a, b)):
        want = functools.reduce(op, x.tolist(), 3)
        assert cuda.reduce(op)(x, init=3) == want
    total = cuda.reduce(cuda.jit(device=True)(lambda a, b: a + b))
    result = cuda.device_array(1, np.int64)
    assert total(cuda.to_device(x), res=result) is None and result[0] == x.sum()
    assert total(x, size=n // 2) == x[: n // 2].sum() and total(x[:0], init=7) == 7


def test_a_reduction_needs_one_dimension():
    with pytest.raises(TypeError, match="1D"):
        cuda.reduce(lambda a, b: a + b)(np.zeros((2, 2)))
