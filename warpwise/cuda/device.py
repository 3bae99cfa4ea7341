"""The device that the simulator stands for, whose limits host code can ask for.

It is the default of ``trace(device=...)``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from warpwise.devices import H100, Device
from warpwise.errors import LaunchError
from warpwise.metrics import WARP_SIZE
from warpwise.simt.machine.device_memory import held_bytes

GIGABYTE = 10**9
MEMORY_BYTES = 80 * GIGABYTE  # of an H100 SXM: NVIDIA's datasheet


class MemoryInfo(NamedTuple):
    """Bytes of the device's memory."""

    free: int
    total: int


class CurrentDevice:
    """``cuda.get_current_device()``: those attributes of Numba's device that need no GPU.

    It is also what ``with cuda.gpus[0]:`` chooses."""

    id = 0
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    supports_float16, supports_bfloat16, supports_fp8 = True, False, False

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

    def __enter__(self) -> CurrentDevice:
        return self

    def __exit__(self, *_: object) -> None:
        """There is no other device to return to."""

    def __repr__(self) -> str:
        return f"<{self.name.decode()}>"


class Context:
    """``cuda.current_context()``."""

    device = CurrentDevice()

    id = device.id

    def get_memory_info(self) -> MemoryInfo:
        """Return the free and total bytes of the GPU that the simulator stands for."""
        return MemoryInfo(max(MEMORY_BYTES - held_bytes(), 0), MEMORY_BYTES)

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        """There is no other context to return to."""

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

    def __getitem__(self, number: int) -> CurrentDevice:
        if number != 0:
            raise IndexError(f"device {number}: the simulator is device 0, and the only one")
        return self.current


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
    device = Devices.current
    major, minor = device.compute_capability
    print("Found 1 CUDA devices")
    print(f"id 0    {device.name.decode()}    [SUPPORTED]")
    print(f"{'Compute Capability':>40}: {major}.{minor}")
    print(f"{'UUID':>40}: {device.uuid}")
    print("Summary:\n\t1/1 devices are supported")
    return True


def is_available() -> bool:
    """Return True, as kernels can be launched; ``cuda.backend()`` tells if that is on a GPU."""
    return True


@contextmanager
def nothing() -> Iterator[None]:
    """``cuda.defer_cleanup()`` and ``cuda.profiling()``: nothing to defer, and no profiler."""
    yield


def is_bfloat16_supported() -> bool:
    """Return False: the simulator has no bfloat16."""
    return Devices.current.supports_bfloat16


def is_fp8_supported() -> bool:
    """Return False: the simulator has no numbers of 8 bits with a point."""
    return Devices.current.supports_fp8


def cuda_error() -> None:
    """Return None: nothing failed when the device was looked for."""


def require_context(function: Any) -> Any:
    """``@cuda.require_context``: there always is a context, and the function stays as it is."""
    return function


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
    "is_bfloat16_supported": is_bfloat16_supported,
    "is_fp8_supported": is_fp8_supported,
    "cuda_error": cuda_error,
    "require_context": require_context,
    "defer_cleanup": nothing,
    "profiling": nothing,
    "profile_start": no_op,
    "profile_stop": no_op,
    "close": no_op,
}
