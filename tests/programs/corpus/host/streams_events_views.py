"""Streams, events, pinned and mapped memory, and views of arrays on the device."""

import numpy as np

from warpwise import cuda


@cuda.jit
def inc(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] += 1


def check():
    with cuda.pinned(np.zeros(3)):
        pass
    a = cuda.pinned_array(100, dtype=np.float32)
    a[:] = 0
    s1, s2 = cuda.stream(), cuda.stream()
    e1, e2 = cuda.event(timing=True), cuda.event()
    e1.record(s1)
    d = cuda.to_device(a, stream=s1)
    inc[4, 32, s1](d)
    e2.record(s1)
    e2.wait(s2)
    inc[4, 32, s2](d)
    d.copy_to_host(a, stream=s2)
    s2.synchronize()
    cuda.synchronize()
    ms = cuda.event_elapsed_time(e1, e2)
    assert ms >= 0 and e1.elapsed_time(e2) >= 0 and (a == 2).all()
    with cuda.defer_cleanup():
        pass
    assert isinstance(cuda.is_available(), bool)
    for made in (cuda.mapped_array(32), cuda.managed_array(32)):
        made[:] = 4
        inc[1, 32](made)
        cuda.synchronize()
        assert (made == 5).all()
    assert cuda.current_context().get_memory_info()
    dev = cuda.get_current_device()
    assert dev.WARP_SIZE == 32 and dev.MULTIPROCESSOR_COUNT > 0
    assert dev.name and dev.compute_capability >= (3, 0)
    d2 = cuda.device_array((3, 4), np.float32, order="F")
    assert d2.shape == (3, 4)
    d3 = cuda.to_device(np.arange(12).reshape(3, 4))
    assert (d3[1].copy_to_host() == [4, 5, 6, 7]).all()
    assert (d3.reshape(4, 3).copy_to_host() == np.arange(12).reshape(4, 3)).all()
    assert (d3.ravel().copy_to_host() == np.arange(12)).all()
    d3[0, 1] = 5
    assert d3.copy_to_host()[0, 1] == 5
    assert len(list(cuda.to_device(np.arange(6)).split(2))) == 3
    assert d3.T.shape == (4, 3)
    v = np.asarray(d3.copy_to_host())
    d3[:2] = np.zeros((2, 4), v.dtype)
    assert d3.copy_to_host()[:2].sum() == 0
