"""Which labs somebody means, and what is said of names that mean none or several."""

from __future__ import annotations

import pytest

from warpwise.errors import LabError
from warpwise.labs.chosen import chosen

STEMS = (
    "01_why_gpus",
    "08_coalescing",
    "09_tiling",
    "10_matmul_mystery",
    "12_flash_a",
    "13_flash_b",
)


NAMES = "08_coalescing 8 08 lab8 lab_8 08_co coalescing coal labs/08_coalescing.ipynb"


@pytest.mark.parametrize("name", [*NAMES.split(), "solutions/08_coalescing.md", "Lab 8", " 8 "])
def test_a_lab_is_known_by_many_names(name):
    assert chosen(STEMS, [name]) == ("08_coalescing",)


def test_labs_come_in_order_and_once_and_all_of_them_where_none_is_named():
    assert chosen(STEMS, ["9", "1", "tiling"]) == ("01_why_gpus", "09_tiling")
    assert chosen(STEMS, []) == STEMS


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("08_coalesing", "there is no lab '08_coalesing'; did you mean 08_coalescing?"),
        ("tilling", "did you mean 09_tiling?"),
        ("flash", "'flash' may be 12_flash_a or 13_flash_b; write more of it"),
        ("1_", "there is no lab '1_'"),
        ("11", "there is no lab '11'; there are 01_why_gpus, 08_coalescing"),
        ("", "there is no lab ''"),
    ],
)
def test_a_name_that_fits_none_or_several_is_one_line(name, said):
    with pytest.raises(LabError) as told:
        chosen(STEMS, ["8", name])
    assert said in str(told.value) and "\n" not in str(told.value)
