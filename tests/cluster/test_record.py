"""The record of a run: one timeline, and the tables of its text."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from warpwise import cluster, cuda
from warpwise.cluster import switch


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def program(dist):
    x, y = np.zeros(1000, np.uint8), np.ones(32, np.float32)
    work = dist.all_reduce(x, async_op=True)
    dist.compute(1.0, "backward")
    work.wait()
    double[1, 32](y)


RECORD = cluster.run(program, 2, topology=switch(2, 1e3, 0))


def test_the_timeline_has_works_and_messages_in_order():
    begins = [one.begin for one in RECORD.timeline]
    assert begins == sorted(begins)
    assert len(RECORD.timeline) == 2 * 2 + 4
    assert [work.spent.what for work in RECORD.times.works] == ["backward"] * 2 + ["double"] * 2


def test_bytes_sent_and_received_are_those_of_the_links():
    assert [(one.bytes_sent, one.bytes_received) for one in RECORD.ranks] == [(1000, 1000)] * 2
    assert sum(RECORD.bytes_by_link.values()) == 4000
    assert [use.busy for use in RECORD.links] == pytest.approx([1.0] * 4)


def test_a_record_is_not_changed():
    with pytest.raises(FrozenInstanceError):
        RECORD.results = ()


def test_it_shows_in_one_line():
    assert repr(RECORD) == (
        "<2 ranks on switch: 1 s, 4 messages of 2,000 bytes; .text() has the tables>"
    )


def test_one_of_a_thing_is_one():
    record = cluster.run(lambda dist: None, 1)
    assert repr(record).startswith("<1 rank on NVLink, H100 SXM: ")
    assert str(record.topology) == "NVLink, H100 SXM, 1 rank, 2 links"


def test_its_text_has_every_table():
    line = program.__code__.co_firstlineno
    text = RECORD.text()
    assert text.splitlines()[0] == "2 ranks on switch: 1 s, 4 messages of 2,000 bytes"
    assert "rank 0   " + 60 * "=" in text
    rows = [row.split() for row in text.splitlines()]
    assert ["0", "1", "s", "1", "s", "1", "s", "0", "ns", "1,000"] in rows
    assert ["gpu", "0", ">", "switch", "1,000", "2", "1", "s"] in rows
    collective = ["all_reduce", f"test_record.py:{line + 2}", "1,000", "2", "1,000"]
    assert [*collective, "0", "ns", "1", "s"] in rows
    assert any(row[:3] == ["double", f"test_record.py:{line + 5}", "2"] for row in rows)


def test_a_timeline_says_who_computes_and_who_is_idle():
    def uneven(dist):
        dist.compute(4e-3 * dist.get_rank())
        dist.all_reduce(np.zeros(4, np.uint8))

    text = cluster.run(uneven, 2, topology=switch(2, 1e3, 0)).text()
    assert f"rank 0   {30 * '.'}{30 * '-'}" in text
    assert f"rank 1   {30 * '#'}{30 * '-'}" in text


def test_many_links_are_cut_short():
    record = cluster.run(lambda dist: dist.barrier(), 12)
    used = len(record.bytes_by_link)
    assert f"and {used - 16} more links" in record.text()


def test_a_cluster_of_one_and_a_program_that_does_nothing():
    record = cluster.run(lambda dist: dist.all_reduce(np.ones(3)), 1)
    assert record.seconds == 0 and record.text()
    assert cluster.run(lambda dist: None, 3).text()
