"""GPUs as numbers: what a launch may ask for, and how fast the parts are. Each figure cites its source.

Limits per compute capability: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".
Peaks and bandwidths (dense rates): NVIDIA's datasheets and architecture whitepapers of the product named.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """One GPU product. Rates in units of 10^12 operations or 10^9 bytes per second; sizes in bytes."""

    name: str
    compute_capability: tuple[int, int]
    sms: int
    fp32_tflops: float
    tensor16_tflops: float
    dram_gb_per_s: float
    l2_bytes: int
    shared_bytes_per_block: int = 48 * 1024  #: static limit, the same on all
    threads_per_block: int = 1024
    block_dim: tuple[int, int, int] = (1024, 1024, 64)
    grid_dim: tuple[int, int, int] = (2**31 - 1, 65535, 65535)


MB = 1024 * 1024
T4 = Device("T4", (7, 5), 40, 8.1, 65, 320, 4 * MB)
V100 = Device("V100 SXM2", (7, 0), 80, 15.7, 125, 900, 6 * MB)
A100 = Device("A100 80 GB SXM", (8, 0), 108, 19.5, 312, 2039, 40 * MB)
L4 = Device("L4", (8, 9), 58, 30.3, 121, 300, 48 * MB)
H100 = Device("H100 SXM", (9, 0), 132, 67, 989, 3350, 50 * MB)
H200 = Device("H200 SXM", (9, 0), 132, 67, 989, 4800, 50 * MB)
DEVICES = (T4, V100, A100, L4, H100, H200)
