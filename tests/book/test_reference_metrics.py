"""The page of metrics: units, formulas that agree with the code, and Nsight Compute's names."""

from __future__ import annotations

import random
import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from support.paths import ROOT

from warpwise.book import reference
from warpwise.metrics import (
    ABOUT,
    FIELDS,
    OPERATIONS,
    RATIOS,
    SECTOR_BYTES,
    WARP_SIZE,
    Metrics,
)
from warpwise.metrics.about import counter, derived

PAGE = "chapters/reference_metrics.html"


@pytest.fixture(scope="module")
def page(site) -> BeautifulSoup:
    return BeautifulSoup((site.folder / PAGE).read_text("utf-8"), "html.parser").select_one(
        "article"
    )


@pytest.fixture(scope="module")
def some() -> Metrics:
    """Metrics with a different number in each counter."""
    numbers = random.Random(4).sample(range(1, 100_000), len(FIELDS))
    return Metrics(
        **{name: n for name, n in zip(FIELDS, numbers, strict=True) if name != "lanes_active"}
    )


@pytest.mark.parametrize("name", RATIOS)
def test_formula_is_what_the_property_computes(some, name):
    names = {metric: getattr(some, metric) for metric in (*FIELDS, *RATIOS)}
    names |= {"WARP_SIZE": WARP_SIZE, "SECTOR_BYTES": SECTOR_BYTES, "max": max, "sum": sum}
    names["op"] = {operation: getattr(some, f"op_{operation}") for operation in OPERATIONS}
    assert eval(ABOUT[name].formula, names) == pytest.approx(getattr(some, name))


@pytest.mark.parametrize("name", FIELDS + RATIOS)
def test_the_source_has_a_place_and_a_unit_for_it(name):
    source = (ROOT / "chapters/reference_metrics.md").read_text("utf-8")
    assert f"```{{metrics-reference}} {ABOUT[name].group}\n" in source
    entry = reference.attribute(name)
    assert f"*Unit:* {ABOUT[name].unit}." in entry and ABOUT[name].meaning in entry


@pytest.mark.parametrize("name", FIELDS + RATIOS)
def test_entry_says_unit_and_formula(page, name):
    entry = page.select_one(f'dt[id="Metrics.{name}"]').find_next("dd").get_text(" ", strip=True)
    assert f"Unit: {ABOUT[name].unit}" in entry
    assert ("Formula:" in entry) == (name in RATIOS)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("global_load_sectors", "sectors"),
        ("sectors_per_request_load", "sectors per request"),
        ("shared_store_bytes", "bytes"),
        ("shared_load_bank_conflicts", "wavefronts"),
        ("op_fp32", "instructions of threads"),
        ("warp_efficiency", "share, from 0 to 1"),
        ("global_bytes_distinct", "bytes"),
        ("flops_fp64", "floating-point operations"),
        ("shared_atomic_requests", "requests of warps"),
    ],
)
def test_unit(name, unit):
    assert ABOUT[name].unit == unit


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("barriers", "int"),
        ("lanes_active", "tuple[int, ...]"),
        ("fp64_share", "float"),
        ("dram_bytes_moved", "tuple[int, int]"),
    ],
)
def test_type(name, kind):
    assert f":type: {kind}" in reference.attribute(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("global_load_sectors", "``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum``"),
        ("warp_efficiency", "``smsp__thread_inst_executed_per_inst_executed.ratio`` / 32"),
        ("barriers", "``smsp__inst_executed_op_barrier.sum``, where it exists"),
        ("op_conversion", "_pred_on.sum``, without those that a compiler removes"),
        ("op_special", "``smsp__inst_executed_pipe_xu.sum`` is nearest; it counts"),
        ("global_bytes_distinct", "none"),
    ],
)
def test_counterpart_in_nsight_compute(name, said):
    (line,) = [line for line in reference.attribute(name) if line.startswith("*Nsight Compute:* ")]
    assert said in line and line.endswith(".") and not line.endswith("..")


def test_a_counter_without_a_unit_or_a_group_cannot_be_written():
    with pytest.raises(TypeError, match="'unit' and 'group'"):
        counter("Naps.")
    with pytest.raises(TypeError, match="'unit'"):
        derived("naps / 2")


def test_groups_hold_every_metric_and_no_page_repeats_one(page):
    headed = [head["id"].removeprefix("Metrics.") for head in page.select("dt[id^='Metrics.']")]
    assert sorted(headed) == sorted(FIELDS + RATIOS)


def test_table_names_counterparts_that_the_entries_name(page):
    shown = dict(
        [cell.get_text(strip=True) for cell in row.select("td")]
        for row in page.select("table.ww-names tbody tr")
    )
    assert len(shown) >= 20 and shown == reference.nsight_names()
    for name, theirs in shown.items():
        assert f"*Nsight Compute:* ``{theirs}``" in "\n".join(reference.attribute(name))
        assert re.fullmatch(r"(l1tex|smsp|sm|dram|gpu)__\w+\.\w+", theirs)


def test_table_leaves_out_what_is_near_a_sum_or_a_part():
    assert set(reference.nsight_names()).isdisjoint(
        {"op_special", "shared_atomic_wavefronts", "flops_fp32", "warp_efficiency", "lanes_active"}
    )


def test_a_group_that_does_not_exist_is_an_error():
    directive = SimpleNamespace(
        arguments=["nothing"],
        env=SimpleNamespace(note_dependency=lambda path: None),
        error=ValueError,
    )
    with pytest.raises(
        ValueError, match="no metric is in the group 'nothing'; there are atomics, global"
    ):
        reference.MetricsReference.run(directive)


def test_example_counts_what_the_counter_counts(page):
    shown = page.select_one("#how-they-are-counted .cell_output pre").get_text(strip=True)
    ours, counter = map(int, re.fullmatch(r"\((\d+), (\d+)\)", shown).groups())
    assert ours == counter > 0
