"""Attention in float32, forward: softmax(Q K^T / sqrt(64)) V, from three kernels to one in tiles.

``query``, ``key``, ``value``, ``out``: heads x n rows of 64 elements, flat and one after another; n
is a multiple of 64. ``lse``, heads x n: for each query the logarithm of its sum of exponentials,
which a backward pass needs. ``scores``, heads x n x n: the workspace of the unfused step only.
"""

from __future__ import annotations

from warpwise.kernels.attention import rows, tiled, unfused
from warpwise.kernels.attention.constants import D

__all__ = ["FLASH", "STEPS", "UNFUSED", "D"]
UNFUSED = unfused.STEPS
FLASH = (*rows.STEPS, *tiled.STEPS)
STEPS = (*UNFUSED, *FLASH)
