"""GPUs as numbers: limits of a launch, capacity of a multiprocessor, and rates, each with a source.

Limits per compute capability: CUDA C++ Programming Guide, table
"Technical Specifications per Compute Capability"; the sizes in which registers and shared memory
are allocated: ``cuda_occupancy.h`` of the CUDA toolkit. Lanes per clock: CUDA C++ Best Practices
Guide, "Throughput of Native Arithmetic Instructions". Peaks and bandwidths (dense rates): NVIDIA's
datasheets and architecture whitepapers of the product named. Clocks and float64 rates are derived
from these. Links between GPUs: NVIDIA's datasheets, one way, with latencies from NCCL's
``src/graph/tuning.cc``. NVIDIA specifies neither the latency of a memory nor the bandwidth of L2:
``MEASURED`` has what others measured, for a few products."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warpwise.errors import LaunchError

KB, MB = 1024, 1024 * 1024
WAVEFRONT_BYTES = 32 * 4  # of 32 banks, 4 bytes each


@dataclass(frozen=True)
class Multiprocessor:
    """Capacity and rates of one streaming multiprocessor (SM) of a compute capability.

    Sizes in bytes, rates per clock."""

    warps: int
    blocks: int
    shared_bytes: int  #: of all blocks together
    #: dynamic shared memory of one block, where the kernel opts in to more than 48 KB
    shared_bytes_per_block: int
    shared_bytes_reserved: int  #: of each block, by the system
    shared_bytes_unit: int  #: a block's share is a multiple of this
    fp32_lanes: int  #: float32 additions, multiplications or multiply-adds in a clock
    fp64_lanes: int
    special_lanes: int = 16  #: reciprocals, square roots, exponentials, sines in a clock
    registers: int = 65_536
    registers_per_thread: int = 255
    registers_unit: int = 256  #: a warp's share is a multiple of this
    #: each with a scheduler that issues one warp instruction in a clock, and a quarter of the
    #: registers
    sub_partitions: int = 4
    #: as L1 and shared memory are one memory (Tesla V100 whitepaper, for 7.0 and later); that of
    #: Turing, 7.5, delivers half of what others do (GA102 whitepaper)
    l1_bytes_per_clock: int = 128

    @property
    def shared_wavefronts(self) -> float:
        """Passes over the banks of shared memory in a clock: 1, or a half on Turing."""
        return self.l1_bytes_per_clock / WAVEFRONT_BYTES


MULTIPROCESSORS = {
    (7, 0): Multiprocessor(64, 32, 96 * KB, 96 * KB, 0, 256, 64, 32),
    (7, 5): Multiprocessor(32, 16, 64 * KB, 64 * KB, 0, 256, 64, 2, l1_bytes_per_clock=64),
    (8, 0): Multiprocessor(64, 32, 164 * KB, 163 * KB, KB, 128, 64, 32),
    (8, 6): Multiprocessor(48, 16, 100 * KB, 99 * KB, KB, 128, 128, 2),
    (8, 9): Multiprocessor(48, 24, 100 * KB, 99 * KB, KB, 128, 128, 2),
    (9, 0): Multiprocessor(64, 32, 228 * KB, 227 * KB, KB, 128, 128, 64),
    (10, 0): Multiprocessor(64, 32, 228 * KB, 227 * KB, KB, 128, 128, 64),
    (12, 0): Multiprocessor(48, 24, 100 * KB, 99 * KB, KB, 128, 128, 2),
}


@dataclass(frozen=True)
class Device:
    """One GPU product.

    Rates in units of 10^12 operations or 10^9 bytes per second; sizes in bytes."""

    name: str
    compute_capability: tuple[int, int]
    sms: int
    fp32_tflops: float
    tensor16_tflops: float  #: 16-bit factors, 32-bit sums
    dram_gb_per_s: float
    l2_bytes: int
    shared_bytes_per_block: int = 48 * KB  #: static limit, the same on all
    threads_per_block: int = 1024
    block_dim: tuple[int, int, int] = (1024, 1024, 64)
    grid_dim: tuple[int, int, int] = (2**31 - 1, 65535, 65535)

    @property
    def sm(self) -> Multiprocessor:
        """The limits and rates of one of its multiprocessors.

        Raises LaunchError for a compute capability that is not in the table."""
        if self.compute_capability not in MULTIPROCESSORS:
            known = ", ".join(f"{major}.{minor}" for major, minor in MULTIPROCESSORS)
            asked = ".".join(map(str, self.compute_capability))
            raise LaunchError(
                f"{self.name} has compute capability {asked}; limits are known for {known}"
            )
        return MULTIPROCESSORS[self.compute_capability]

    @property
    def clock_hz(self) -> float:
        """The clock that gives the float32 peak, at two operations per lane and clock."""
        return self.fp32_flops_per_s / (2 * self.sm.fp32_lanes * self.sms)

    @property
    def fp64_tflops(self) -> float:
        """The float64 peak at the same clock, without tensor cores."""
        return self.fp32_tflops * self.sm.fp64_lanes / self.sm.fp32_lanes

    @property
    def dram_bytes_per_s(self) -> float:
        return 1e9 * self.dram_gb_per_s

    @property
    def fp32_flops_per_s(self) -> float:
        return 1e12 * self.fp32_tflops

    @property
    def fp64_flops_per_s(self) -> float:
        return 1e12 * self.fp64_tflops

    @property
    def tensor16_flops_per_s(self) -> float:
        return 1e12 * self.tensor16_tflops


T4 = Device("T4", (7, 5), 40, 8.1, 65, 320, 4 * MB)
V100 = Device("V100 SXM2", (7, 0), 80, 15.7, 125, 900, 6 * MB)
A100_40 = Device("A100 40 GB SXM", (8, 0), 108, 19.5, 312, 1555, 40 * MB)
A100 = Device("A100 80 GB SXM", (8, 0), 108, 19.5, 312, 2039, 40 * MB)
RTX_3090 = Device("RTX 3090", (8, 6), 82, 35.6, 71, 936, 6 * MB)
L4 = Device("L4", (8, 9), 58, 30.3, 121, 300, 48 * MB)
RTX_4090 = Device("RTX 4090", (8, 9), 128, 82.6, 165, 1008, 72 * MB)
H100_PCIE = Device("H100 PCIe", (9, 0), 114, 51, 756, 2000, 50 * MB)
H100 = Device("H100 SXM", (9, 0), 132, 67, 989, 3350, 50 * MB)
H200 = Device("H200 SXM", (9, 0), 132, 67, 989, 4800, 50 * MB)
B200 = Device("B200", (10, 0), 148, 75, 2250, 8000, 126 * MB)  # L2: Blackwell Tuning Guide
DEVICES = (T4, V100, A100_40, A100, RTX_3090, L4, RTX_4090, H100_PCIE, H100, H200, B200)


@dataclass(frozen=True)
class Interconnect:
    """A kind of link between GPUs or TPUs, by one way of it.

    ``latency_us``: from the start of a message to its first byte, in microseconds."""

    name: str
    gb_per_s: float
    latency_us: float
    source: str

    @property
    def bytes_per_s(self) -> float:
        return 1e9 * self.gb_per_s

    @property
    def latency_s(self) -> float:
        return 1e-6 * self.latency_us


_NCCL = "latency: that of a hop in a ring, protocol Simple, in NCCL's src/graph/tuning.cc"


def _nvlink(gb_per_s: float) -> Interconnect:
    return Interconnect("NVLink", gb_per_s, 3.4, f"NVIDIA's datasheet, half of both ways; {_NCCL}")


#: By the name of the product: all NVLinks of one GPU together. Eight such GPUs are a domain.
NVLINK = {
    V100.name: _nvlink(150),
    A100_40.name: _nvlink(300),
    A100.name: _nvlink(300),
    H100.name: _nvlink(450),
    H200.name: _nvlink(450),
    B200.name: _nvlink(900),
}
NVLINK_DOMAIN = 8  #: GPUs of a DGX or HGX board
#: One card for each GPU, as in a DGX H100 (400 Gbit/s).
INFINIBAND_NDR = Interconnect("InfiniBand NDR", 50, 14, f"4x NDR, 400 Gbit/s; {_NCCL}")
ICI_V5P = Interconnect(
    "ICI of TPU v5p", 90, 1, "Austin et al., How To Scale Your Model: a link one way, and a hop"
)


@dataclass(frozen=True)
class Figure:
    """A measured number, not a specified one.

    ``source`` is a key of the book's bibliography; ``how`` is the method, or the place there."""

    value: float
    source: str
    how: str


