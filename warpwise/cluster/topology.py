"""Topologies: the links between ranks, and the way of a message over them.

A link goes one way, and carries one message's bytes at a time; the two ways of a cable are two
links. A message takes the sum of the latencies on its way, and its bytes over the slowest link (the
alpha-beta model; Hockney 1994, Parallel Computing 20). Figures of real links are in
``warpwise.devices``. Left out: the PCIe bus between a GPU and its network card, and switches that
themselves run out of bandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from operator import index

from warpwise.devices import (
    H100,
    ICI_V5P,
    INFINIBAND_NDR,
    NVLINK_DOMAIN,
    Device,
    Interconnect,
    known,
    nvlink_of,
)
from warpwise.errors import LaunchError
from warpwise.model.arguments import quantity


@dataclass(frozen=True)
class Link:
    """One way of a cable. ``source`` and ``target``: such as "gpu 3" or "switch"."""

    source: str
    target: str
    bytes_per_s: float
    latency_s: float

    @property
    def name(self) -> str:
        """Both ends, such as "gpu 3 > switch"."""
        return f"{self.source} > {self.target}"


@dataclass(frozen=True)
class Topology:
    """Links, and by sender and receiver the numbers of those that a message takes, in order."""

    name: str
    ranks: int
    links: tuple[Link, ...]
    routes: Mapping[tuple[int, int], tuple[int, ...]] = field(repr=False)

    @cached_property
    def ways(self) -> dict[tuple[int, int], tuple[float, float]]:
        """By sender and receiver: latency in seconds, and bytes per second."""
        found = {}
        for pair, route in self.routes.items():
            links = [self.links[number] for number in route]
            slowest = min(link.bytes_per_s for link in links)
            found[pair] = sum(link.latency_s for link in links), slowest
        return found

    def __str__(self) -> str:
        ranks, links = quantity(self.ranks, "rank"), quantity(len(self.links), "link")
        return f"{self.name}, {ranks}, {links}"


def switch(ranks: int, bytes_per_s: float, latency_s: float, name: str = "switch") -> Topology:
    """Return ranks around one switch: each has one link to it and one from it.

    ``bytes_per_s``: one way of a rank. ``latency_s``: of a message from rank to rank. Raises
    LaunchError for numbers that cannot be."""
    _check(ranks, bytes_per_s, latency_s)
    up = [Link(gpu(r), "switch", bytes_per_s, latency_s) for r in range(ranks)]
    down = [Link("switch", gpu(r), bytes_per_s, 0.0) for r in range(ranks)]
    routes = {(a, b): (a, ranks + b) for a, b in _pairs(ranks)}
    return Topology(name, ranks, (*up, *down), routes)


def nvlink_island(ranks: int, device: Device | str = H100) -> Topology:
    """Return the GPUs of one board, joined by NVLink and its switches.

    Raises LaunchError for more than eight, or a GPU of which no NVLink is known."""
    link = nvlink_of(device)
    if ranks > NVLINK_DOMAIN:
        raise LaunchError(
            f"a board has {NVLINK_DOMAIN} GPUs, not {ranks}: cluster.nodes(...) joins boards"
        )
    name = f"NVLink, {known(device).name}"
    return switch(ranks, link.bytes_per_s, link.latency_s, name)


def nodes(
    ranks: int,
    gpus_per_node: int = NVLINK_DOMAIN,
    device: Device | str = H100,
    network: Interconnect = INFINIBAND_NDR,
) -> Topology:
    """Return nodes of GPUs: NVLink inside a node, and between nodes a network card for each GPU.

    Ranks fill one node after the other; the last may have fewer. Raises LaunchError for numbers
    that cannot be, or a GPU of which no NVLink is known."""
    inside = nvlink_of(device)
    _check(ranks, 1.0, 0.0)
    if not 1 <= gpus_per_node <= NVLINK_DOMAIN:
        raise LaunchError(f"a node has 1 to {NVLINK_DOMAIN} GPUs, not {gpus_per_node}")
    links = []
    for kind, hub in ((inside, "NVLink {}"), (network, "network")):
        hubs = [hub.format(r // gpus_per_node) for r in range(ranks)]
        links += [Link(gpu(r), hubs[r], kind.bytes_per_s, kind.latency_s) for r in range(ranks)]
        links += [Link(hubs[r], gpu(r), kind.bytes_per_s, 0.0) for r in range(ranks)]
    routes = {}
    for a, b in _pairs(ranks):
        first = 0 if a // gpus_per_node == b // gpus_per_node else 2 * ranks
        routes[a, b] = first + a, first + ranks + b
    name = f"nodes of {gpus_per_node} {known(device).name}, {network.name}"
    return Topology(name, ranks, tuple(links), routes)


def torus(shape: Sequence[int], link: Interconnect = ICI_V5P) -> Topology:
    """Return a torus, such as that of TPUs: each rank has a neighbour on both sides of each axis.

    ``shape``: ranks by axis; ``(p,)`` is a ring. Ranks are numbered with the last axis fastest. A
    message goes along the first axis first, the shorter way round, and of two equal ones upwards;
    each hop costs a latency. Raises LaunchError for a shape that cannot be."""
    try:
        sizes = tuple(map(index, shape))
    except TypeError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise LaunchError(
            f"a torus has one positive length by axis, not {shape!r}: such as (4, 4), or (8,)"
        )
    ranks, number = prod(sizes), dict[tuple[int, int], int]()
    links: list[Link] = []
    for rank in range(ranks):
        for axis, size in enumerate(sizes):
            for step in (1, -1)[: size - 1]:
                other = _beside(rank, sizes, axis, step)
                number[rank, other] = len(links)
                links.append(Link(gpu(rank), gpu(other), link.bytes_per_s, link.latency_s))
    routes = {}
    for a, b in _pairs(ranks):
        stops = list(_stops(a, b, sizes))
        routes[a, b] = tuple(number[pair] for pair in zip([a, *stops], stops, strict=False))
    lengths = " x ".join(map(str, sizes))
    return Topology(f"torus {lengths}, {link.name}", ranks, tuple(links), routes)


def usual(ranks: int, device: Device | str = H100) -> Topology:
    """Return one board of GPUs for up to eight ranks, or else nodes of eight."""
    return nvlink_island(ranks, device) if ranks <= NVLINK_DOMAIN else nodes(ranks, device=device)


def gpu(rank: int) -> str:
    """Return the name of a rank's end of a link."""
    return f"gpu {rank}"


