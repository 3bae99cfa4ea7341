"""The page of metrics: units, formulas that agree with the code, and Nsight Compute's names."""

from __future__ import annotations

import random
import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from support.paths import ROOT

from warpwise.book import reference
from warpwise.metrics import FIELDS, OPERATIONS, RATIOS, SECTOR_BYTES, WARP_SIZE, Metrics

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
    assert eval(reference.FORMULAS[name], names) == pytest.approx(getattr(some, name))


@pytest.mark.parametrize("name", FIELDS + RATIOS)
def test_the_source_has_a_place_and_a_unit_for_it(name):
    source = (ROOT / "chapters/reference_metrics.md").read_text("utf-8")
    assert f"```{{metrics-reference}} {reference.group(name)}\n" in source
    (entry,) = [metric for metric in reference.metric_comments() if metric[0] == name]
    assert f"*Unit:* {reference.unit(name)}." in reference.attribute(*entry)


@pytest.mark.parametrize("name", FIELDS + RATIOS)
def test_entry_says_unit_and_formula(page, name):
    entry = page.select_one(f'dt[id="Metrics.{name}"]').find_next("dd").get_text(" ", strip=True)
    assert f"Unit: {reference.unit(name)}" in entry
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
    assert reference.unit(name) == unit


def test_a_counter_without_a_group_or_a_unit_is_told_where_to_get_one(monkeypatch):
    monkeypatch.setattr(reference, "FIELDS", ("naps",))
    with pytest.raises(LookupError, match="no group fits naps: add a pattern to GROUPS"):
        reference.group("naps")
    with pytest.raises(LookupError, match="no unit fits naps: add a pattern to UNITS"):
        reference.unit("naps")


def test_groups_hold_every_metric_and_no_page_repeats_one(page):
    headed = [head["id"].removeprefix("Metrics.") for head in page.select("dt[id^='Metrics.']")]
    assert sorted(headed) == sorted(FIELDS + RATIOS)


def test_table_names_counterparts_that_the_comments_name(page):
    shown = dict(
        [cell.get_text(strip=True) for cell in row.select("td")]
        for row in page.select("table.ww-names tbody tr")
    )
    comments = {name: comment for name, _, comment in reference.metric_comments()}
    assert len(shown) >= 20
    for name, theirs in shown.items():
        assert f"``{theirs}``" in comments[name]
        assert re.fullmatch(r"(l1tex|smsp|sm|dram|gpu)__\w+\.\w+", theirs)


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
