"""Shared and local memory of a batch: which arrays its kernel made, where they lie in a block's shared memory, and whether they fit.

Static arrays lie one after another in the order in which the kernel comes by; dynamic memory begins where the first static arrays end.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise.errors import LaunchError
from warpwise.simt.machine.block_memory import LocalArray, SharedArray
from warpwise.simt.machine.views import View, retyped, start

_SHARED_ALIGNMENT = 16
_DYNAMIC = "dynamic"


class Allocation:
    """The part of a batch that knows what memory its blocks and threads have; mixed into ``batch.Batch``."""

    def shared_array(self, key, name: str, dtype: np.dtype, shape: tuple[int, ...], site) -> SharedArray:
        if key not in self.shared:
            array = SharedArray(name, dtype, shape, _aligned(self.shared_bytes), self.extent)
            static = _aligned(self.static_bytes) + array.memory_bytes
            if static > self.launch.shared_limit:
                raise LaunchError(
                    f"{site.where().place}: {name} brings the block to {static:,} bytes of shared memory; "
                    f"a block has {self.launch.shared_limit:,}. Use smaller shapes or fewer arrays"
                )
            self._take(array, static, site)
            self.static_bytes = static
            self.shared[key] = array
        return self.shared[key]

    def dynamic_array(self, name: str, dtype: np.dtype, site) -> SharedArray | View:
        """``cuda.shared.array(0, dtype)``: as many elements as the launch's dynamic bytes hold."""
        count = self.launch.dynamic_bytes // dtype.itemsize
        if not count:
            raise LaunchError(
                f"{site.where().place}: {name} is dynamic shared memory, and the launch asks for {self.launch.dynamic_bytes} bytes of it. "
                "kernel[blocks, threads, stream, bytes] asks for some"
            )
        if _DYNAMIC not in self.shared:
            unit = dtype if count * dtype.itemsize == self.launch.dynamic_bytes else np.dtype(np.uint8)
            array = SharedArray(name, unit, (self.launch.dynamic_bytes // unit.itemsize,), _aligned(self.shared_bytes), self.extent)
            self._take(array, self.static_bytes, site)
            self.shared[_DYNAMIC] = array
        root = self.shared[_DYNAMIC]
        if root.dtype == dtype:
            return root
        if dtype.names or root.dtype.names:
            raise LaunchError(f"{site.where().place}: {name} and {root.name} are the same memory, and records cannot share it here")
        used = start(root)
        key = (_DYNAMIC, dtype)
        if key not in self.views:
            elements = count * dtype.itemsize // root.step
            self.views[key] = retyped(View(root, name, root.dtype, 0, (elements,), (1,), root.step, used.info), dtype, site)
        return self.views[key]

    def _take(self, array: SharedArray, static: int, site) -> None:
        """Let an array have its place. Raises LaunchError where static and dynamic memory together are more than a block can have."""
        self.shared_bytes = array.address + array.memory_bytes
        most, dynamic = self.launch.block_shared_limit, self.launch.dynamic_bytes
        if static + dynamic > most:
            raise LaunchError(
                f"{site.where().place}: {static:,} bytes of static and {dynamic:,} of dynamic shared memory; a block can have {most:,} "
                "in all. Use smaller shapes, or ask for fewer bytes at the launch"
            )
        self.launch.shared_bytes = max(self.launch.shared_bytes, static + dynamic)

    def local_array(self, key, name: str, dtype: np.dtype, shape: tuple[int, ...]) -> LocalArray:
        if key not in self.locals:
            self.locals[key] = LocalArray(name, dtype, shape, self.extent)
            self.local_bytes += dtype.itemsize * math.prod(shape)
            self.launch.local_bytes = max(self.launch.local_bytes, self.local_bytes)
        return self.locals[key]


def _aligned(address: int) -> int:
    return -(-address // _SHARED_ALIGNMENT) * _SHARED_ALIGNMENT
