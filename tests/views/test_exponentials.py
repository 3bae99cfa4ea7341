"""The exponentials widget without a browser, against the model; and refusals."""

from __future__ import annotations

import pytest

from warpwise.devices import DEVICES
from warpwise.errors import LaunchError
from warpwise.model.exponentials import units
from warpwise.views import exponentials, view

SCORES = exponentials.SIDE**2


def numbers(opened: view.View, **values) -> list[int]:
    """Return the clocks in turn, together, and with the best share on the lanes."""
    rows = view.shown("exponentials", opened.data, {**opened.values, **values})["rows"]
    clocks = rows[0][1], rows[1][1], rows[3][2].removesuffix(" clocks")
    return [int(one.replace(",", "")) for one in clocks]


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_its_rule_is_the_model_s(device):
    opened = exponentials.explorer(device)
    for d, bits, percent in ((64, 16, 0), (128, 8, 25), (256, 16, 50)):
        found = units(device, d, bits, percent / 100)
        best = min(
            units(device, d, bits, share / 100).overlapped for share in range(exponentials.MOST + 1)
        )
        said = numbers(opened, d=str(d), bits=str(bits), polynomial=percent)
        clocks = [SCORES * one for one in (found.one_after_another, found.overlapped, best)]
        assert said == pytest.approx(clocks, abs=0.51)


def test_the_sentence_has_the_numbers_of_its_bars():
    said = str(exponentials.explorer("B200"))
    assert said.partition(" scores ")[2] == (
        "on B200, d = 128, 16 bits: products 1,092 clocks, "
        "powers of 2 1,024, lanes 448. One after another 2,564; at the same time 1,092, "
        "with the tensor cores busy for at most 100 %."
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"device": "B300"}, "B300"),
        ({"d": 96}, "d is 96; it can be 64, 128, 256"),
        ({"bits": 4}, "bits is 4; it can be 16, 8"),
        ({"polynomial": 51}, "polynomial is 51; it can be 0 to 50"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        exponentials.explorer(**wrong)
    assert message in str(caught.value)
