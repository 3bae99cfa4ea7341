"""The mystery's Python side: its arguments, and its script without a browser."""

from __future__ import annotations

import pytest

from warpwise.devices import A100, H100, T4
from warpwise.errors import LaunchError
from warpwise.model import matmul
from warpwise.views import mystery, view


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"device": T4}, "the load/store units of T4 are not in the model"),
        ({"n": 63}, "n is 63; it can be 64 to 3,072"),
        ({"n": 3073}, "n is 3,073; it can be 64 to 3,072"),
        ({"n": 100.5}, "n is 100.5; it has to be a whole number"),
        ({"causes": ("luck",)}, "cause is 'luck'; it can be memory, tiles, waves, alignment"),
    ],
)
def test_what_the_model_has_not_is_refused(arguments, message):
    with pytest.raises(LaunchError) as caught:
        mystery.explorer(**arguments)
    assert message in str(caught.value)


def test_it_opens_where_its_arguments_say():
    opened = mystery.explorer(H100, 2048, causes=("waves",))
    assert opened.values == {
        "device": H100.name,
        "n": 2048,
        "memory": False,
        "tiles": False,
        "waves": True,
        "alignment": False,
    }


def test_its_sentence_before_any_script():
    assert str(mystery.explorer(A100, 1793)) == (
        "1,793 × 1,793 on A100 80 GB SXM: 81.0 TFLOP/s, 26 % of the peak (modelled). "  # noqa: RUF001
        "120 tiles for 108 SMs, 2 waves, loads of 2 bytes. "
        "What costs most: whole tiles. Without it the speed is 2.00 times as high. "
        "One size up: 142 TFLOP/s."
    )
    assert "Nothing holds it back" in str(mystery.explorer(causes=()))


@pytest.mark.slow
@pytest.mark.parametrize("device", matmul.KNOWN, ids=str)
def test_its_script_follows_the_model_at_every_kind_of_size(device):
    """All sixteen sets of causes, at sizes of all lines and on both sides of each cliff."""
    opened = mystery.explorer(device)
    for number in range(16):
        causes = tuple(cause for i, cause in enumerate(matmul.CAUSES) if number >> i & 1)
        for n in (64, 509, 770, 1792, 1793, 1796, 2048, 2559, 3001):
            values = {
                **opened.values,
                "n": n,
                **{cause: cause in causes for cause in matmul.CAUSES},
            }
            said = [matmul.product(size, device, causes).flops_per_s / 1e12 for size in (n, n + 1)]
            shown = view.shown(opened.name, opened.data, values)
            rates = [float(rate) for _, rate, _ in shown["rows"]]  # at n, and one size up
            assert rates == pytest.approx(said, rel=6e-3), (n, causes)
            cause, gain = matmul.limiter(n, device, causes)
            text = shown["text"]
            assert (
                (f"What costs most: {mystery.LABELS[cause]}" in text)
                if cause
                else ("Nothing holds it back" in text)
            )
            digits = ",.0f" if gain >= 100 else ".2f"
            assert (
                not cause
                or f"{gain:{digits}} times" in text
                or f"{gain + 1e-6:{digits}} times" in text
            )
