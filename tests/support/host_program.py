"""A notebook's host side for a GPU: device arrays, streams, events and launch configurations.

``python host_program.py numba`` runs it with Numba's ``cuda``, ``python host_program.py warpwise``
with ours; the lines that it prints are compared."""

import sys

import numpy as np

if sys.argv[1] == "numba":
    from numba import cuda
else:
    from warpwise import cuda


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@cuda.jit("void(float64[:], float64[:], float64)")
def scale(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i]


@cuda.jit
def transpose(x, y):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[j, i] = x[i, j]


def say(what, value):
    print(f"{what}: {np.asarray(value).tolist() if isinstance(value, np.ndarray) else value}")


x = np.arange(6, dtype=np.float64)
d = cuda.to_device(x)
add_one[1, 32](d)
say("the host's array stays as it was", x)
say("the device's array", d.copy_to_host())
target = np.zeros(6)
d.copy_to_host(target)
say("copied into an array", target)
d.copy_to_device(np.full(6, 5.0))
say("copied back", d.copy_to_host())

add_one[1, 32](x)
say("a host array comes back", x)

out = cuda.device_array(6)
scale[(1,), (32,)](d, out, 2.0)
say("a kernel with a signature", out.copy_to_host())
like = cuda.device_array_like(d)
say("like another", (like.shape, str(like.dtype), like.size, like.ndim))

stream = cuda.stream()
with stream.auto_synchronize():
    e = cuda.to_device(x, stream=stream)
    add_one[1, 32, stream](e)
    add_one[1, 32, stream, 64](e)
say("two launches on a stream", e.copy_to_host(stream=stream))
stream.synchronize()

add_one.forall(6)(e)
say("forall", e.copy_to_host())

start, end = cuda.event(), cuda.event()
start.record()
add_one[1, 32](e)
end.record(stream)
end.synchronize()

m = cuda.to_device(np.arange(6, dtype=np.int32).reshape(2, 3))
t = cuda.device_array((3, 2), np.int32)
transpose[(1, 1), (4, 4)](m, t)
say("a matrix", t.copy_to_host())
say("a row of it", m[1].copy_to_host())
m[0] = np.array([7, 8, 9], np.int32)
say("after assigning a row", m.copy_to_host())
say("reshaped", m.reshape(3, 2).copy_to_host())
say("flat", m.ravel().copy_to_host())
say("contiguous", (m.is_c_contiguous(), m.is_f_contiguous()))

for made in (cuda.pinned_array(4, np.float32), cuda.mapped_array(4, np.float32)):
    made[:] = 1
    add_one[1, 32](made)
    say("memory that the host sees", np.array(made))
with cuda.pinned(x):
    add_one[1, 32](x)
say("pinned for a while", x)
cuda.synchronize()
say("one device", len(cuda.gpus))
say("available", cuda.is_available())


@cuda.reduce
def total(a, b):
    return a + b


say("reduced", float(total(np.arange(10, dtype=np.float64), init=1)))