def _stops(a: int, b: int, sizes: tuple[int, ...]) -> Iterable[int]:
    """Yield the ranks on the way from ``a`` to ``b``, the last included."""
    here = a
    for axis, size in enumerate(sizes):
        up = (_place(b, sizes, axis) - _place(here, sizes, axis)) % size
        step, hops = (1, up) if up <= size - up else (-1, size - up)
        for _ in range(hops):
            here = _beside(here, sizes, axis, step)
            yield here


def _place(rank: int, sizes: tuple[int, ...], axis: int) -> int:
    return rank // prod(sizes[axis + 1 :]) % sizes[axis]


def _beside(rank: int, sizes: tuple[int, ...], axis: int, step: int) -> int:
    stride, at = prod(sizes[axis + 1 :]), _place(rank, sizes, axis)
    return rank + ((at + step) % sizes[axis] - at) * stride


def _pairs(ranks: int) -> Iterable[tuple[int, int]]:
    return ((a, b) for a in range(ranks) for b in range(ranks) if a != b)


def _check(ranks: int, bytes_per_s: float, latency_s: float) -> None:
    if ranks < 1 or bytes_per_s <= 0 or latency_s < 0:
        raise LaunchError(
            "a topology has one rank or more, a positive bandwidth and a latency of 0 or more, "
            f"not {ranks}, {bytes_per_s:g} and {latency_s:g}"
        )
