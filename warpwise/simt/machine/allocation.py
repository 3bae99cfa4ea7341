"""Allocation of shared and local memory: the arrays of a batch, their places and the limits.

Static arrays lie one after another in the order in which the kernel reaches them; dynamic memory
begins where the first static arrays end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from warpwise.errors import LaunchError
from warpwise.messages import Constant, Limit, Name, Size, Words, message
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.machine.array_views import View, start
from warpwise.simt.machine.block_memory import LocalArray, SharedArray
from warpwise.simt.machine.derived_views import retyped
from warpwise.simt.machine.launch_state import LaunchState
from warpwise.simt.machine.site import Site
from warpwise.simt.types import DType

_SHARED_ALIGNMENT = 16
_DYNAMIC = "dynamic"


class Arrays:
    """The shared and local arrays of a batch."""

    def __init__(self, state: LaunchState, group: LaneGroup):
        self.state, self.group = state, group
        self.shared_arrays: dict[object, SharedArray] = {}
        self.local_arrays: dict[object, LocalArray] = {}
        self.views: dict[object, View] = {}  #: of dynamic shared memory
        self.static_bytes = self.shared_bytes = self.local_bytes = 0

    def shared(
        self,
        key: object,
        name: str,
        dtype: DType,
        shape: tuple[int, ...],
        site: Site,
        alignment: int = 1,
    ) -> SharedArray:
        if key not in self.shared_arrays:
            address = _aligned(self.shared_bytes, alignment)
            array = SharedArray(name, dtype, shape, address, self.group, alignment)
            static, most = (
                _aligned(self.static_bytes, alignment) + array.memory_bytes,
                self.state.device.shared_bytes_per_block,
            )
            if static > most:
                raise LaunchError(
                    message(
                        "{place}: {array} brings the block to {static:,} bytes of shared "
                        "memory; a block has {most:,}. Use smaller shapes or fewer arrays",
                        place=Words(site.where().place),
                        array=Name(name),
                        static=Constant(static),
                        most=Limit(most),
                    )
                )
            self._take(array, static, site)
            self.static_bytes = static
            self.shared_arrays[key] = array
        return self.shared_arrays[key]

    def dynamic(
        self, name: str, dtype: DType, site: Site, alignment: int = 1
    ) -> SharedArray | View:
        """``cuda.shared.array(0, dtype)``: as many elements as the launch's dynamic bytes hold."""
        total = self.state.dynamic_bytes
        used = total // dtype.itemsize * dtype.itemsize
        if not used:
            raise LaunchError(
                message(
                    "{place}: {array} is dynamic shared memory, and the launch asks for "
                    "[[{total} bytes|too few bytes]] of it. "
                    "kernel[blocks, threads, stream, bytes] asks for some",
                    place=Words(site.where().place),
                    array=Name(name),
                    total=Size(total),
                )
            )
        if _DYNAMIC not in self.shared_arrays:
            unit: DType = dtype if used == total else np.dtype(np.uint8)
            shape = (total // unit.itemsize,)
            address = _aligned(self.shared_bytes, alignment)
            array = SharedArray(name, unit, shape, address, self.group)
            self._take(array, self.static_bytes, site)
            self.shared_arrays[_DYNAMIC] = array
        root = self.shared_arrays[_DYNAMIC]
        root.sure_multiple = max(root.sure_multiple, alignment, dtype.alignment)
        if root.dtype == dtype:
            return root
        if dtype.names or root.dtype.names:
            raise LaunchError(
                message(
                    "{place}: {one} and {other} are the same memory, "
                    "and records cannot share it here",
                    place=Words(site.where().place),
                    one=Name(name),
                    other=Name(root.name),
                )
            )
        key = (_DYNAMIC, dtype)
        if key not in self.views:
            shape = (used // root.step,)
            part = replace(start(root), name=name, shape=shape, strides=(1,))
            self.views[key] = retyped(part, dtype, site)
        return self.views[key]

    def _take(self, array: SharedArray, static: int, site: Site) -> None:
        """Give an array its place.

        Raises LaunchError where a block cannot have the static and dynamic memory together."""
        self.shared_bytes = array.address + array.memory_bytes
        most, dynamic = self.state.device.sm.shared_bytes_per_block, self.state.dynamic_bytes
        if static + dynamic > most:
            raise LaunchError(
                message(
                    "{place}: {static:,} bytes of static and [[{dynamic:,} of|some]] dynamic "
                    "shared memory; a block can have {most:,} in all. "
                    "Use smaller shapes, or ask for fewer bytes at the launch",
                    place=Words(site.where().place),
                    static=Constant(static),
                    dynamic=Size(dynamic),
                    most=Limit(most),
                )
            )
        self.state.shared_bytes = max(self.state.shared_bytes, static + dynamic)

    def local(self, key: object, name: str, dtype: DType, shape: tuple[int, ...]) -> LocalArray:
        if key not in self.local_arrays:
            self.local_arrays[key] = LocalArray(name, dtype, shape, self.group)
            self.local_bytes += dtype.itemsize * math.prod(shape)
            self.state.local_bytes = max(self.state.local_bytes, self.local_bytes)
        return self.local_arrays[key]


def _aligned(address: int, alignment: int = 1) -> int:
    alignment = max(alignment, _SHARED_ALIGNMENT)
    return -(-address // alignment) * alignment
