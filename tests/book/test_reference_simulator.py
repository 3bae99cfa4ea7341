"""The page of the simulator: every argument, host name and limit, taken from the code."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from importlib import import_module

import pytest
from bs4 import BeautifulSoup
from support.paths import ROOT

from warpwise import Observer, errors, trace
from warpwise.book import signatures
from warpwise.cuda import HOST
from warpwise.simt import launch
from warpwise.simt.machine.observer import EVENTS, Request
from warpwise.traces import Trace

SOURCE = (ROOT / "chapters/reference_simulator.md").read_text("utf-8")


@pytest.fixture(scope="module")
def page(site) -> BeautifulSoup:
    return BeautifulSoup(
        (site.folder / "chapters/reference_simulator.html").read_text("utf-8"), "html.parser"
    ).select_one("article")


@pytest.mark.parametrize("name", inspect.signature(trace).parameters)
def test_argument_is_explained_with_its_default(page, name):
    heads = {
        re.match(r"\**(\w+)", head.get_text())[1]: head
        for head in page.select("#asking-for-a-trace dt")
    }
    head, parameter = heads[name].get_text(strip=True), inspect.signature(trace).parameters[name]
    assert len(heads[name].find_next("dd").get_text().split()) >= 3
    assert ("=" in head) == (parameter.default is not inspect.Parameter.empty)


def test_defaults_are_spelled_as_a_reader_would(page):
    heads = [head.get_text(strip=True) for head in page.select("#asking-for-a-trace dt")]
    assert {
        "device=H100",
        f"max_steps={launch.MAX_STEPS}",
        f"max_records={launch.MAX_RECORDS}",
        "*args",
        "sanitize=True",
    } <= set(heads)


@pytest.mark.parametrize(
    "name", [f.name for f in fields(Trace)] + ["events", "accesses", "save", "load"]
)
def test_what_a_trace_holds(page, name):
    shown = [code.get_text() for code in page.select("#what-a-trace-holds li code:first-child")]
    assert name in [text.partition("(")[0] for text in shown]


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_is_described_with_its_arguments(page, event):
    hooks = [code.get_text() for code in page.select("#watch-a-launch-yourself li code")]
    arguments = list(inspect.signature(getattr(Observer, event)).parameters)[1:]
    assert f"{event}({', '.join(arguments)})" in hooks


@pytest.mark.parametrize("name", [f.name.lstrip("_") for f in fields(Request)])
def test_what_a_request_holds(page, name):
    shown = page.select("#watch-a-launch-yourself li code:first-child")
    assert name in [code.get_text() for code in shown]


@pytest.mark.parametrize("name", HOST)
def test_name_of_the_host_is_on_the_page(page, name):
    host = page.select_one("#host-code-warpwise-cuda")
    assert re.search(rf"cuda\.{name}\b", host.get_text())


def test_modules_of_the_host_are_all_listed():
    listed = re.findall(r"\{host-reference\} (\w+)", SOURCE)
    found = [name for module in listed for name in import_module(f"warpwise.cuda.{module}").HOST]
    assert sorted(found) == sorted(HOST)


@pytest.mark.parametrize(
    "name",
    (
        "AsyncCopyError BarrierError MisalignedError OutOfBoundsError StepLimitError "
        "UnwrittenReadError WarpMaskError"
    ).split(),
)
def test_the_sanitizers_errors_are_named(name):
    assert f"`{name}`" in SOURCE and hasattr(errors, name)


def test_every_cell_with_a_claim_ran(page):
    outputs = [out.get_text() for out in page.select(".cell_output")]
    assert any("race on x[" in text for text in outputs)
    assert any(" 50%" in text and "100%" in text for text in outputs)
    assert any(
        str(launch.MAX_RECORDS) in text and str(launch.MAX_STEPS) in text for text in outputs
    )


# --- docstrings ---


def test_arguments_that_share_a_sentence():
    text = "``a``: one. ``b``, ``c``: two, unlike ``a``. ``d=False`` turns it off."
    both = "two, unlike ``a``."
    assert signatures.argument_meanings(text) == {
        "a": "one.",
        "b": both,
        "c": both,
        "d": "``d=False`` turns it off.",
    }


def test_names_for_one_thing_are_listed_together():
    def thing(a, b=1):
        """``cuda.one(a)`` and ``cuda.two``: what it does."""

    assert signatures.host_names({"one": thing, "two": thing}) == [
        ("cuda.one(a, b=1)`, `cuda.two", "", "what it does.")
    ]
