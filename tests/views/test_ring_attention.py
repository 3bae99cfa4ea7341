"""The ring widget without a browser, against the model; and refusals."""

from __future__ import annotations

import pytest

from warpwise import devices
from warpwise.errors import LaunchError
from warpwise.model.ring_attention import MASKS
from warpwise.model.ring_attention import ring as model
from warpwise.views import ring_attention, view


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("link", ring_attention.LINKS)
@pytest.mark.parametrize("device", ring_attention.NVLINK)
def test_its_rule_is_the_model_s(device, link, mask):
    opened = ring_attention.explorer(device, mask=mask, link=link)
    bandwidth = ring_attention.NVLINK[device] if link == "nvlink" else ring_attention.INFINIBAND
    least = ring_attention.hidden_from(devices.known(device).tensor16_flops_per_s, bandwidth)
    for gpus, tokens in ((2, 8), (4, 12), (8, 17)):
        values = {**opened.values, "gpus": gpus, "tokens": tokens}
        shown = view.shown("ring_attention", opened.data, values)
        found = model(gpus, 2**tokens, least, mask)
        assert shown["rows"][0][1] == f"{100 * found.busy + 1e-9:.1f}".removesuffix(".0") + " %"
        assert shown["limits"] == {"step": [1, gpus]}


def test_keys_come_from_one_gpu_further_back_with_each_step():
    for step in (1, 2, 3, 4):
        said = str(ring_attention.explorer(gpus=4, step=step))
        source = (1 - step) % 4
        assert f"In step {step} GPU 0 has the keys and values of GPU {source}." in said


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"device": "T4"}, "device is 'T4'; it can be A100 80 GB SXM, H100 SXM, B200"),
        ({"tokens": 1000}, "tokens is 1000; it can be 256, 512"),
        ({"gpus": 9}, "gpus is 9; it can be 2 to 8"),
        ({"link": "PCIe"}, "link is 'PCIe'; it can be nvlink, infiniband"),
        ({"mask": "window"}, "mask is 'window'; it can be none, causal, zigzag"),
        ({"gpus": 4, "step": 5}, "step is 5; it can be 1 to 4"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        ring_attention.explorer(**wrong)
    assert message in str(caught.value)
