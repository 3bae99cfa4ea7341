"""Matrix products of libraries, in four kinds of arithmetic, and the errors of products.

CuPy's own ``matmul`` offers no bfloat16 for arrays of ``uint16``, and TF32 only for a whole
process. So this module calls the cuBLAS function that CuPy calls, ``gemmEx``, which takes the types
of numbers and arithmetic in each call. cuBLAS is column-major: a row-major C = A B is C' = B' A' in
the same memory, with the factors and their sizes swapped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from warpwise.kernels.bfloat16 import from_bfloat16, to_bfloat16
from warpwise.kernels.step import Step
from warpwise.measure.case import Variant, ours
from warpwise.measure.place import Place

Sizes = tuple[int, int, int]  # m, n, k
# a kind, and 0 for A or 1 for B -> enough numbers for the largest matrix, in one dimension
Numbers = Callable[["Kind", int], Any]


@dataclass(frozen=True)
class Kind:
    """A kind of arithmetic. ``item``: dtype of the arrays; bfloat16 is in uint16. ``numbers``,
    ``sums``: cuBLAS's names of the types of the factors and of the sums.

    The tolerance is ``rtol`` of the result and ``atol`` times the square root of k. With factors
    between -1 and 1, elements of the product are about a third of that root, and the errors of
    rounded factors and of sums kept in 16 bits grow with it.
    """

    name: str
    item: str
    numbers: str
    sums: str
    rtol: float
    atol: float


FP32 = Kind("fp32", "float32", "CUDA_R_32F", "CUBLAS_COMPUTE_32F", 1e-5, 7e-6)
TF32 = Kind("tf32", "float32", "CUDA_R_32F", "CUBLAS_COMPUTE_32F_FAST_TF32", 2e-3, 2e-3)
FP16 = Kind("fp16", "float16", "CUDA_R_16F", "CUBLAS_COMPUTE_32F", 1e-3, 1e-3)
BF16 = Kind("bf16", "uint16", "CUDA_R_16BF", "CUBLAS_COMPUTE_32F", 8e-3, 4e-3)


def random(place: Place, kind: Kind, shape: int | tuple[int, ...], seed: int) -> Any:
    """Return random numbers between -1 and 1, rounded to the kind's type."""
    numbers = place.random(shape, seed=seed)
    return to_bfloat16(numbers) if kind is BF16 else numbers.astype(kind.item, copy=False)


def factors(place: Place, elements: int) -> Numbers:
    """Return random numbers for the factors of many products, made once for each type."""

    @cache
    def of_kind(kind: Kind, which: int) -> Any:
        return random(place, kind, elements, seed=which)

    return lambda kind, which: of_kind(FP32 if kind is TF32 else kind, which)


def matrices(numbers: Numbers, kind: Kind, sizes: Sizes) -> tuple[Any, Any]:
    """Return A and B of one size, made of the first numbers."""
    m, n, k = sizes
    return numbers(kind, 0)[: m * k].reshape(m, k), numbers(kind, 1)[: k * n].reshape(k, n)


def as_float64(kind: Kind, array: Any) -> Any:
    return (from_bfloat16(array) if kind is BF16 else array).astype("float64")


def right(kind: Kind, a: Any, b: Any) -> Any:
    """Return the product in float64."""
    return as_float64(kind, a) @ as_float64(kind, b)


def share_of_allowed(place: Place, kind: Kind, k: int, got: Any, want: Any) -> Any:
    """Return a product's largest error as a share of the tolerance, computed on the device."""
    xp = place.xp
    allowed = kind.rtol * xp.abs(want) + kind.atol * k**0.5
    return xp.max(xp.abs(as_float64(kind, got) - want) / allowed)


def checked(place: Place, kind: Kind, a: Any, b: Any, c: Any) -> Callable[[], Any]:
    """Return a ``Variant.result``: the error as a share of the tolerance, to be 0 within 1."""
    return lambda: share_of_allowed(place, kind, a.shape[1], c, right(kind, a, b))


def by_libraries(place: Place, kind: Kind, a: Any, b: Any) -> tuple[Variant, ...]:
    """Return the product by cuBLAS through CuPy and, except for TF32, through torch.

    ``a``, ``b``: in two dimensions, row-major.
    """
    found = [_variant(place, kind, "cupy", partial(cublas, place, kind), a, b)]
    if place.torch is not None and kind is not TF32:
        found.append(_variant(place, kind, "torch", partial(by_torch, place), a, b))
    return tuple(found)


def _variant(
    place: Place, kind: Kind, by: str, made: Callable[..., Callable[[], object]], a: Any, b: Any
) -> Variant:
    c = place.empty((a.shape[0], b.shape[1]), kind.item)
    result = checked(place, kind, a, b, c)
    return Variant(f"{by} {kind.name}", by, made(a, b, c), result, note="cuBLAS")


def by_ours(place: Place, step: Step, a: Any, b: Any) -> Variant:
    """Return the product by one of our float32 kernels."""
    (m, k), n = a.shape, b.shape[1]
    c = place.empty((m, n))
    flat = (place.given(array.reshape(-1)) for array in (a, b, c))
    (variant,) = ours((step,), (m, n, k, *flat), checked(place, FP32, a, b, c))
    return variant


def by_torch(place: Place, a: Any, b: Any, c: Any) -> Callable[[], object]:
    """Return torch's product without TF32, which is its default but is set explicitly."""
    place.torch.set_float32_matmul_precision("highest")
    return partial(place.torch.matmul, place.tensor(a), place.tensor(b), out=place.tensor(c))


def cublas(place: Place, kind: Kind, a: Any, b: Any, c: Any) -> Callable[[], object]:
    """Return cuBLAS's product; in a rehearsal, NumPy stands in for it."""
    if place.rehearsal:
        return partial(_by_numpy, kind, a, b, c)
    from cupy_backends.cuda.libs import cublas as library

    (m, k), n, none = a.shape, b.shape[1], library.CUBLAS_OP_N
    numbers, sums = getattr(place.xp.cuda.runtime, kind.numbers), getattr(library, kind.sums)
    # factors of the products and of c, on the host as CuPy sets cuBLAS up
    one, zero = np.ones(1, "float32"), np.zeros(1, "float32")

    def run() -> None:
        first, second = (b.data.ptr, numbers, n), (a.data.ptr, numbers, k)
        result = (c.data.ptr, numbers, n, sums, library.CUBLAS_GEMM_DEFAULT)
        shape, handle = (none, none, n, m, k), place.xp.cuda.get_cublas_handle()
        alpha, beta = one.ctypes.data, zero.ctypes.data
        library.gemmEx(handle, *shape, alpha, *first, *second, beta, *result)

    return run


def _by_numpy(kind: Kind, a: Any, b: Any, c: Any) -> None:
    product = right(kind, a, b)
    c[...] = to_bfloat16(product.astype("float32")) if kind is BF16 else product
