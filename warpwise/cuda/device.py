"""The device that the simulator stands for, whose limits host code can ask for.

It is the default of ``trace(device=...)``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from warpwise.devices import H100, Device
from warpwise.errors import LaunchError
from warpwise.metrics import WARP_SIZE

GIGABYTE = 10**9
MEMORY_BYTES = 80 * GIGABYTE  # of an H100 SXM: NVIDIA's datasheet


class CurrentDevice:
    """``cuda.get_current_device()``: those attributes of Numba's device that need no GPU."""

    id = 0

    def __init__(self, device: Device = H100) -> None:
        self.name = f"Warpwise simulator, with the limits of {device.name}".encode()
        self.compute_capability = device.compute_capability
        self.MULTIPROCESSOR_COUNT = device.sms
        self.WARP_SIZE = WARP_SIZE
        self.MAX_THREADS_PER_BLOCK = device.threads_per_block
        self.MAX_SHARED_MEMORY_PER_BLOCK = device.shared_bytes_per_block
        self.MAX_BLOCK_DIM_X, self.MAX_BLOCK_DIM_Y, self.MAX_BLOCK_DIM_Z = device.block_dim
        self.MAX_GRID_DIM_X, self.MAX_GRID_DIM_Y, self.MAX_GRID_DIM_Z = device.grid_dim

    def reset(self) -> None:
        """Nothing is kept that a reset would clear."""

    def __repr__(self) -> str:
        return f"<{self.name.decode()}>"


class Context:
    """``cuda.current_context()``."""

    device = CurrentDevice()

    def get_memory_info(self) -> tuple[int, int]:
        """Return the free and total bytes of the GPU that the simulator stands for."""
        return MEMORY_BYTES, MEMORY_BYTES

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def reset(self) -> None:
        """Nothing is kept that a reset would clear."""


class Devices:
    """``cuda.gpus``: one device."""

    lst = (CurrentDevice(),)
    current = lst[0]

    def __len__(self) -> int:
        return len(self.lst)

    def __iter__(self) -> Iterator[CurrentDevice]:
        return iter(self.lst)

    @contextmanager
    def _chosen(self, number: int) -> Iterator[CurrentDevice]:
        yield select_device(number)

    def __getitem__(self, number: int) -> AbstractContextManager[CurrentDevice]:
        return self._chosen(number)


def get_current_device() -> CurrentDevice:
    """Return the device that kernels run on; here there is one, the simulator."""
    return Devices.current


def select_device(device_id: int) -> CurrentDevice:
    """Return device 0. Raises LaunchError for any other."""
    if device_id != 0:
        raise LaunchError(
            f"device {device_id} does not exist: the simulator is device 0, and the only one"
        )
    return Devices.current


def detect() -> bool:
    """Print the device, and return True, as kernels can be launched."""
    print(f"Found 1 device: id 0, {Devices.current.name.decode()}")
    return True


def is_available() -> bool:
    """Return True, as kernels can be launched; ``cuda.backend()`` tells if that is on a GPU."""
    return True


@contextmanager
def nothing() -> Iterator[None]:
    """``cuda.defer_cleanup()`` and ``cuda.profiling()``: nothing to defer, and no profiler."""
    yield


def no_op(*_args: object) -> None:
    """``cuda.close()``, ``cuda.profile_start()`` and ``cuda.profile_stop()``."""


HOST: dict[str, object] = {
    "get_current_device": get_current_device,
    "select_device": select_device,
    "current_context": lambda devnum=None: Context(),
    "gpus": Devices(),
    "list_devices": Devices,
    "detect": detect,
    "is_available": is_available,
    "is_supported_version": is_available,
    "is_float16_supported": is_available,
    "defer_cleanup": nothing,
    "profiling": nothing,
    "profile_start": no_op,
    "profile_stop": no_op,
    "close": no_op,
}
