"""``cuda.reduce``: a function of two numbers, made to reduce an array in parallel.

The order in which elements meet is that of Numba, so that sums of floats are the same: threads step
through the array, warps reduce by halves, and the results of blocks are reduced once more."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise.cuda.arrays import DeviceArray
from warpwise.cuda.elementwise import as_values, device_function
from warpwise.cuda.kernels import SimulatedKernel
from warpwise.cuda.layouts import WrongType, need_contiguous
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.frontend.source import from_function
from warpwise.simt.launch import trace

WARPS = 4  # of a block
THREADS = 32 * WARPS
MOST_BLOCKS = 64
cuda: Any = CudaName()  # inside the kernel


def _kernel(op: Any, dtype: np.dtype[Any]) -> Kernel:
    """Return the kernel that reduces ``arr`` to a number for each block."""

    def reduce_blocks(arr, partials, init, with_init):  # type: ignore[no-untyped-def]
        tid, block, threads = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockDim.x
        warp, lane = tid // 32, tid % 32
        found = cuda.shared.array((WARPS, 32), dtype)
        first, step = block * threads + tid, cuda.gridDim.x * threads
        value = arr[first]
        for i in range(first + step, arr.size, step):
            value = op(value, arr[i])
        found[warp, lane] = value
        cuda.syncthreads()

        if threads == THREADS or (warp + 1) * 32 < threads:
            width = 16
            while width:
                if lane < width:
                    found[warp, lane] = op(found[warp, lane], found[warp, lane + width])
                cuda.syncwarp()
                width //= 2
        elif lane == 0:  # a warp that is not full
            for i in range(1, threads - warp * 32):
                found[warp, 0] = op(found[warp, 0], found[warp, i])
        cuda.syncthreads()

        if tid == 0:
            if threads == THREADS:
                value = op(op(found[0, 0], found[2, 0]), op(found[1, 0], found[3, 0]))
            else:
                value = found[0, 0]
                for i in range(1, (threads + 31) // 32):
                    value = op(value, found[i, 0])
            partials[block] = value
            if with_init and block == 0:
                partials[0] = op(partials[0], init)

    function: Any = reduce_blocks
    return from_function(function, False, SimulatedKernel)


class Reduce:
    """``@cuda.reduce``: see the module."""

    def __init__(self, functor: Any) -> None:
        self.op = device_function(functor)
        self.kernels: dict[np.dtype[Any], Kernel] = {}

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: object = 0
    ) -> Any:
        """Reduce the first ``size`` elements of an array of one dimension, and ``init``.

        Returns the result, or writes it into ``res[0]``. Raises TypeError for more dimensions."""
        values, is_device = as_values(arr)
        if values.ndim != 1:
            raise WrongType("only support 1D array")
        if not is_device:
            need_contiguous(values)
        values, init = values[:size], values.dtype.type(init)
        if not values.size:
            return init
        result = self._reduced(values, init)
        if res is None:
            return result
        as_values(res)[0][:1] = result
        return None

    def _reduced(self, values: np.ndarray, init: Any) -> Any:
        dtype = values.dtype
        kernel = self.kernels.setdefault(dtype, _kernel(self.op, dtype))
        blocks, rest = divmod(values.size, THREADS)
        full, blocks = values.size - rest, min(blocks, MOST_BLOCKS)
        count = blocks + (rest > 0)
        partials = DeviceArray((count,), (dtype.itemsize,), dtype)

        def run(grid: int, threads: int, part: np.ndarray, out: DeviceArray, first: bool) -> None:
            arguments = DeviceArray.over(part), out, init, first
            trace(kernel, grid, threads, *arguments, record=())

        if full:
            run(blocks, THREADS, values[:full], partials[:blocks], True)
        if rest:
            run(1, rest, values[full:], partials[blocks:], not blocks)
        if count > 1:
            run(1, count, partials.host_values, partials, False)
        return partials[0]


HOST: dict[str, object] = {"reduce": Reduce, "Reduce": Reduce}
