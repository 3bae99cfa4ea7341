"""The planner widget: meshes of a model on a cluster, by memory and MFU, the best marked.

Times and bytes are those of ``warpwise.model.planner``, which ``planner.js`` follows for every
place of the controls; a test holds the two together. What belongs to a model alone is worked out
here, and given to the script as numbers."""

from __future__ import annotations

from dataclasses import replace

from warpwise import devices
from warpwise.devices import A100, B200, H100, Device
from warpwise.model import planner
from warpwise.model.arguments import one_of, whole
from warpwise.model.large_model import LLAMA_70B, LLAMA_405B, LargeModel
from warpwise.model.published import GPT_175B
from warpwise.views.controls import Choice, Hidden, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import Json, View

LLAMA_8B = LargeModel("Llama 3 8B", 32, 4096, 32, 8, 14_336, 128_256, 8192, gated=True)
EXPERTS = LargeModel(
    "8 x 22B, two experts", 56, 6144, 48, 8, 16_384, 32_768, 8192, gated=True, experts=8, active=2
)
LONG = replace(LLAMA_70B, name="Llama 3 70B, 131,072 tokens", tokens=131_072)
MODELS = {one.name: one for one in (LLAMA_8B, LLAMA_70B, LONG, EXPERTS, GPT_175B, LLAMA_405B)}
MEMORY = {A100: 80, H100: 80, B200: 180}  #: GB
NETWORKS = {"12.5": "100 Gbit/s", "25": "200 Gbit/s", "50": "400 Gbit/s", "100": "800 Gbit/s"}
LEAST, MOST = 4, 14  #: powers of 2, of GPUs; of 8 or fewer none needs the network
MOST_BATCH = 12  #: of sequences
CHUNKS = 2
ASKS = Frame(
    "Hundreds of meshes at once.",
    "Which mesh is best on twice as many GPUs, and which if the network is four times slower?",
    ("model", "gpus", "network"),
)
NUMBERS = (
    "layers heads experts active flash width kv_width tokens vocabulary tied attention_parameters "
    "mlp_parameters embedding_parameters product_flops score_flops head_flops flops_per_token "
    "score_bytes inner_bytes outer_bytes outer_kept inner_kept scores_kept"
).split()


def explorer(
    model: str = "Llama 3 70B",
    device: Device | str = H100,
    gpus: int = 512,
    network: str = "50",
    sequences: int = 512,
) -> View:
    """Show the meshes of a model on ``gpus``, a power of 2 from 16 to 16,384, for one step.

    ``model``: a name of ``MODELS``. ``device``: A100, H100 SXM or B200. ``network``: GB/s of a
    GPU's card, one way, a key of ``NETWORKS``. ``sequences``: a power of 2 to 4,096. Raises
    LaunchError for anything else."""
    names = {one.name: one.name for one in MEMORY}
    powers = [2**k for k in range(MOST + 1)]
    controls = (
        Choice("model", "model", {one: one for one in MODELS}, one_of("model", model, MODELS)),
        Slider("gpus", "GPUs", LEAST, MOST,
               powers.index(one_of("gpus", gpus, powers[LEAST:]))),
        Choice("network", "network of a GPU", NETWORKS, one_of("network", network, NETWORKS)),
        Choice("device", "device", names, one_of("device", devices.known(device).name, names)),
        Slider("batch", "sequences of a step", 0, MOST_BATCH,
               powers.index(one_of("sequences", sequences, powers[: MOST_BATCH + 1]))),
        Hidden("mesh", ""),
    )  # fmt: skip
    data = {
        "models": {name: _numbers(one) for name, one in MODELS.items()},
        "devices": {one.name: _rates(one) for one in MEMORY},
        "latency": 1e-6 * devices.INFINIBAND_NDR.latency_us,
        "products": planner.PRODUCTS,
        "optimizer": planner.OPTIMIZER_BYTES,
        "chunks": whole("chunks", CHUNKS, 1),
        "domain": devices.NVLINK_DOMAIN,
    }
    return View("planner", data, controls, frame=ASKS)


def _numbers(model: LargeModel) -> Json:
    return {name: getattr(model, name) for name in NUMBERS}


def _rates(device: Device) -> Json:
    inside = devices.NVLINK[device.name]
    return {
        "flops": device.tensor16_flops_per_s,
        "dram": device.dram_bytes_per_s,
        "memory": MEMORY[device] * planner.GB,
        "rate": inside.bytes_per_s,
        "latency": 1e-6 * inside.latency_us,
    }
