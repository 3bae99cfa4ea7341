"""The roofline widget's Python side: its refusals, its data, and its first sentence."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from support.view_kernels import scale

from warpwise import cuda, model, trace
from warpwise.devices import DEVICES, H100, H200, Device
from warpwise.errors import LaunchError
from warpwise.views import html, roofline


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    y[i] = x[i]


@cuda.jit
def spin(x):
    total = np.float32(1)
    for _ in range(4):
        total = total * total


@cuda.jit
def powers(x, trips):
    total = x[0]
    for _ in range(trips):
        half = np.float32(0.5)
        total = total * half * half * half * half
    x[0] = total


def scaled():
    return trace(scale, 1, 128, np.zeros(128, np.float32), np.zeros(128, np.float32), np.float32(2))


def test_sentence_says_what_the_model_says():
    found = model.roofline(scaled(), H200)
    (flops_per_byte, same), (rate, _) = found.flops_per_byte, found.attainable_flops_per_s
    assert flops_per_byte == same == 0.125
    assert str(roofline.of_trace(scaled(), "h200")) == (
        "scale at 0.125 FLOP per byte of DRAM, in float32: "
        f"H200 SXM can do at most {rate / 1e9:.0f} GFLOP/s, "
        f"{100 * rate / found.peak_flops_per_s:.3g} % of its peak of 67 TFLOP/s. "
        "The limit is memory, for the knee is at 14 FLOP per byte."
    )


def test_peaks_that_are_sent_are_the_models():
    (kernel,) = roofline.of_trace(scaled()).data["kernels"]
    assert kernel["peaks"] == {
        device.name: model.roofline(scaled(), device).peak_flops_per_s for device in DEVICES
    }
    assert kernel["flops_per_byte"] == scaled().metrics.flops_per_byte


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"precision": "fp8"}, "precision is 'fp8'; it can be float32, tensor16, float64"),
        ({"flops_per_byte": 0}, "flops_per_byte is 0; it can be 0.00390625 to 4,096"),
        ({"flops_per_byte": 5000}, "flops_per_byte is 5000; it can be 0.00390625 to 4,096"),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments: dict, message: str):
    with pytest.raises(ValueError) as caught:
        roofline.explorer(**arguments)
    assert str(caught.value) == message


def test_a_device_that_is_not_in_the_table_is_refused():
    with pytest.raises(LaunchError, match="no device is called 'mine'"):
        roofline.explorer(Device("mine", (9, 0), 10, 10, 10, 10, 1))
    with pytest.raises(LaunchError, match="H100 PCIe, H100 SXM: say which"):
        roofline.of_trace(scaled(), "H1")


def test_a_trace_without_an_intensity_is_refused_with_its_reason():
    x = np.zeros(32, np.float32)
    with pytest.raises(
        ValueError,
        match=r"^moves does no floating-point operation: it has no place under a roofline$",
    ):
        roofline.explorer(traces={"moves": trace(copy, 1, 32, x, x.copy())})
    with pytest.raises(
        ValueError, match=r"^spin moves no byte of global memory: it has no place under a roofline$"
    ):
        roofline.of_trace(trace(spin, 1, 32, x))


@pytest.mark.slow
def test_the_picture_grows_for_a_trace_that_lies_farther_out():
    far = trace(powers, 1, 1, np.zeros(8, np.float32), 75_000)
    _, most = far.metrics.flops_per_byte
    view = roofline.of_trace(far)
    assert most > 2 ** roofline.OCTAVES[1]
    assert 2 ** (view.data["octaves"][1] - 1) < most <= 2 ** view.data["octaves"][1]
    assert view.data["octaves"][0] == roofline.OCTAVES[0]


def test_names_cannot_end_the_page():
    page = roofline.explorer(H100, {"</script><b>": scaled()})._repr_html_()
    assert "</script><b>" not in page and "<b>" not in page.split("<script")[0]


def test_data_keeps_to_a_tenth_of_its_budget():
    view = roofline.explorer(traces={f"kernel {k}": scaled() for k in range(12)})
    assert len(gzip.compress(json.dumps(view.payload).encode())) <= html.DATA_BUDGET / 10