@dataclass(frozen=True)
class Memories:
    """Measurements of a product's memories, None where we know of none.

    Clocks are from an instruction to its result. The latencies are those of one warp that waits for
    each load before the next, on an otherwise idle GPU."""

    #: of an SM: L1 and shared memory together (NVIDIA's architecture whitepapers)
    unified_bytes: int
    dram_gib: tuple[int, ...]  #: the sizes that the product is sold with (datasheets)
    register_clocks: Figure | None  #: of a float32 instruction whose operand the one before it made
    shared_clocks: Figure | None
    l1_clocks: Figure | None
    l2_clocks: Figure | None  #: found in the nearer part, where L2 has two
    dram_clocks: Figure | None
    l2_gb_per_s: Figure | None


def _chased(clocks: float, card: str) -> Figure:
    """A reading of the repository's ``gpu-latency`` where its curve is flat."""
    how = (
        f"gpu-latency on {card}: pointers chased through 69 (L1), 4,333 (L2) and 340,388 kB (DRAM)"
    )
    return Figure(clocks, "ernst_gpu_benches", how)


def _streamed(gb_per_s: float, benchmark: str, kilobytes: str, card: str) -> Figure:
    how = f"{benchmark} on {card}: {kilobytes} kB read again and again"
    return Figure(gb_per_s, "ernst_gpu_benches", how)


