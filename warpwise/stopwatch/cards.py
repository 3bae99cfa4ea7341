"""What the stopwatch knows of each GPU: rates and latencies beyond the datasheet, with sources.

NVIDIA publishes lanes and sizes; latencies and the widths of caches are what others measured. Where
neither exists for a product, the figure of its nearest relative stands, and ``source_of`` says so.
Of an H200 and an H100 PCIe, DRAM's latency under load and its grain were read from
measurements after the blind test; nothing else here comes from a kernel whose time is predicted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from warpwise.benchmark_records import is_of, read
from warpwise.devices import (
    A100,
    A100_40,
    B200,
    H100,
    H100_PCIE,
    H200,
    KB,
    L4,
    MB,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Device,
)
from warpwise.errors import LaunchError, MeasureError


@dataclass(frozen=True)
class Core:
    """An SM of one compute capability. Widths in bytes a clock, latencies in clocks."""

    l1_path: int  #: of L1 to registers
    shared_path: int  #: of shared memory to registers
    load_store_lanes: int  #: addresses a clock
    two_float_pipes: bool  #: 32 lanes for float32 in each quarter of an SM instead of 16
    unified_bytes: int  #: L1 and shared memory together
    tensor_flops: int  #: a clock, 16-bit factors and 32-bit sums, dense
    shared_latency: float
    l1_latency: float
    arithmetic_latency: float
    source: str
    l2_store_share: float = 1.0  #: bytes a clock that L2 takes of stores, over those of loads
    warp_share: float = 1.0  #: of ``tensor_flops`` that products of single warps reach


#: gpu-small-kernels: a scaled copy within L2 runs at 3.85 TB/s on an A100 and 6.4 on an H200, where
#: loads alone run at 5.4 and 9.8. On an A40 and an L40 it is as fast as loads.
_STORES_A100, _STORES_HOPPER = 0.55, 0.48
_SPLIT = "; gpu-small-kernels: L2 takes stores at half the rate of loads"
#: FlashAttention-3, its authors' post of 2024: without products of whole warpgroups some two thirds
#: of an H100's tensor cores can be used.
_WARPS = "; FlashAttention-3: products of a warp reach two thirds of those of a warpgroup"
_VOLTA = "Tesla V100 whitepaper (32 LD/ST units, 128 KB); gpu-cache: 128 bytes a clock of L1"
_TURING = "Turing whitepaper (16 LD/ST units, 96 KB, 64 bytes a clock of L1 and shared memory)"
_GA100 = "A100 whitepaper (32 LD/ST units, 192 KB); gpu-cache: 128 bytes a clock of L1" + _SPLIT
_GA10X = (
    "Ampere GA102 whitepaper (16 LD/ST units, 128 KB, 128 bytes a clock of shared memory); "
    "gpu-cache on an A40: 64 bytes a clock of L1"
)
_AD10X = (
    "Ada whitepaper (16 LD/ST units, 128 KB), shared memory as GA102; "
    "gpu-cache on an L40: 64 bytes a clock of L1"
)
_HOPPER = "H100 whitepaper (32 LD/ST units, 256 KB); gpu-cache: 128 bytes a clock of L1"
_HOPPER += _SPLIT + _WARPS
_BLACKWELL = "Blackwell Tuning Guide (256 KB); the rest is taken to be as on Hopper"
_CORES = {
    (7, 0): Core(128, 128, 32, False, 128 * KB, 1024, 27, 30, 4, _VOLTA),
    (7, 5): Core(64, 64, 16, False, 96 * KB, 1024, 23, 32, 4, _TURING),
    (8, 0): Core(128, 128, 32, False, 192 * KB, 2048, 29, 36, 4, _GA100, _STORES_A100),
    (8, 6): Core(64, 128, 16, True, 128 * KB, 1024, 29, 36, 4, _GA10X),
    (8, 9): Core(64, 128, 16, True, 128 * KB, 1024, 29, 36, 4, _AD10X),
    (9, 0): Core(128, 128, 32, True, 256 * KB, 4096, 29, 34, 4, _HOPPER, _STORES_HOPPER, 2 / 3),
    # of a warp's products as many in a clock as on Hopper
    (10, 0): Core(128, 128, 32, True, 256 * KB, 8192, 29, 34, 4, _BLACKWELL, _STORES_HOPPER, 1 / 3),
}


@dataclass(frozen=True)
class Card:
    """One product: its device, the clock under load, and its memories.

    Latencies in clocks; ``l2_bytes_per_clock`` is that of the whole L2."""

    device: Device
    ghz: float
    l2_bytes_per_clock: float
    l2_latency: float
    dram_latency: float
    sources: dict[str, str]
    own_core: Core | None = None  #: of this card, where it was measured
    #: from a free place on an SM to the next block's first instruction, where it was measured
    start_clocks: float | None = None
    #: while others copy; None where nobody has measured it, and then the same as without load
    dram_latency_loaded: float | None = None
    dram_grain: int = 32  #: bytes that DRAM is read by at a time, at least

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def guessed(self) -> bool:
        """Whether a figure is taken from another architecture, as none is published of its own."""
        return any(source.endswith(_NO_FIGURE) for source in self.sources.values())

    @property
    def core(self) -> Core:
        return self.own_core or _CORES[self.device.compute_capability]

    @property
    def code_cc(self) -> tuple[int, int]:
        """The compute capability that its code is compiled for.

        Compilers since CUDA 13 do not know 7.0, whose instructions 7.5 shares."""
        own = self.device.compute_capability
        return (7, 5) if own == (7, 0) else own

    @property
    def tensor_flops(self) -> float:
        """Operations a clock of an SM's tensor cores, at most those of the datasheet: products with
        sums in float32 are half as fast on some products."""
        own = self.device.tensor16_flops_per_s / (1e9 * self.ghz * self.device.sms)
        return min(self.core.tensor_flops, own) if own else self.core.tensor_flops

    @property
    def dram_bytes_per_clock(self) -> float:
        """Bytes between L2 and DRAM in a clock of the SMs, by the datasheet."""
        return self.device.dram_bytes_per_s / (1e9 * self.ghz)

    def at(self, ghz: float) -> Card:
        """Return the same card at another clock of its SMs. DRAM does not follow it."""

        def at_it(latency: float) -> float:
            return self.l2_latency + (latency - self.l2_latency) * ghz / self.ghz

        loaded = self.dram_latency_loaded and at_it(self.dram_latency_loaded)
        idle = at_it(self.dram_latency)
        return replace(self, ghz=ghz, dram_latency=idle, dram_latency_loaded=loaded)

    def with_measured(self, constants: Mapping[str, float], source: str = "measured") -> Card:
        """Return the same card with constants of its own, by their names here and in ``Core``.

        Others are passed over, such as those that are only told."""
        of_core, own = _named_in(constants, Core), _named_in(constants, Card)
        core = replace(self.core, **of_core, source=source) if of_core else self.own_core
        named = {"ghz"} & own.keys() | ({"latencies"} if "dram_latency" in own else set())
        sources = self.sources | dict.fromkeys(named, source)
        return replace(self, **own, own_core=core, sources=sources)


def _named_in(constants: Mapping[str, float], kind: type[Core | Card]) -> dict[str, Any]:
    return {f.name: constants[f.name] for f in fields(kind) if f.name in constants}


_GPU_BENCHES = "te42kyfo/gpu-benches"
_CHASED = f"{_GPU_BENCHES}, gpu-latency on "
_L2 = f"{_GPU_BENCHES}, gpu-l2-cache on "
_DATASHEET = "boost clock of the datasheet"


MAKERS = ("nvidia", "tesla", "geforce", "quadro")  #: words of names that say nothing more


def _card(
    device: Device,
    ghz: float,
    l2: float,
    latencies: tuple[float, float],
    *sources: str,
    chased_at: float = 0.0,
    loaded: float | None = None,
    grain: int = 32,
) -> Card:
    """Return a card; ``sources`` are those of the clock, L2's width, the latencies and, where they
    are given, of DRAM's latency under load and its grain.

    ``chased_at``: the clock in GHz at which the latencies were measured, its own unless said."""
    names = ("ghz", "l2_bytes_per_clock", "latencies", "DRAM under load")
    measured = dict(zip(names, sources, strict=False))
    made = Card(device, chased_at or ghz, l2, *latencies, measured).at(ghz)
    return replace(made, dram_latency_loaded=loaded, dram_grain=grain)


A6000 = Device("RTX A6000", (8, 6), 84, 38.7, 155, 768, 6 * MB)
A40 = Device("A40", (8, 6), 84, 37.4, 150, 696, 6 * MB)
L40 = Device("L40", (8, 9), 142, 90.5, 181, 864, 96 * MB)
L40S = Device("L40S", (8, 9), 142, 91.6, 362, 864, 96 * MB)
_OF_GA102 = "taken to be 240 and 480 for GA102, for which gpu-benches has no figures"
_GA102_L2 = f"{_GPU_BENCHES}, gpu-cache on an A40 beyond its L1: 1,402 bytes a clock"
_OF_L40 = f"{_CHASED}an L40"
_OF_H100 = f"{_CHASED}an H100 PCIe of the same chip at 1.755 GHz, DRAM's part in nanoseconds"
_AS_L40 = f"{_L2}an L40 of the same chip"
_H200 = (
    "`warpwise measure constants` and `stride` on an H200, 2026: 1,313 clocks while others copy, "
    "and 64 bytes read at a time"
)
_NO_FIGURE = "no figure is published"
_AS_H200 = "as an H200's, of the same chip"
CARDS = (
    _card(T4, 1.59, 800, (236, 520), _DATASHEET,
          "Jia et al. 2019, Dissecting the Turing T4: 1,270 GB/s at 1.59 GHz",
          "sjfeng1999/gpu-arch-microbenchmark on an RTX 2070 (L2); DRAM between V100 and A100"),
    _card(V100, 1.38, 2429 / 1.38, (215, 436), "clock of gpu-benches' runs, under load",
          f"{_L2}a V100", f"{_CHASED}a V100"),
    _card(A100_40, 1.41, 5440 / 1.41, (213, 573), _DATASHEET,
          f"{_L2}an A100", f"{_CHASED}an A100 40 GB"),
    _card(A100, 1.41, 5440 / 1.41, (211, 571), _DATASHEET,
          f"{_L2}an A100 80 GB", f"{_CHASED}an A100 80 GB"),
    _card(A6000, 1.80, 1402, (240, 480), _DATASHEET, _GA102_L2, _OF_GA102),
    _card(A40, 1.74, 1402, (240, 480), "clock of gpu-benches' runs", _GA102_L2, _OF_GA102),
    _card(RTX_3090, 1.695, 1402, (240, 480), _DATASHEET, _GA102_L2, _OF_GA102),
    _card(L4, 2.04, 5200 / 2.49 / 2, (276, 630), _DATASHEET,
          f"{_AS_L40}'s family, for half of its L2", f"{_OF_L40}, of the same family",
          chased_at=2.49),
    _card(RTX_4090, 2.52, 5200 / 2.49 * 0.75, (276, 630), _DATASHEET,
          f"{_AS_L40}, for three quarters of its L2", f"{_OF_L40} of the same chip",
          chased_at=2.49),
    _card(L40, 2.49, 5200 / 2.49, (276, 630), "clock of gpu-benches' runs",
          f"{_L2}an L40", _OF_L40),
    _card(L40S, 2.52, 5200 / 2.49, (276, 630), _DATASHEET, _AS_L40, f"{_OF_L40} of the same chip",
          chased_at=2.49),
    _card(H100_PCIE, 1.755, 7254 / 1.755, (265, 652), _DATASHEET,
          f"{_L2}an H100 PCIe", f"{_CHASED}an H100 PCIe", _AS_H200,
          loaded=1313 * 1.755 / 1.98, grain=64),
    _card(H100, 1.98, 9800 / 1.98, (265, 652), _DATASHEET,
          f"{_L2}an H200 of the same chip", _OF_H100, chased_at=1.755),
    _card(H200, 1.98, 9800 / 1.98, (265, 652), _DATASHEET,
          f"{_L2}an H200", _OF_H100, _H200, chased_at=1.755, loaded=1313, grain=64),
    _card(B200, 1.98, 9800 / 1.98 * 148 / 132, (265, 652), _DATASHEET,
          f"as an H200's for each SM: {_NO_FIGURE}",
          f"as an H100's: {_NO_FIGURE}", chased_at=1.755),
)  # fmt: skip


def matching(name: str) -> tuple[Card, ...]:
    """Return the card of this name, or all whose names have each of its words.

    Case, blanks and hyphens do not count, nor do words such as NVIDIA. Raises LaunchError, which
    lists the names."""
    key = _key(name)
    exact = tuple(card for card in CARDS if _key(card.name) == key)
    found = exact or tuple(card for card in CARDS if _is_called(card.name, name))
    if not found:
        raise LaunchError(f"the stopwatch does not know {name!r}; it knows {_names(CARDS)}")
    return found


def _is_called(name: str, called: str) -> bool:
    """Return whether a card's name has each word of another one, which has its number.

    Drivers say the memory of all cards, and an H100's of HBM3, which is one with SXM."""
    words, others = _words(name), _words(called)
    number = next(word for word in words if any(map(str.isdigit, word)))
    if number not in others:
        return False
    others = [word for word in others if word not in MAKERS]
    if "gb" not in words:
        others = re.sub(r"\b\d+ gb\b", "", " ".join(others)).split()
    return set(others) <= set(words)


