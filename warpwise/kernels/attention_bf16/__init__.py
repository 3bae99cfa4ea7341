"""Flash attention, forward, on tensor cores: bfloat16 in and out, sums and softmax in float32.

No matrix of scores is in memory. ``q``, ``k``, ``v`` and ``out`` are flat arrays of uint32, two
neighbours in each: heads one after another, each of n rows of 64 numbers. ``n`` is a multiple of
ROWS. Each lane keeps the scores that ``mma_bf16`` gives it (see ``tensor_core``). Rounded and
paired, these are exactly the fragment of A that the product with v takes: probabilities never leave
the registers.
"""

from __future__ import annotations

from warpwise.kernels.attention_bf16 import async_tiles, shared_tiles, single_warp
from warpwise.kernels.attention_bf16.async_tiles import ROWS
from warpwise.kernels.attention_bf16.online_softmax import WIDTH

__all__ = ["ROWS", "STEPS", "WIDTH"]
STEPS = (*single_warp.STEPS, *shared_tiles.STEPS, *async_tiles.STEPS)
