"""Units of an SM for a tile of attention, against the published ratios and counted instructions."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise.devices import A100, B200, H100
from warpwise.errors import LaunchError
from warpwise.model.exponentials import POLYNOMIAL_INSTRUCTIONS, units


@pytest.mark.parametrize(("device", "ratio"), [(A100, 0.25), (H100, 0.5), (B200, 1)])
def test_exponentials_over_products_are_as_published(device, ratio):
    """From 128, 256 and 512 products for each exponential; clocks of data sheets lie within 8 %."""
    found = units(device)
    assert found.exponentials / found.products == pytest.approx(ratio, rel=0.08)


@pytest.mark.parametrize("device", [A100, B200])
def test_narrow_heads_and_short_elements_double_the_share_of_exponentials(device):
    of = {d: units(device, d).products for d in (64, 128)}
    assert of[128] == 2 * of[64] == 2 * units(device, 128, bits=8).products


def test_a_share_goes_from_the_unit_to_the_lanes():
    without, quarter = units(B200), units(B200, polynomial=0.25)
    assert quarter.exponentials == 0.75 * without.exponentials
    assert quarter.lanes - without.lanes == pytest.approx(9 / 4 / 128)
    assert without.overlapped == without.products and quarter.overlapped == without.products
    assert units(B200, 64, polynomial=0.25).overlapped < units(B200, 64).overlapped
    assert without.one_after_another > without.products + without.exponentials


def test_the_polynomial_takes_as_many_instructions_as_the_model_says():
    """One line an instruction, in NumPy: off by less than 1e-4, which bfloat16 hides."""
    x = -np.linspace(0, 20, 100_001, dtype=np.float32)
    magic = np.float32(2**23 + 2**22)
    steps = [clamped := np.maximum(x, np.float32(-127))]
    steps += [held := np.floor(clamped) + magic]  # one addition, rounded down
    steps += [whole := held - magic]
    steps += [fraction := clamped - whole]
    steps += [sum := np.float32(0.07711909) * fraction + np.float32(0.22756439)]
    steps += [sum := sum * fraction + np.float32(0.69514614)]
    steps += [sum := sum * fraction + np.float32(1)]
    steps += [shifted := held.view(np.int32) << 23]
    steps += [result := sum.view(np.int32) + shifted]
    assert len(steps) == POLYNOMIAL_INSTRUCTIONS
    assert np.max(np.abs(result.view(np.float32) / np.exp2(x) - 1)) < 1e-4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"d": 0}, "d is 0; it can be 1 or more"),
        ({"bits": 4}, "bits is 4; it can be 16, 8"),
        ({"polynomial": 1.5}, "polynomial is 1.5; it is a share, 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        units(B200, **wrong)
    assert str(caught.value) == message