_V100 = "a V100 at 1,380 MHz"
_A100 = "an A100 80 GB at 1,410 MHz"
_H100 = "an H100 PCIe at 1,755 MHz"
_GUIDE = "Multiprocessor Level: most arithmetic instructions, compute capability 7.x"
_LUO = "pointers chased through shared memory, on A100 and H100 PCIe alike"

#: By the name of the product. The far part of the L2 of an A100 or an H100 takes longer; its curve
#: is nowhere flat, so it is left out.
MEASURED = {
    V100.name: Memories(
        128 * KB,
        (16, 32),
        Figure(4, "cuda_guide", _GUIDE),
        None,
        _chased(30.1, _V100),
        _chased(215.0, _V100),
        _chased(436.3, _V100),
        _streamed(2428.6, "gpu-cache", "4,044", _V100),
    ),
    A100.name: Memories(
        192 * KB,
        (80,),
        Figure(4, "abdelkhalik2022", "add.f32 that needs the result of the one before"),
        Figure(29, "luo2024hopper", _LUO),
        _chased(36.2, _A100),
        _chased(211.0, _A100),
        _chased(571.8, _A100),
        _streamed(5447.7, "gpu-l2-cache", "16,896", _A100),
    ),
    H100_PCIE.name: Memories(
        256 * KB,
        (80,),
        None,
        Figure(29, "luo2024hopper", _LUO),
        _chased(34.3, _H100),
        _chased(265.7, _H100),
        _chased(652.4, _H100),
        _streamed(6912.2, "gpu-l2-cache", "16,896", _H100),
    ),
}


def find(name: str) -> Device:
    """Return the device of this name, or the only one whose name contains it.

    Case, blanks and hyphens do not count. Raises LaunchError, which lists the names.
    """
    key = _key(name)
    exact = [device for device in DEVICES if _key(device.name) == key]
    found = exact or [device for device in DEVICES if key and key in _key(device.name)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(device.name for device in found or DEVICES)
    if found:
        raise LaunchError(f"{name!r} can be {names}: say which")
    raise LaunchError(f"no device is called {name!r}; there are {names}")


def known(device: Device | str) -> Device:
    """Return a device of the table, given by itself or by a name as in ``find``.

    Raises LaunchError for a name that no device has, or more than one, and for a device that is not
    in the table."""
    if not isinstance(device, Device):
        return find(str(device))
    if device not in DEVICES:
        names = ", ".join(one.name for one in DEVICES)
        raise LaunchError(
            f"no device is called {device.name!r} and has these figures; there are {names}"
        )
    return device


def nvlink_of(device: Device | str) -> Interconnect:
    """Return the NVLink of a device of the table. Raises LaunchError if none of it is known."""
    name = known(device).name
    if name not in NVLINK:
        raise LaunchError(f"no NVLink of {name} is known; there are those of {', '.join(NVLINK)}")
    return NVLINK[name]


#: A driver's name for a device, without the brand. Others of their families, on another board, have
#: other figures, and are left out.
OF_DRIVER = {
    "T4": T4,
    "V100-SXM2-(16|32)GB": V100,
    "A100-SXM4-40GB": A100_40,
    "A100-SXM4-80GB": A100,
    "RTX 3090": RTX_3090,
    "L4": L4,
    "RTX 4090": RTX_4090,
    "H100 PCIe": H100_PCIE,
    "H100 80GB HBM3": H100,
    "H200": H200,
    "B200": B200,
}
_BRAND = re.compile(r"^(nvidia|tesla|geforce|\s)+", re.IGNORECASE)


def of_driver(name: str) -> Device | None:
    """Return the device with a driver's name such as ``NVIDIA A100-SXM4-40GB``, None if unknown."""
    product = _BRAND.sub("", name)
    for pattern, device in OF_DRIVER.items():
        if re.fullmatch(pattern, product, re.IGNORECASE):
            return device
    return None


def _key(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
