"""Device arrays: Numba's rules of copies, views and errors, other libraries' arrays, captures."""

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.cuda.arrays import DeviceArray, DeviceRecord
from warpwise.errors import LaunchError

PAIR = np.dtype([("n", np.int32), ("x", np.float32, 2)], align=True)


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@cuda.jit
def copy(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


class Foreign:
    """An array of another library, over the memory of a device array."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def refused(kind: type, said: str):
    return pytest.raises(kind, match=said)


# --- arguments ---


def test_each_host_array_has_an_allocation_of_its_own():
    x = np.arange(65, dtype=np.float32)
    t = trace(copy, 2, 32, x[1:33], x[33:])
    assert [array.address % 256 for array in t.arrays] == [0, 0] and t.races == ()
    np.testing.assert_array_equal(x[33:65], np.arange(1, 33))


def test_a_slice_of_a_device_array_keeps_its_place():
    d = cuda.to_device(np.zeros(65, np.float32))
    one, other = trace(copy, 1, 32, d[1:33], d[33:]).arrays
    assert (one.address % 256, other.address - one.address) == (4, 128)


def test_the_directions_of_copying():
    for direction, want in ((cuda.In, [0, 0]), (cuda.InOut, [1, 1])):
        x = np.zeros(2)
        add_one[1, 2](direction(x))
        assert x.tolist() == want
    x = np.zeros(2)
    add_one[1, 2](cuda.Out(x))  # what it reads there is garbage
    assert np.isnan(x).all()
    copy[1, 1](np.ones(1), cuda.Out(x))
    assert x[0] == 1


def test_a_host_array_with_gaps_is_refused_as_by_numba():
    x = np.zeros((4, 4))
    with refused(ValueError, r"copy: argument x: .*non-contiguous"):
        copy[1, 1](x[:, 0], x[0])
    with refused(ValueError, "argument out"):
        copy[1, 1](x[0], cuda.InOut(x[:, 0]))
    with refused(ValueError, "non-contiguous"):
        cuda.to_device(x[::2, ::2])
    add_one[1, 1](np.broadcast_to(np.zeros(4), (4,)).copy())


def test_an_array_without_dimensions():
    @cuda.jit
    def double(x, out):
        out[()] = 2 * x[()]

    out = cuda.device_array((), np.float32)
    double[1, 1](np.array(1.5), out)
    assert out[()] == 3 and out.copy_to_host().shape == ()


# --- order and strides ---


@pytest.mark.parametrize("order", "CF")
def test_the_order_of_an_array_survives(order):
    x = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    d = cuda.to_device(x)
    assert (d.strides, d.copy_to_host().strides) == (x.strides, x.strides)
    assert d.flags == {n: x.flags[n] for n in ("C_CONTIGUOUS", "F_CONTIGUOUS")}
    for like in (cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like):
        assert like(d).strides == x.strides == like(x).strides
    assert cuda.device_array((2, 3), order=order).strides == x.strides


def test_a_transposed_array_is_a_copy_in_c_order():
    d = cuda.to_device(np.arange(12.0).reshape(3, 4))
    turned = d[::2, ::2].T
    assert turned.strides == (16, 8)
    np.testing.assert_array_equal(turned, np.arange(12.0).reshape(3, 4)[::2, ::2].T)
    d[0, 0] = 9
    assert turned[0, 0] == 0
    with refused(NotImplementedError, "non-2D"):
        cuda.device_array((1, 2, 3)).transpose()
    with refused(ValueError, "axes"):
        d.transpose((0, 0))


def test_gaps_are_copied_with_the_array():
    d = cuda.to_device(np.arange(10, dtype=np.int64))
    assert d[::3].copy_to_host().strides == (24,) and d[::3].alloc_size == 80
    assert cuda.device_array(0).__cuda_array_interface__["data"] == (0, False)
    with refused(NotImplementedError, "negative strides"):
        d[::-1].copy_to_host()
    wide = cuda.to_device(np.broadcast_to(np.arange(3, dtype=np.int64), (2, 3)))
    assert wide.strides == (0, 8) and wide.copy_to_host().tolist() == [[0, 1, 2]] * 2


def test_copies_between_orders():
    c, f = (np.asarray(np.arange(6, dtype=np.int64).reshape(2, 3), order=order) for order in "CF")
    d = cuda.to_device(c)
    d.copy_to_device(f + 1)
    np.testing.assert_array_equal(d, c + 1)
    with refused(ValueError, "incompatible strides"):
        d.copy_to_device(cuda.to_device(f))
    with refused(ValueError, "non-contiguous"):
        d[:, 0].copy_to_device(np.zeros(2, np.int64))
    with refused(ValueError, "copy=False"):
        np.array(d, copy=False)


# --- views and elements ---


def test_reshaped_memory_is_read_from_its_first_byte():
    d = cuda.to_device(np.asfortranarray(np.arange(6, dtype=np.int64).reshape(2, 3)))
    assert d.reshape(-1).copy_to_host().tolist() == [0, 3, 1, 4, 2, 5]
    assert d.ravel("F").copy_to_host().tolist() == [0, 3, 1, 4, 2, 5]
    assert cuda.to_device(np.arange(6, dtype=np.int64)).reshape((2, 3), order="F").strides == (
        8,
        16,
    )
    for shape, said in (((4, 2), "size"), ((-1, -1), "one unknown"), ((4, -1), "infer")):
        with refused(ValueError, said):
            d.reshape(shape)
    with refused(NotImplementedError, "ravel"):
        d.ravel()
    with refused(NotImplementedError, "copy"):
        cuda.to_device(np.arange(16).reshape(4, 4))[:, :2].reshape(8)


def test_views_as_another_type():
    d = cuda.to_device(np.arange(6, dtype=np.int16).reshape(2, 3))
    with refused(ValueError, "divisor"):
        d.view(np.int32)
    with refused(ValueError, "C-contiguous"):
        d[:, :2].view(np.int32)
    bits = cuda.to_device(np.ones(2, np.float32)).view(np.int32)
    bits[0] = 0
    assert bits.view(np.float32).copy_to_host().tolist() == [0, 1]


def test_parts_and_axes():
    d = cuda.to_device(np.arange(5))
    assert [part.copy_to_host().tolist() for part in d.split(2)] == [[0, 1], [2, 3], [4]]
    with refused(ValueError, "unit stride"):
        list(d[::2].split(1))
    assert cuda.device_array((1, 2, 1)).squeeze().shape == (2,)
    with refused(ValueError, "squeeze"):
        d.squeeze(0)
    stream = cuda.stream()
    assert d.bind(stream).stream is stream and d.stream == 0
    assert d.bind(stream).__cuda_array_interface__["stream"] == int(stream)


def test_what_is_assigned_fits_or_has_one_element():
    d = cuda.to_device(np.zeros((2, 3)))
    d[1] = 4
    d[:, 0] = cuda.to_device(np.array([7.0, 8.0]))
    assert d.copy_to_host().tolist() == [[7, 0, 0], [8, 4, 4]] and d[1, 1] == 4
    for value, said in ((np.zeros(2), "size 2"), (np.zeros((1, 1, 3)), "3-D")):
        with refused(ValueError, said):
            d[:] = value
    with refused(IndexError, "extra"):
        _ = d[0, 0, 0]
    with refused(TypeError, "integers and slices"):
        _ = d[np.array([0, 1])]


@pytest.mark.parametrize("shape", [1.5, (1.5,), [2, 1.5], np.array(1.5), "3"])
def test_a_shape_is_of_integers(shape):
    with refused(TypeError, "shape"):
        cuda.device_array(shape)


def test_an_array_is_made_over_strides():
    assert cuda.device_array((2, 3), np.int32, strides=(16, 4)).alloc_size == 28
    assert DeviceArray((1, 10), (800, 8), np.float64).flags["C_CONTIGUOUS"]
    with refused(ValueError, "ndim"):
        DeviceArray((2, 3), (4,), np.int32)


def test_records_on_the_device():
    @cuda.jit
    def fill(records):
        i = cuda.grid(1)
        records[i].n = i
        records[i]["x"][1] = 0.5

    records = cuda.to_device(np.zeros(2, PAIR))
    fill[1, 2](records)
    one = records[1]
    assert isinstance(one, DeviceRecord) and one["n"] == 1 and one["x"][1] == 0.5
    one["n"] = 5
    assert records.copy_to_host()["n"].tolist() == [0, 5]
    host = np.zeros(1, PAIR)[0]
    assert one.copy_to_host(host)["n"] == 5
    again = cuda.to_device(host)
    assert again["n"] == 5 and again.alloc_size == PAIR.itemsize


# --- other libraries ---


def test_an_array_with_the_interface_is_used_where_it_lies():
    d = cuda.to_device(np.arange(4.0))
    foreign = Foreign(d[1:])
    assert cuda.is_cuda_array(foreign) and not cuda.is_cuda_array(np.zeros(1))
    seen = cuda.as_cuda_array(foreign)
    add_one[1, 4](foreign)
    assert d.copy_to_host().tolist() == [0, 2, 3, 4] and seen[0] == 2
    assert cuda.to_device(d) is d
    with refused(TypeError, "interface"):
        cuda.as_cuda_array(np.zeros(1))


def test_memory_of_a_gpu_is_refused_in_one_line():
    there = Foreign(cuda.to_device(np.zeros(4)))
    there.__cuda_array_interface__ |= {"data": (64, False)}
    for use in (cuda.as_cuda_array, add_one[1, 4]):
        with refused(LaunchError, "another library or of a GPU"):
            use(there)
    with refused(NotImplementedError, "Masked"):
        cuda.from_cuda_array_interface(there.__cuda_array_interface__ | {"mask": there})


def test_mapped_and_managed_memory_is_shared():
    for made in (cuda.mapped_array(3), cuda.managed_array(3)):
        made[:] = 1
        add_one[1, 4](made[1:])
        assert made.tolist() == [1, 2, 2]
        assert made.__cuda_array_interface__["data"][0] == made.ctypes.data


# --- device arrays outside the kernel ---


def test_a_kernel_reads_and_writes_a_device_array_outside():
    table = cuda.to_device(np.arange(4.0))

    @cuda.jit(device=True)
    def entry(i):
        return table[i]

    @cuda.jit
    def move(out):
        i = cuda.grid(1)
        if i < table.size:
            out[i] = entry(i)
            table[i] += 1

    out = np.zeros(4)
    move[1, 4](out)
    move[1, 4](out)
    assert out.tolist() == [1, 2, 3, 4] and table[0] == 2


def test_a_captured_array_races_with_the_same_array_as_an_argument():
    table = cuda.to_device(np.zeros(40))

    @cuda.jit
    def shift(x):
        i = cuda.grid(1)
        x[i] = table[i + 1]

    assert trace(shift, 1, 32, cuda.to_device(np.zeros(40))).races == ()
    (race,) = trace(shift, 1, 32, table).races
    assert race.array in ("x", "table")


def test_free_memory_is_what_arrays_leave():
    info = cuda.current_context().get_memory_info()
    held = cuda.device_array(1 << 16, np.uint8)
    after = cuda.current_context().get_memory_info()
    assert info.free - after.free >= held.nbytes and after.total == info.total


def test_an_extension_replaces_arguments_before_a_launch():
    class ReadOnly:
        def prepare_args(self, ty, val, stream, retr):
            retr.append(lambda: done.append(stream))
            return ty, cuda.In(val)

    @cuda.jit
    def fill(x):
        x[cuda.grid(1)] = 1

    fill.extensions.append(ReadOnly())
    x, done = np.zeros(2), []
    fill[1, 2](x)
    assert x.tolist() == [0, 0] and done == [0]


def test_a_device_record_is_passed_as_a_record():
    @cuda.jit
    def double(record):
        record.n = 2 * record.n

    records = cuda.to_device(np.ones(3, PAIR))
    double[1, 1](records[1])
    assert records.copy_to_host()["n"].tolist() == [1, 2, 1]
