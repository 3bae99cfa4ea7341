"""The heads widget without a browser, against the model; and refusals."""

from __future__ import annotations

import pytest

from warpwise.errors import LaunchError
from warpwise.model.heads import decoding
from warpwise.views import heads, view


@pytest.mark.parametrize("group", heads.KINDS)
@pytest.mark.parametrize("packed", [False, True])
def test_its_rule_is_the_model_s(group, packed):
    opened = heads.explorer()
    for count in heads.HEADS:
        kv_heads = count // min(int(group), count) if group.isdigit() else 1
        for queries in (1, 5):
            found = decoding(count, kv_heads, queries, packed, group == "mla")
            values = {"heads": str(count), "group": group, "packed": packed, "queries": queries}
            rows = view.shown("heads", opened.data, {**opened.values, **values})["rows"]
            assert rows[0][1] == str(found.reads)
            assert rows[1][2].startswith(f"{found.rows} of ")
            assert float(rows[1][1].removesuffix(" %")) == pytest.approx(
                100 * found.filled, abs=0.06
            )
            assert rows[2][1] == pytest.approx(found.flop_per_byte, abs=0.06)


def test_a_packed_group_reads_once():
    assert "read keys and values 32 times; 4 times would do" in str(heads.explorer())
    assert "read keys and values 4 times, the least" in str(heads.explorer(packed=True))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"heads": 12}, "heads is 12; it can be 8, 16, 32, 64, 128"),
        ({"heads": 8, "group": "16"}, "a group has 16 heads, and there are 8"),
        ({"group": "3"}, "group is '3'; it can be 1, 2, 4, 8, 16, all, mla"),
        ({"queries": 9}, "queries is 9; it can be 1 to 8"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        heads.explorer(**wrong)
    assert str(caught.value) == message
