"""Benchmark charts of matrix products and attention, for chapters 9, 10 and 12."""

from __future__ import annotations

from warpwise.book.charts.model import of_known
from warpwise.book.charts.plot import TFLOP_PER_S, Axis, Line, Model, Plot, Value, tflop_per_s
from warpwise.devices import H200, Device
from warpwise.kernels.sgemm import warp_tiles
from warpwise.metrics import WARP_SIZE
from warpwise.model import attention, matmul, waves


def fed(wavefronts: float, loads: float) -> Model:
    """Return the float32 rate with operands from L1 or shared memory.

    Both numbers are of a warp, for each of its multiply-adds. A load takes an issue slot, as a
    multiply-add does.
    """

    def rate(device: Device, n: float) -> float:
        sm = device.sm
        of_lanes = sm.fp32_lanes / WARP_SIZE  # multiply-adds of a warp that an SM could do a clock
        of_banks, of_slots = sm.shared_wavefronts / wavefronts, sm.sub_partitions / (1 + loads)
        return device.fp32_tflops * min(of_lanes, of_banks, of_slots) / of_lanes

    return of_known(rate)


def patch(rows: int, columns: int, width: int = 1) -> Model:
    """Return the rate with ``rows x columns`` results in a thread.

    It loads a number for each row and each column of them, ``width`` with one instruction.
    """
    numbers = (rows + columns) / (rows * columns)
    return fed(numbers, numbers / width)


LADDER = Plot(
    "The product of float32 matrices, step by step",
    "n",
    TFLOP_PER_S,
    (
        Line("plain, uncoalesced", ("sgemm_1_*",), fed(1 + WARP_SIZE, 2)),
        Line("plain, coalesced", ("sgemm_2_*",), patch(1, 1)),
        Line("tiles of 32 x 32", ("sgemm_3_*",), patch(1, 1)),
        Line("patches of 8 x 1", ("sgemm_4_*",), patch(8, 1)),
        Line("patches of 8 x 8", ("sgemm_5_*",), patch(8, 8)),
        Line("and wider loads", ("sgemm_6_*",), patch(8, 8, 4)),
        Line("and tiles for warps", ("sgemm_7_*",), patch(8, 8, 4)),
        Line("patches of 8 x 16", ("sgemm_8_*",), patch(8, 16, 4)),
        Line("copied past the registers", ("sgemm_9_*",), patch(8, 16, 4)),
        Line("cuBLAS", ("cupy",)),
    ),
)


tensor_peak = of_known(lambda device, n: device.tensor16_tflops)


LADDER_16 = Plot(
    "The product of bfloat16 matrices, step by step",
    "n",
    TFLOP_PER_S,
    (
        Line("a warp, a tile", ("hgemm_1_*",)),
        Line("tiles in shared memory", ("hgemm_2_*",)),
        Line("and copies ahead", ("hgemm_3_*",), tensor_peak),
        Line("and larger tiles", ("hgemm_4_*",), tensor_peak),
        Line("cuBLAS", ("torch",), None, {"dtype": "bfloat16"}),
    ),
    suite="sgemm_ladder",
)


def of_class(divisor: int) -> Model:
    """Return chapter 10's model of the sizes of one class, for the devices that it knows.

    ``divisor``: the largest power of two, up to 64, that divides the size.
    """

    def rate(device: Device, n: float) -> float | None:
        if device not in matmul.KNOWN or n % 1 or min(int(n) & -int(n), 64) != divisor:
            return None
        return matmul.product(int(n), device).flops_per_s / 1e12

    return of_known(rate)


BF16 = ("cupy bf16", "torch bf16")
MATMUL = Plot(
    "Products of n x n matrices",
    "n",
    TFLOP_PER_S,
    (
        Line("bfloat16, by 64", BF16, of_class(64), {"class": 64}),
        Line("bfloat16, odd", BF16, of_class(1), {"class": 1}),
        Line("bfloat16, by 8", BF16, of_class(8), {"class": 8}),
        Line("TF32, by 64", ("cupy tf32",), None, {"class": 64}),
        Line("float32, by 64", ("cupy fp32", "torch fp32"), None, {"class": 64}),
        Line("sgemm_7_warp_tile", ("sgemm_7_*",), None, {"n": 4096}),
    ),
    at=tuple(n + more for n in range(128, 4161, 64) for more in (0, 1, 8)),
    x=Axis("size n", "n = {}"),
)

(OURS,) = warp_tiles.STEPS
BLOCKS_PER_SM = OURS.built[0].blocks_per_sm


@of_known
def in_waves(device: Device, blocks: float) -> float:
    """Return the float32 peak times the share of slots that the waves of a grid fill."""
    return device.fp32_tflops * waves(int(blocks), device, BLOCKS_PER_SM).useful


WAVES = Plot(
    "A float32 product over the blocks of its grid",
    "blocks",
    TFLOP_PER_S,
    (Line("tiles for warps", ("sgemm_7_*",), in_waves),),
    at=tuple(range(8, 3 * BLOCKS_PER_SM * H200.sms + 2)),
    x=Axis("blocks", "{} blocks"),
)

# of the measured attention: elements of a row, rows of a tile, bytes of an element
D, TILE, FLOAT32 = 64, 64, 4


@of_known
def in_three_kernels(device: Device, n: float) -> float:
    """Return the rate of two products and a softmax in sequence; a head takes 4 n² d operations.

    Each takes as long as its arithmetic or its bytes, whichever is longer.
    """
    moved = FLOAT32 * (n * n + 2 * n * D) / device.dram_bytes_per_s
    product = max(2 * n * n * D / device.fp32_flops_per_s, moved)
    softmax = 2 * FLOAT32 * n * n / device.dram_bytes_per_s
    return 4 * n * n * D / (2 * product + softmax) / 1e12


@of_known
def in_tiles(device: Device, n: float) -> float:
    """Return the rate of one kernel whose blocks each read all keys and values, uncached."""
    tiles = attention.attention(int(n), D, TILE, TILE, FLOAT32)
    bytes_s = (tiles.read_bytes + tiles.written_bytes) / device.dram_bytes_per_s
    return 4 * n * n * D / max(4 * n * n * D / device.fp32_flops_per_s, bytes_s) / 1e12


ATTENTION = Plot(
    "Attention over the length of the text",
    "n",
    Value(Axis("TFLOP/s", "TFLOP/s", log=10), tflop_per_s),
    (
        Line("three kernels", ("attention_1_*",), in_three_kernels),
        Line("tiles", ("attention_5_*", "attention_4_*", "attention_3_*"), in_tiles),
        Line("tiles, TF32", ("attention_6_*",)),
        Line("PyTorch, three kernels", ("torch math",)),
        Line("PyTorch, tiles", ("torch efficient",)),
        Line("bfloat16, tiles", ("flash_bf16_[4-9]_*", "flash_bf16_3_*")),
        Line("PyTorch, bfloat16", ("torch flash",)),
    ),
    at=(512, 1024, 2048, 4096, 8192),
    x=Axis("n, queries and keys", "n = {}", log=2),
)
