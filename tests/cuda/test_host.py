"""The host side of ``warpwise.cuda``: notebooks written for a GPU run unchanged."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from support.paths import ROOT

from warpwise import cuda
from warpwise.errors import LaunchError, UnsupportedError

PROGRAM = ROOT / "tests/support/host_program.py"


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@cuda.jit
def everyone_writes(x):
    x[0] = cuda.grid(1)


def lines_of(which: str) -> list[str]:
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "WARPWISE_BACKEND": "simulator"}
    return subprocess.run(
        [sys.executable, PROGRAM, which],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()


def test_a_host_program_does_the_same_as_with_numbas_simulator():
    ours, theirs = lines_of("warpwise"), lines_of("numba")
    assert len(ours) > 15
    assert ours == theirs


def test_an_event_measures_milliseconds_between_two_moments():
    start, end = cuda.event(), cuda.event()
    with pytest.raises(LaunchError, match="recorded"):
        start.elapsed_time(end)
    start.record()
    end.record()
    assert start.query() and 0 <= cuda.event_elapsed_time(start, end) < 10_000


def test_a_stream_calls_back_when_its_work_is_done():
    seen = []
    cuda.stream().add_callback(lambda stream, status, arg: seen.append((status, arg)), "mine")
    assert seen == [(0, "mine")]


@pytest.mark.parametrize("tasks, tpb", [(1, 0), (1000, 0), (1000, 32), (0, 0), (0, 64)])
def test_forall_covers_its_tasks(tasks, tpb):
    x = np.zeros(max(tasks, 1))
    add_one.forall(tasks, tpb)(x)
    assert x.sum() == max(tasks, 1) if tasks else x.sum() == 0


def test_forall_refuses_a_negative_number_of_tasks():
    with pytest.raises(LaunchError, match="-1"):
        add_one.forall(-1)


@pytest.mark.parametrize("config", [(1,), (1, 2, 3, 4, 5)])
def test_a_configuration_of_the_wrong_length_says_what_one_is(config):
    with pytest.raises(LaunchError, match="blocks, threads"):
        add_one[config]


def test_a_race_in_a_launch_is_a_warning():
    with pytest.warns(cuda.RaceWarning, match=r"everyone_writes: race on x\[0\]"):
        everyone_writes[1, 32](np.zeros(1))


def test_no_warning_without_a_race():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_one[4, 32](np.zeros(100))


def test_copies_need_the_same_shape_and_type():
    d = cuda.to_device(np.zeros(3))
    for other, kind, said in (
        (np.zeros(4), ValueError, "shape"),
        (np.zeros(3, np.float32), TypeError, "dtype"),
        (np.zeros(6)[::2], ValueError, "strides"),
    ):
        with pytest.raises(LaunchError, match=f"incompatible {said}") as refused:
            d.copy_to_host(other)
        assert isinstance(refused.value, kind)
    for other, said in ((np.zeros(4), "shape"), (np.zeros(3, np.float32), "dtype")):
        with pytest.raises(LaunchError, match=f"incompatible {said}"):
            d.copy_to_device(other)


def test_a_device_array_with_gaps_cannot_be_flattened():
    with pytest.raises(LaunchError, match="gaps") as refused:
        cuda.to_device(np.zeros((4, 4)))[:, :2].ravel()
    assert isinstance(refused.value, NotImplementedError)


def test_arguments_with_a_direction_are_arrays():
    x = np.zeros(4)
    add_one[1, 32](cuda.InOut(x))
    assert x.tolist() == [1, 1, 1, 1]


def test_the_device_has_the_limits_that_launches_are_checked_by():
    device = cuda.get_current_device()
    assert device.WARP_SIZE == 32 and device.compute_capability == (9, 0)
    with pytest.raises(LaunchError, match="1,024"):
        add_one[1, device.MAX_THREADS_PER_BLOCK + 1](np.zeros(1))
    with pytest.raises(LaunchError, match="the only one"):
        cuda.select_device(1)
    with cuda.gpus[0] as chosen:
        assert chosen.id == 0
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total


def test_a_mapped_array_is_the_hosts_memory():
    x = np.zeros(4)
    with cuda.mapped(x) as d:
        add_one[1, 32](d)
    assert x.tolist() == [1, 1, 1, 1]


def test_neither_a_kernel_nor_a_device_function_is_called_by_python():
    @cuda.jit(device=True)
    def helper(x):
        return x

    for function, said in (
        (add_one, "configuration was not specified"),
        (helper, "only a kernel can call it"),
    ):
        with pytest.raises(LaunchError, match=said):
            function(1)


def test_a_misspelled_name_of_cuda_is_told():
    with pytest.raises(AttributeError, match=r"did you mean cuda\.to_device"):
        _ = cuda.to_devise


def test_the_package_lists_its_names():
    assert {"jit", "grid", "to_device", "stream", "get_current_device", "shared"} <= set(dir(cuda))


@pytest.mark.parametrize(
    "call",
    [lambda: cuda.grid(1), lambda: cuda.syncthreads(), lambda: cuda.shared.array(3, np.float32)],
)
def test_a_word_of_kernels_called_by_python_asks_for_the_decorator(call):
    with pytest.raises(
        UnsupportedError,
        match=r"cuda\.[a-z.]+ means something inside of a kernel only[^$]*is @cuda\.jit missing",
    ):
        call()


@pytest.mark.parametrize(
    "options, said",
    [
        ({"devcie": True}, "did you mean device"),  # codespell:ignore
        ({"fast_math": True}, "did you mean fastmath"),
        ({"x": 1}, "it has inline"),
    ],
)
def test_an_option_that_numba_does_not_have_is_told(options, said):
    with pytest.raises(LaunchError, match=said):
        cuda.jit(**options)


def test_a_device_function_is_not_launched():
    @cuda.jit(device=True)
    def first(x):
        x[0] = 1

    with pytest.raises(UnsupportedError, match="only kernels are launched"):
        first[1, 1](np.zeros(4))


def test_arguments_by_name_are_refused_in_one_line():
    with pytest.raises(LaunchError, match=r"leave x= out"):
        add_one[1, 32](x=np.zeros(4))


def test_as_many_blocks_can_sync_the_grid_as_the_device_holds():
    """Each of an H100's 132 multiprocessors holds two blocks of 1,024 threads."""
    kernel = cuda.jit(add_one.py_func)
    kernel[1, 32](np.zeros(4))
    overload = kernel.overloads[("float64[:]",)]
    assert overload.max_cooperative_grid_blocks(1024) == 264
    assert overload.max_cooperative_grid_blocks((32, 32), 200 * 1024) == 132
    assert list(kernel.overloads.values()) == [overload]


def test_states_of_random_numbers_come_from_cuda_random():
    states = cuda.random.create_xoroshiro128p_states(4, seed=1)
    assert states.size == 4 and isinstance(states, cuda.DeviceArray)
