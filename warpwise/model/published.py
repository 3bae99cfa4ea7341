"""Published training runs, for the planner to be held against: shapes, meshes and what was printed.

Megatron's: Narayanan et al. 2021 (arXiv 2104.04473, table 1, which counts recomputed FLOP) and
Korthikanti et al. 2022 (arXiv 2205.05198, tables 3 and 5, and the abstract's run with data
parallelism). The first of them interleaves its pipelines (section 5.1) and does not say in how many
parts a stage is cut, so the planner takes the fewest that are equal; its optimizer was not sharded.

Llama 3's: Grattafiori et al. 2024 (arXiv 2407.21783, table 4). It shards optimizer and
gradients, and gathers weights once, which is stage 2 of ZeRO; its gradients are summed in
float32, where the planner keeps and sends 16 bits. In how many chunks a stage was interleaved
it does not say, so the planner takes two, as in the paper's figure of its schedule; nor whether
masked scores count as FLOP, and here they do not (``Run.all_scores`` counts them).
Micro-batches that are not published are of one sequence.

Rows were typed in without the papers at hand. ``Run.agrees`` holds what a row prints twice against
itself; runs of 2022 with everything recomputed print seconds alone, which nothing here checks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warpwise.devices import A100, H100
from warpwise.model.large_model import LLAMA_405B, LargeModel, gpt
from warpwise.model.planner import Cluster, Mesh, Plan, cluster, plan


@dataclass(frozen=True)
class Run:
    """A row of a table. ``seconds`` of a step where it is printed; else ``tflops`` of a GPU.

    ``hardware``: the FLOP of a forward pass that is done again are counted in ``tflops``."""

    name: str
    source: str
    model: LargeModel
    on: Cluster
    mesh: Mesh
    sequences: int
    seconds: float = 0.0
    tflops: float = 0.0
    mfu: float = 0.0  #: as printed, in percent
    hardware: bool = False
    all_scores: bool = False  #: of causal attention, masked ones are counted too

    @property
    def counted_flops(self) -> float:
        """FLOP of a step as the table counts them."""
        token = self.model.flops_per_token
        if self.hardware:
            layers = self.model.product_flops + self.model.score_flops
            token += self.model.layers * layers
        if self.all_scores and self.model.flash:
            token += 3 * self.model.layers * self.model.score_flops
        return token * self.sequences * self.model.tokens

    @property
    def published_seconds(self) -> float:
        return self.seconds or self.counted_flops / (self.tflops * 1e12 * self.on.gpus)

    @property
    def counted_mfu(self) -> float:
        """Counted FLOP in a published second over the peak, in percent."""
        peak = self.on.gpus * self.on.device.tensor16_flops_per_s
        return 100 * self.counted_flops / self.published_seconds / peak

    @property
    def agrees(self) -> bool | None:
        """Whether its time and its printed percentage are one, to a unit; None if it has one."""
        return abs(self.counted_mfu - self.mfu) < 1 if self.mfu else None

    @property
    def planned(self) -> Plan:
        return plan(self.model, self.on, self.mesh, self.sequences)

    @property
    def error(self) -> float:
        """The planner's seconds beside the published: 0.1 for a tenth too many."""
        return self.planned.seconds / self.published_seconds - 1


def _selene(gpus: int) -> Cluster:
    return cluster(A100, gpus, 80, network_gb_per_s=25)  # 8 HDR cards of 200 Gbit/s a node


GPT_22B = gpt("GPT 22B", 48, 6144, 64)
GPT_175B = gpt("GPT 175B", 96, 12_288, 96)
GPT_530B = gpt("GPT 530B", 105, 20_480, 128)
GPT_1T = gpt("GPT 1T", 128, 25_600, 160)
K, N, G = "korthikanti2022", "narayanan2021", "grattafiori2024"


def _korthikanti() -> list[Run]:
    rows = (
        (GPT_22B, 8, Mesh(1, 8, 1, micro=4), 4, 1.10, 41.5, 1.42),
        (GPT_175B, 64, Mesh(1, 8, 8, chunks=3), 64, 13.75, 51.4, 18.13),
        (GPT_530B, 280, Mesh(1, 8, 35, chunks=3), 280, 37.83, 56.0, 49.05),
        (GPT_1T, 512, Mesh(1, 8, 64), 512, 71.49, 56.3, 94.42),
    )
    runs = []
    for model, gpus, mesh, batch, seconds, mfu, before in rows:
        on, again = _selene(gpus), replace(mesh, recompute="full", sequence=False)
        runs.append(Run(model.name, K, model, on, mesh, batch, seconds, mfu=mfu))
        name = f"{model.name}, recomputed"
        runs.append(Run(name, K, model, on, again, batch, before))
    many = Mesh(8, 8, 35, chunks=3)
    data = "GPT 530B, 8 replicas"
    runs.append(Run(data, K, GPT_530B, _selene(2240), many, 2240, 39.15, mfu=54.2))
    return runs


def _llama() -> list[Run]:
    mesh = Mesh(64, 8, 16, zero=2, chunks=2)
    long = replace(LLAMA_405B, tokens=131_072)
    return [
        Run("Llama 405B", G, LLAMA_405B, cluster(H100, 8192, 80), mesh, 2048, tflops=430, mfu=43),
        Run("Llama 405B", G, LLAMA_405B, cluster(H100, 16_384, 80), replace(mesh, dp=128),
            2048, tflops=400, mfu=41),
        Run("Llama 405B, long", G, long, cluster(H100, 16_384, 80),
            replace(mesh, dp=8, cp=16), 128, tflops=380, mfu=38),
    ]  # fmt: skip


def _narayanan() -> list[Run]:
    rows = (  # heads, width, layers; tensor, pipeline, GPUs; sequences; TFLOP/s of a GPU, percent
        ("GPT 1.7B", 24, 2304, 24, 1, 1, 32, 512, 137, 44),
        ("GPT 3.6B", 32, 3072, 30, 2, 1, 64, 512, 138, 44),
        ("GPT 7.5B", 32, 4096, 36, 4, 1, 128, 512, 142, 46),
        ("GPT 18B", 48, 6144, 40, 8, 1, 256, 1024, 135, 43),
        ("GPT 39B", 64, 8192, 48, 8, 2, 512, 1536, 138, 44),
        ("GPT 76B", 80, 10_240, 60, 8, 4, 1024, 1792, 140, 45),
        ("GPT 146B", 96, 12_288, 80, 8, 8, 1536, 2304, 148, 47),
        ("GPT 310B", 128, 16_384, 96, 8, 16, 1920, 2160, 155, 50),
        ("GPT 530B, 9 replicas", 128, 20_480, 105, 8, 35, 2520, 2520, 163, 52),
        ("GPT 1T, 6 replicas", 160, 25_600, 128, 8, 64, 3072, 3072, 163, 52),
    )
    runs = []
    for name, heads, width, layers, tp, pp, gpus, batch, tflops, percent in rows:
        model, deep = gpt(name.split(",")[0], layers, width, heads), layers // pp
        chunks = next(k for k in range(2, deep + 1) if deep % k == 0) if pp > 1 else 1
        mesh = Mesh(
            gpus // tp // pp, tp, pp, zero=0, recompute="full", chunks=chunks, sequence=False
        )
        runs.append(Run(name, N, model, _selene(gpus), mesh, batch, tflops=tflops, mfu=percent,
                        hardware=True))  # fmt: skip
    return runs


RUNS = (*_korthikanti(), *_narayanan(), *_llama())
