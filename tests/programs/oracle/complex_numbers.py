"""Complex numbers in global, shared and local memory."""
# expect: rounding

import cmath

import numpy as np
from numba import complex128, cuda

POINTS = 8


@cuda.jit
def arithmetic(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        z, w = a[i], b[i]
        out[i, 0] = z + w
        out[i, 1] = z - 2 * w
        out[i, 2] = z * w
        out[i, 3] = z / w
        out[i, 4] = z**2
        out[i, 5] = -z + 1j * w.conjugate()
        out[i, 6] = z == w or z != 0
        out[i, 7] = abs(z) + z.real - w.imag


@cuda.jit
def casts(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = complex(x[i], 2.0)
        out[i, 1] = np.complex64(x[i])
        out[i, 2] = complex128(x[i]) * 1j
        out[i, 3] = x[i]
        out[i, 0] *= 2
        out[i, 1] += 1


@cuda.jit
def functions(a, out):
    i = cuda.grid(1)
    if i < a.size:
        z = a[i]
        out[i, 0] = cmath.exp(z)
        out[i, 1] = cmath.log(z) + cmath.sqrt(z)
        out[i, 2] = cmath.sin(z) * cmath.cos(z)
        out[i, 3] = cmath.phase(z)
        r, phi = cmath.polar(z)
        out[i, 4] = cmath.rect(r, phi)


@cuda.jit
def fourier(x, out):
    """A discrete Fourier transform of each block's points."""
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part = cuda.shared.array(POINTS, complex128)
    part[t] = x[i]
    cuda.syncthreads()
    found = 0j
    for k in range(POINTS):
        found += part[k] * cmath.exp(-2j * cmath.pi * k * t / POINTS)
    out[i] = found


@cuda.jit
def parts(a, out):
    """Real and imaginary parts of arrays are views."""
    i = cuda.grid(1)
    if i < a.size:
        mine = cuda.local.array(2, complex128)
        mine[0] = a[i]
        mine.real[1] = a.real[i]
        mine.imag[1] = a.imag[i] + 1
        out[i] = mine[1] + mine.imag[0]


def random(rng, shape, dtype):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def launches(rng):
    for dtype in (np.complex128, np.complex64):
        a, b = random(rng, 40, dtype), random(rng, 40, dtype)
        yield arithmetic, 2, 32, (a, b, np.zeros((40, 8), dtype))
        yield functions, 2, 32, (a, np.zeros((40, 5), dtype))
        yield parts, 2, 32, (a, np.zeros(40, dtype))
    yield (
        fourier,
        3,
        POINTS,
        (random(rng, 3 * POINTS, np.complex128), np.zeros(3 * POINTS, np.complex128)),
    )
    yield casts, 2, 32, (rng.standard_normal(40), np.zeros((40, 4), np.complex128))
