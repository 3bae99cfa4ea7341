"""A planner: time of a step, memory of a GPU and MFU, for each way to divide a model on a cluster.

First principles, and no number is fitted to a run. Products take place at ``PRODUCTS`` of the
peak, elementwise kernels move their bytes at the bandwidth of memory, collectives are rings by the
alpha-beta model, and a pipeline has its bubble. Beyond a node a sum or a gathering runs in as many
rings as the group has ranks in a node, each by another card, as NCCL's do; a ring of keys and
values, and what goes to experts, leave a GPU by its own card. What hides: sums of gradients behind
the backward pass of the last micro-batch, in stage 2 of ZeRO of each; weights that stages 1 and 2
gather after the update, behind the forward pass that follows; all traffic of stage 3 behind all
passes; a ring of keys and values behind attention. What does not: a layer's share of such sums and
weights, since the last layer's sum begins when nothing is left to hide behind, and the first
layer's weights are waited for; and the collectives of tensor and expert parallelism. Left out:
messages between stages, the latencies of single buckets, launches, failures, input, and clocks that
fall under load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from warpwise import devices
from warpwise.devices import Device, Interconnect
from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of, whole
from warpwise.model.collectives import cost
from warpwise.model.large_model import LargeModel
from warpwise.model.zero import STAGES, kept

#: of the peak, that matrix products reach within a training step: 206 of 312 TFLOP/s on an A100,
#: as a profile of llm.c has it (pull request 378). One number for all GPUs and shapes.
PRODUCTS = 206 / 312
RECOMPUTES = ("none", "selective", "full")
OPTIMIZER_BYTES = 28  #: that Adam moves for a parameter: read and written, as in llm.c
GB = 1e9


@dataclass(frozen=True)
class Cluster:
    """``gpus`` of a device: NVLink within ``domain``, a network card for each GPU beyond."""

    device: Device
    gpus: int
    memory_bytes: float
    inside: Interconnect
    network: Interconnect
    domain: int = devices.NVLINK_DOMAIN


def cluster(device: Device | str, gpus: int, gb: float, network_gb_per_s: float = 50) -> Cluster:
    """Return nodes of eight. ``network_gb_per_s``: one way of a GPU's card; 50 is 400 Gbit/s.

    Raises LaunchError for numbers that cannot be, and a device of which no NVLink is known."""
    inside, device = devices.nvlink_of(device), devices.known(device)
    if not (gb > 0 and network_gb_per_s > 0):
        raise LaunchError(
            f"memory and network are above 0 GB and GB/s, not {gb:g} and {network_gb_per_s:g}"
        )
    ndr = devices.INFINIBAND_NDR
    network = Interconnect("network", network_gb_per_s, ndr.latency_us, ndr.source)
    return Cluster(device, whole("gpus", gpus, 1), gb * GB, inside, network)


@dataclass(frozen=True)
class Mesh:
    """How a model is divided. ``dp`` x ``tp`` x ``pp`` x ``cp`` GPUs; ``ep`` is a part of ``dp``.

    ``sequence``: tensor parallelism divides norms and residuals too. ``chunks``: of a stage."""

    dp: int = 1
    tp: int = 1
    pp: int = 1
    ep: int = 1
    cp: int = 1
    zero: int = 1
    recompute: str = "selective"
    chunks: int = 1
    micro: int = 1  #: sequences of a micro-batch
    sequence: bool = True

    @property
    def gpus(self) -> int:
        return self.dp * self.tp * self.pp * self.cp


@dataclass(frozen=True)
class Plan:
    """What a mesh costs: seconds of a step, by what they go to, and bytes of a GPU."""

    mesh: Mesh
    seconds: float
    parts: dict[str, float]
    states: float
    activations: float
    mfu: float
    fits: bool

    @property
    def bytes(self) -> float:
        return self.states + self.activations


def plan(model: LargeModel, on: Cluster, mesh: Mesh, sequences: int) -> Plan:
    """Return the plan of a step of ``sequences``. Raises LaunchError for a mesh that cannot be."""
    _check(model, on, mesh, sequences)
    m = sequences // (mesh.dp * mesh.micro)
    layer, head = _layer_seconds(model, on, mesh), _head_seconds(model, on, mesh)
    even = -(-model.layers // mesh.pp)
    spare = even * mesh.pp - model.layers > 0
    usual = even * sum(layer.values())
    slowest = max(usual if mesh.pp > 1 else 0.0, (even - spare) * sum(layer.values()) + head)
    parts = {name: m * even * seconds for name, seconds in layer.items()}
    parts["vocabulary"] = m * max(0.0, slowest - usual) if mesh.pp > 1 else m * head
    parts["bubble"] = (mesh.pp - 1) / mesh.chunks * usual
    parts["data parallel"] = _data_parallel_seconds(model, on, mesh, slowest, m)
    owned = _parameters(model, mesh) / (mesh.dp * mesh.cp if mesh.zero else 1)
    parts["optimizer"] = owned * OPTIMIZER_BYTES / on.device.dram_bytes_per_s
    seconds = sum(parts.values())
    states = _states(model, mesh)
    activations = _activations(model, mesh, m)
    flops = model.flops_per_token * sequences * model.tokens
    mfu = flops / seconds / on.gpus / on.device.tensor16_flops_per_s
    fits = states + activations <= on.memory_bytes
    return Plan(mesh, seconds, parts, states, activations, mfu, fits)


def search(model: LargeModel, on: Cluster, sequences: int, chunks: int = 2) -> list[Plan]:
    """Return the plans of all meshes that the search tries, the fastest that fits first.

    Raises LaunchError for numbers below 1."""
    plans = [plan(model, on, mesh, sequences) for mesh in meshes(model, on, sequences, chunks)]
    return sorted(plans, key=lambda one: (not one.fits, one.seconds))


def meshes(model: LargeModel, on: Cluster, sequences: int, chunks: int = 2) -> Iterator[Mesh]:
    """Yield meshes of powers of two: tensor parallelism up to two nodes, all ZeRO without a
    pipeline, and up to stage 1 with one, whose stages are cut into ``chunks`` where that goes.

    Raises LaunchError for numbers below 1."""
    whole("sequences", sequences, 1)
    whole("chunks", chunks, 1)
    powers = [2**k for k in range(17)]
    for tp, pp, cp, ep in product(powers[:5], powers[:7], powers[:5], powers[:8]):
        ranks = tp * pp * cp
        if ranks > on.gpus or on.gpus % ranks:
            continue
        for zero, recompute in product((0, 1, 2, 3) if pp == 1 else (0, 1), ("selective", "full")):
            mesh = Mesh(on.gpus // ranks, tp, pp, ep, cp, zero, recompute)
            if pp > 1 and not _uncut(model, sliced := replace(mesh, chunks=chunks), sequences):
                mesh = sliced
            if not _trouble(model, on, mesh, sequences):
                yield mesh


def _check(model: LargeModel, on: Cluster, mesh: Mesh, sequences: int) -> None:
    whole("sequences", sequences, 1)
    for name in ("dp", "tp", "pp", "ep", "cp", "chunks", "micro"):
        whole(name, getattr(mesh, name), 1)
    one_of("zero", mesh.zero, STAGES)
    trouble = _trouble(model, on, mesh, sequences)
    if trouble:
        raise LaunchError(trouble)


def _trouble(model: LargeModel, on: Cluster, mesh: Mesh, sequences: int) -> str:
    """Say why a mesh cannot be; empty if it can."""
    if mesh.gpus != on.gpus:
        return f"the mesh has {mesh.gpus:,} GPUs, and the cluster {on.gpus:,}"
    if sequences % (mesh.dp * mesh.micro):
        return f"{sequences:,} sequences are no equal parts for {mesh.dp:,} replicas"
    if model.heads % mesh.tp:
        return f"{model.heads} heads are no equal parts for {mesh.tp} GPUs"
    if mesh.pp > model.layers:
        return f"{mesh.pp} stages are more than {model.layers} layers"
    if model.experts % mesh.ep or (mesh.dp * mesh.cp) % mesh.ep:
        return f"{model.experts} experts on {mesh.dp * mesh.cp} replicas are no {mesh.ep} parts"
    if mesh.recompute not in RECOMPUTES:
        return f"recompute is {mesh.recompute!r}; it can be {', '.join(RECOMPUTES)}"
    return _uncut(model, mesh, sequences)


def _uncut(model: LargeModel, mesh: Mesh, sequences: int) -> str:
    """Say why stages cannot be interleaved as a mesh has it; empty if they can."""
    layers, m = -(-model.layers // mesh.pp), sequences // (mesh.dp * mesh.micro)
    if layers % mesh.chunks:
        return f"{layers} layers of a stage are no {mesh.chunks} equal slices"
    if mesh.chunks > 1 and m % mesh.pp:
        return f"{m} micro-batches are no whole rounds of {mesh.pp} stages"
    return ""


def _tokens(model: LargeModel, mesh: Mesh) -> float:
    """Return the tokens of a micro-batch that a GPU works on."""
    return mesh.micro * model.tokens / mesh.cp


def _link(on: Cluster, p: int, reach: int, alone: bool) -> Interconnect:
    """Return the slowest link of ``p`` ranks that lie evenly among ``reach`` neighbours.

    Of a node's ranks all send out of it at once, each by its own card, or one ``alone``."""
    if reach <= on.domain:
        return on.inside
    alike = 1 if alone else max(1, on.domain * p // reach)
    rate = min(on.inside.gb_per_s, alike * on.network.gb_per_s)
    return replace(on.network, gb_per_s=rate)


def _ring(on: Cluster, way: str, p: int, reach: int, nbytes: float, alone: bool = False) -> float:
    link = _link(on, p, reach, alone)
    return cost(way, p, nbytes).seconds(1e-6 * link.latency_us, link.bytes_per_s)


def _layer_seconds(model: LargeModel, on: Cluster, mesh: Mesh) -> dict[str, float]:
    """Return the time of a micro-batch in one layer, forward and backward, by what it goes to."""
    n, t = _tokens(model, mesh), mesh.tp
    rate = PRODUCTS * on.device.tensor16_flops_per_s
    again = mesh.recompute == "full"
    products = n * (3 + again) * model.product_flops / t / rate
    redone = again or (mesh.recompute == "selective" and not model.flash)
    scores = n * (3 + redone) * model.score_flops / t / rate
    outer = model.outer_bytes / (t if mesh.sequence else 1)
    moved = (3 + again) * (outer + model.inner_bytes / t) + (3 + redone) * model.score_bytes / t
    reduces = 2 * (2 + again)  # of attention and MLP: forward, backward, and forward again
    tensor = reduces * _ring(on, "ring all-reduce", t, t, 2 * n * model.width)
    exchanges = 2 * (2 + again)  # to the experts and back
    there = 2 * n * model.width * model.active / t
    experts = exchanges * _ring(on, "all-to-all", mesh.ep, t * mesh.ep, there, alone=True)
    return {
        "products": products + scores,
        "memory": n * moved / on.device.dram_bytes_per_s,
        "tensor parallel": tensor,
        "expert parallel": experts,
        "context parallel": _exposed_keys(model, on, mesh, scores),
    }


def _exposed_keys(model: LargeModel, on: Cluster, mesh: Mesh, scores: float) -> float:
    """Return what attention does not hide of keys and values that go around, thrice in all."""
    if mesh.cp == 1:
        return 0.0
    keys = 4 * _tokens(model, mesh) * model.kv_width / mesh.tp * mesh.cp
    around = 3 * _ring(on, "all-gather", mesh.cp, mesh.tp * mesh.cp, keys, alone=True)
    return max(0.0, around - scores)


def _head_seconds(model: LargeModel, on: Cluster, mesh: Mesh) -> float:
    rate = PRODUCTS * on.device.tensor16_flops_per_s
    return 3 * _tokens(model, mesh) * model.head_flops / mesh.tp / rate


def _parameters(model: LargeModel, mesh: Mesh) -> float:
    """Return the parameters of a GPU that holds most, before ZeRO."""
    even = -(-model.layers // mesh.pp)
    layer = model.attention_parameters + model.experts * model.mlp_parameters / mesh.ep
    ends = model.embedding_parameters / (1 if mesh.pp == 1 or model.tied else 2)
    return (even * layer + ends) / mesh.tp


def _states(model: LargeModel, mesh: Mesh) -> float:
    """Return bytes of weights, gradients and the optimizer; an expert's replicas are dp / ep."""
    even = -(-model.layers // mesh.pp)
    replicas = mesh.dp * mesh.cp
    experts = even * model.experts * model.mlp_parameters / mesh.ep / mesh.tp
    if model.experts == 1:
        experts = 0.0
    dense = _parameters(model, mesh) - experts
    alike = max(1, replicas // mesh.ep)
    return kept(dense, replicas, mesh.zero).total + kept(experts, alike, mesh.zero).total


def _activations(model: LargeModel, mesh: Mesh, m: int) -> float:
    """Return bytes kept for backward passes: those of the first stage, or the last one's logits."""
    n, t = _tokens(model, mesh), mesh.tp
    outer = model.outer_kept / (t if mesh.sequence else 1)
    whole = outer + model.inner_kept / t
    if mesh.recompute == "none":
        whole += model.scores_kept / t
    layers = -(-model.layers // mesh.pp)
    ahead = min(m, mesh.pp * (1 + (mesh.pp - 1) / mesh.pp / mesh.chunks) if mesh.chunks > 1
                else mesh.pp)  # fmt: skip
    logits = 4 * n * model.vocabulary / t
    if mesh.recompute == "full":
        entry = 2 * model.width / (t if mesh.sequence else 1)
        return n * (ahead * layers * entry + whole + model.scores_kept / t) + logits
    return n * ahead * layers * whole + (logits if mesh.pp == 1 else 0.0)


def _data_parallel_seconds(
    model: LargeModel, on: Cluster, mesh: Mesh, stage: float, m: int
) -> float:
    """Return what passes do not hide of gradients that are summed and weights that are gathered.

    ``stage``: seconds of a micro-batch there, a third of them forward. A layer's share never hides:
    its sum comes after the last pass, its weights come before the first."""
    replicas = mesh.dp * mesh.cp
    nbytes = 2 * _parameters(model, mesh)
    half = _ring(on, "reduce-scatter", replicas, mesh.tp * replicas, nbytes)
    share = half / -(-model.layers // mesh.pp)
    forward, backward = stage / 3, 2 / 3 * stage
    if mesh.zero == 3:
        return max(2 * share, m * (3 * half - stage))
    if mesh.zero == 0:
        return max(2 * share, 2 * half - backward)
    sums = m if mesh.zero == 2 else 1
    return max(share, sums * (half - backward)) + max(share, half - forward)