def _words(name: str) -> list[str]:
    """Return a name's words: "NVIDIA A100-SXM4-80GB" as nvidia, a100, sxm, 80 and gb."""
    words = re.sub(r"\bsxm\d\b|\bhbm3\b", "sxm", name.lower())
    return re.findall(r"[a-z0-9]+", re.sub(r"\b(\d+)gb\b", r"\1 gb", words))


def find(name: str, measured: str | Path | None = None) -> Card:
    """Return the only card that matches a name.

    ``measured``: a record of `warpwise measure constants`, whose figures then stand in place of
    published ones. Raises LaunchError, which lists the names, and MeasureError for another file."""
    found = matching(name)
    if len(found) > 1:
        raise LaunchError(f"{name!r} can be {_names(found)}: say which")
    return found[0] if measured is None else _measured(found[0], measured)


def _measured(card: Card, path: str | Path) -> Card:
    record = read(path)
    if not is_of(card.name, record.device):
        raise MeasureError(f"{path} has constants of {record.device}, and not of {card.name}")
    constants = record.contents.get("constants")
    if not constants:
        raise MeasureError(f"{path} has no constants: `warpwise measure constants` writes them")
    return card.with_measured(constants, f"measured on {record.device}, {record.date[:10]}")


def _names(cards: tuple[Card, ...]) -> str:
    return ", ".join(card.name for card in cards)


def known(device: Device | Card | str) -> Card:
    """Return a card by itself, by its device or by a name as in ``find``."""
    if isinstance(device, Card):
        return device
    return find(device.name if isinstance(device, Device) else str(device))


def _key(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
