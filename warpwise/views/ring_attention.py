"""The ring widget: keys and values go around while each GPU works, step by step.

The rule is that of ``warpwise.model.ring_attention``, which ``ring_attention.js`` follows for every
place of the controls; a test holds the two together. Links are NVIDIA's figures for one direction:
NVLink of the GPU's datasheet, and InfiniBand NDR at 400 Gbit/s a GPU."""

from __future__ import annotations

from math import log2

from warpwise import devices
from warpwise.devices import A100, B200, H100, Device
from warpwise.model.arguments import one_of, whole
from warpwise.model.ring_attention import MASKS, hidden_from
from warpwise.views.controls import Choice, Player, Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import View

INFINIBAND = devices.INFINIBAND_NDR.bytes_per_s
NVLINK = {one.name: devices.NVLINK[one.name].bytes_per_s for one in (A100, H100, B200)}
LINKS = {"nvlink": "NVLink", "infiniband": "InfiniBand, 400 Gbit/s"}
NAMES = dict(zip(MASKS, ("none", "causal, one piece each", "causal, two pieces each"), strict=True))
MOST_GPUS = 8
LEAST, MOST = 8, 17  #: a GPU has 2 ** LEAST to 2 ** MOST tokens
ASKS = Frame(
    "A ring of GPUs.",
    "From how many tokens a GPU do the products hide the transfers?",
    ("tokens", "link", "mask"),
)


def explorer(
    device: Device | str = H100,
    gpus: int = 4,
    tokens: int = 4096,
    link: str = "infiniband",
    mask: str = "none",
    step: int = 1,
) -> View:
    """Show one pass around a ring of ``gpus``, 2 to 8, with ``tokens`` of the sequence each.

    ``device``: A100, H100 SXM or B200. ``tokens``: a power of 2, 256 to 131,072. ``link``: "nvlink"
    or "infiniband". ``mask``: "none", "causal" or "zigzag". Raises LaunchError for anything
    else."""
    name = one_of("device", devices.known(device).name, NVLINK)
    one_of("tokens", tokens, [2**k for k in range(LEAST, MOST + 1)])
    gpus = whole("gpus", gpus, 2, MOST_GPUS)
    controls = (
        device_choice(NVLINK, name),
        Choice("link", "link", LINKS, one_of("link", link, LINKS)),
        Slider("gpus", "GPUs", 2, MOST_GPUS, gpus),
        Slider("tokens", "tokens a GPU", LEAST, MOST, round(log2(tokens))),
        Choice("mask", "mask", NAMES, one_of("mask", mask, MASKS)),
        Player("step", "step", 1, gpus, whole("step", step, 1, gpus)),
    )
    return View(
        "ring_attention", {"from": {one: _from(one) for one in NVLINK}}, controls, frame=ASKS
    )


def _from(name: str) -> dict[str, float]:
    """Map links to the tokens from which they are hidden."""
    flops = devices.known(name).tensor16_flops_per_s
    return {
        "nvlink": hidden_from(flops, NVLINK[name]),
        "infiniband": hidden_from(flops, INFINIBAND),
    }
