"""The picture of a cluster's run without a browser: its marks, lanes and links are the record's."""

from __future__ import annotations

import gzip
import html as markup
import json
import re
from collections import Counter

import numpy as np
import pytest
from support.drawn_marks import Script

from warpwise import cluster, cuda
from warpwise.cluster import Record, switch
from warpwise.views import html
from warpwise.views.rank_marks import MOST, MOST_PIECES, marks, stretches
from warpwise.views.ranks import MOST_LANES, of_record
from warpwise.views.view import View

UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}
LEFT, WIDTH = 50, 800
BAR = re.compile(
    r'<rect class="(?:one|two|four)(?: late)?" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"'
    r'[^>]*data-is="([^"]*)" data-key="(\d+)"(?: data-with="([\d ]+)")?'
)
MESSAGE = re.compile(
    r"rank (\d+) (sends to|receives from) rank (\d+): (\w+), line \d+ of test_ranks.py, "
    r"([\d,]+) bytes?, at ([\d.e-]+) (µs|ms|s) for ([\d.e-]+) (µs|ms|s)"
)
OWN = re.compile(
    r"rank (\d+) works: (.+), line \d+ of test_ranks.py, "
    r"at ([\d.e-]+) (µs|ms|s) for ([\d.e-]+) (µs|ms|s)"
)


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def step(dist, size=4000):
    gradients = np.ones(size, np.float32)
    work = dist.all_reduce(gradients, async_op=True)
    double[64, 256](np.ones(16_384, np.float32))
    dist.compute(3e-6 * (1 + dist.get_rank()), "next layer")
    work.wait()
    dist.barrier()


def handed_on(dist):
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    x = np.zeros(1000)
    if rank > 0:
        dist.recv(x, rank - 1)
    dist.compute(1e-6, "stage")
    if rank < last:
        dist.send(x, rank + 1)


def exchanged(dist, turns=2):
    everyone = range(dist.get_world_size())
    sent, got = ([np.ones(40) for _ in everyone] for _ in range(2))
    for _ in range(turns):
        dist.compute(1e-5, "experts")
        dist.all_to_all(got, sent)


RUNS = {
    "step": cluster.run(step, 4),
    "handed on": cluster.run(handed_on, 3),
    "torus": cluster.run(step, 6, topology=cluster.torus((2, 3))),
    "nodes": cluster.run(exchanged, 10),
}
MANY = cluster.run(exchanged, 64)


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("ranks")


@pytest.fixture(params=RUNS, ids=lambda name: name.replace(" ", "_"))
def record(request) -> Record:
    return RUNS[request.param]


def drawn(script: Script, view: View, width: int = WIDTH) -> dict:
    return script.shown(view.data, {}, width)


def three(seconds: float) -> float:
    """A time as the picture says it, to three figures."""
    return float(f"{seconds:.3g}")


def time(value: str, unit: str) -> float:
    return three(float(value) * UNITS[unit])


def bars(made: dict) -> list[tuple[float, float, str, int, list[int]]]:
    return [
        (float(x), float(wide), markup.unescape(words), int(key), [int(k) for k in other.split()])
        for x, wide, words, key, other in BAR.findall(made["picture"])
    ]


def test_each_message_is_on_both_of_its_lanes_and_says_what_the_record_has(script, record):
    found = Counter()
    for _, _, words, _, _ in bars(drawn(script, of_record(record))):
        if one := MESSAGE.fullmatch(words):
            rank, way, peer, what, nbytes, *times = one.groups()
            ends = (rank, peer) if way == "sends to" else (peer, rank)
            begin, lasts = time(*times[:2]), time(*times[2:])
            found[*map(int, ends), what, int(nbytes.replace(",", "")), begin, lasts] += 1
    expected = Counter()
    for one in record.times.passages:
        m = one.message
        times = three(one.begin), three(one.end - one.begin)
        expected[m.source, m.target, m.what, m.nbytes, *times] += 2
    assert found == expected and found.total() == 2 * len(record.log.messages)


def test_each_work_is_on_its_lane_and_kernels_are_named(script, record):
    found = Counter()
    for _, _, words, _, _ in bars(drawn(script, of_record(record))):
        if one := OWN.fullmatch(words):
            rank, what, *times = one.groups()
            found[int(rank), what, time(*times[:2]), time(*times[2:])] += 1
    assert found == Counter(
        (
            work.rank,
            "kernel double" if work in record.kernels else work.spent.what,
            three(work.begin),
            three(work.end - work.begin),
        )
        for work in record.times.works
    )


@pytest.mark.parametrize("width", [800, 330])
def test_marks_stand_where_they_are_in_time(script, record, width):
    scale = (width - LEFT - 1) / record.seconds
    view = of_record(record)
    found = bars(drawn(script, view, width))
    assert len(found) == len(view.data["marks"]) == len(record.timeline) + len(record.log.messages)
    for x, wide, _, key, _ in found:
        one = view.data["marks"][key]
        assert x == pytest.approx(LEFT + one["t"] * scale, abs=0.06)
        assert wide == pytest.approx(max(0.8, one["d"] * scale), abs=0.06)


def test_the_colour_ends_where_the_latency_begins(script):
    record = RUNS["handed on"]
    scale = (WIDTH - LEFT - 1) / record.seconds
    picture = drawn(script, of_record(record))["picture"]
    found = re.findall(r'<rect class="two still"[^>]*width="([\d.]+)"', picture)
    passes = [one.left - one.begin for one in record.times.passages]
    assert [float(wide) for wide in found] == pytest.approx([s * scale for s in passes], abs=0.06)


def test_a_message_s_other_end_is_the_mark_that_stands_out_with_it(script, record):
    found = {
        key: (words, other) for _, _, words, key, other in bars(drawn(script, of_record(record)))
    }
    for key, (words, other) in found.items():
        if " works: " in words:
            assert other == []
            continue
        (partner,) = other
        theirs, back = found[partner]
        assert back == [key]
        mine, hers = MESSAGE.fullmatch(words), MESSAGE.fullmatch(theirs)
        assert (mine[1], mine[3]) == (hers[3], hers[1]) and mine[2] != hers[2]
        assert mine.groups()[3:] == hers.groups()[3:]


def test_a_rank_s_label_has_its_times(script, record):
    words = re.findall(
        r'data-is="rank (\d+): ([^"]*)"', drawn(script, of_record(record))["picture"]
    )
    assert [int(rank) for rank, _ in words] == [one.rank for one in record.ranks]
    for one, (_, said) in zip(record.ranks, words, strict=True):
        found = re.findall(r"(works|moves bytes|both|idle) ([\d.e-]+) (µs|ms|s)", said)
        times = (one.compute, one.communication, one.overlap, one.idle)
        assert [time(*pair) for _, *pair in found] == [three(float(f"{s:.6g}")) for s in times]
        assert f"sends {one.bytes_sent:,} byte" in said


def test_bars_of_links_have_their_bytes_and_lengths(script, record):
    made = drawn(script, of_record(record))
    found = re.findall(
        r'class="grey"[^>]*width="([\d.]+)"[^>]*data-is="([^":]+): '
        r"([\d,]+) bytes?, ([\d,]+) messages?",
        made["picture"],
    )
    used = [use for use in record.links if use.messages]
    used = sorted(used, key=lambda use: (-use.nbytes, -float(f"{use.busy:.6g}")))[:16]
    assert [(markup.unescape(name), nbytes, times) for _, name, nbytes, times in found] == [
        (use.name, f"{use.nbytes:,}", f"{use.messages:,}") for use in used
    ]
    longest = max(float(wide) for wide, *_ in found)
    for use, (wide, *_) in zip(used, found, strict=True):
        assert float(wide) == pytest.approx(max(1, longest * use.nbytes / used[0].nbytes), abs=0.2)


def test_gaps_and_time_of_both_are_the_record_s(script, record):
    cells = drawn(script, of_record(record))["marks"]
    idle, both = Counter(), Counter()
    for *_, words, shy in cells:
        rank, what, *times = re.fullmatch(
            r"rank (\d+) (is idle|works and moves bytes): at ([\d.e-]+) (\S+) for ([\d.e-]+) (\S+)",
            words,
        ).groups()
        assert shy
        (idle if what == "is idle" else both)[int(rank)] += float(times[2]) * UNITS[times[3]]
    for one in record.ranks:
        assert idle[one.rank] == pytest.approx(one.idle, rel=0.01, abs=1e-10)
        assert both[one.rank] == pytest.approx(one.overlap, rel=0.01, abs=1e-10)


def test_the_sentence_has_time_overlap_and_idleness_of_all_ranks(script, record):
    ranks = record.ranks
    moved = sum(one.communication for one in ranks)
    hidden = sum(one.overlap for one in ranks)
    idle = sum(one.idle for one in ranks) / record.seconds / len(ranks)
    said = drawn(script, of_record(record))["text"]
    total = re.search(r"the run takes ([\d.]+) (µs|ms|s), modelled", said)
    assert time(*total.groups()) == three(record.seconds)
    share, waits = re.findall(r"([\d.]+) %", said)
    assert float(share) == pytest.approx(100 * hidden / moved, abs=0.06)
    assert float(waits) == pytest.approx(100 * idle, abs=0.06)
    assert said.startswith(f"{len(ranks)} ranks on {record.topology.name}: ")


def test_of_many_marks_neighbours_are_one_and_nothing_is_lost(script):
    found = marks(MANY, 64)
    assert len(MANY.timeline) > 4000 and 64 * 3 <= len(found) <= MOST
    assert sum(len(one.pieces) for one in found) <= MOST_PIECES
    for rank in MANY.ranks:
        mine = [one for one in found if one.lane == rank.rank]
        assert sum(one.nbytes for one in mine if one.kind == 1) == rank.bytes_sent
        assert sum(one.nbytes for one in mine if one.kind == 2) == rank.bytes_received
        assert sum(one.count for one in mine if one.kind) == 4 * 63
        assert sum(one.seconds for one in mine if not one.kind) == pytest.approx(rank.compute)
    made = drawn(script, of_record(MANY))
    assert "neighbours are one mark" in made["text"]
    assert re.search(
        r"rank 0 sends to ranks 1, 2, 3 and \d+ more: all_to_all, line", made["picture"]
    )
    data = json.dumps(of_record(MANY).payload).encode()
    assert len(gzip.compress(data)) <= html.DATA_BUDGET


def test_pieces_of_one_mark_leave_its_gaps(script):
    """A ring over two nodes waits for the slow links: nothing is drawn where a rank waits."""

    def ring(dist, turns):
        for _ in range(turns):
            dist.all_reduce(np.zeros(4000, np.float32))

    record = cluster.run(ring, 16, 4)
    found = [one for one in marks(record, 16) if one.count > 1]
    assert found and not any(one.closed for one in found)
    spans = [record.spans[one.lane].moves for one in found]
    for one, moves in zip(found, spans, strict=True):
        assert one.busy <= one.seconds and one.busy == pytest.approx(
            sum(end - begin for begin, end in one.pieces)
        )
        assert all(any(a <= begin and end <= b for a, b in moves) for begin, end in one.pieces)
    waits = next(one for one in found if one.busy < 0.9 * one.seconds)
    words = f"rank {waits.lane} "
    made = drawn(script, of_record(record))
    assert re.search(f'<path [^>]*data-is="{words}[^"]*, busy for ', made["picture"])
    assert "without the gaps" not in made["text"]
    longer = drawn(script, of_record(cluster.run(ring, 16, 10)))
    assert "one mark, without the gaps between them." in longer["text"]


def test_works_of_several_kinds_are_named_together(script):
    def small(dist):
        for k in range(1500):
            dist.compute(1e-6, ("load", "add", "store")[k % 3])

    made = drawn(script, of_record(cluster.run(small, 1)))
    names = {
        words.split(":")[1]
        for words in re.findall(r'data-is="(rank 0 works[^"]*)"', made["picture"])
    }
    assert any({"load", "add", "store"} <= set(re.findall(r"\w+", one)) for one in names)
    assert sum(map(int, re.findall(r"(\d+) times", made["picture"]))) >= 1400


def test_too_many_gaps_become_fewer_with_all_their_time():
    def ping(dist):
        x = np.zeros(1)
        for _ in range(700):
            dist.compute(1e-7)
            dist.send(x, 1) if dist.get_rank() == 0 else dist.recv(x, 0)

    data = of_record(cluster.run(ping, 2)).data
    assert all(len(data[name]) <= MOST for name in ("both", "idle"))
    assert stretches((), 1.0) == []


def test_of_more_than_64_ranks_the_first_have_lanes_and_it_says_so(script):
    record = cluster.run(lambda dist: dist.barrier(), 70)
    view = of_record(record)
    made = drawn(script, view)
    assert len(view.data["lanes"]) == MOST_LANES == 64
    assert all(one["r"] < 64 for one in view.data["marks"])
    assert "The lanes are those of the first 64 ranks, the figures those of all." in made["text"]
    assert "with most</text>" in made["picture"]
    assert "rank 63 sends to rank 64" in made["picture"]


def test_of_links_with_equally_many_bytes_the_busiest_are_shown(script):
    """A ring over two nodes crosses the network twice, and takes longest there."""
    record = cluster.run(
        lambda dist: dist.all_reduce(np.zeros(1600, np.float32)), 16, topology=cluster.nodes(16)
    )
    view = of_record(record)
    (nbytes,) = {nbytes for _, nbytes, *_ in view.data["links"]}
    assert nbytes == 2 * 15 * 400
    assert all("network" in name for name, *_ in view.data["links"][:4])
    assert "the 16 of 32 with most" in drawn(script, view)["picture"]


@pytest.mark.parametrize(
    ("program", "ranks", "said"),
    [
        (lambda dist: None, 2, "the run takes 0 µs, modelled. Nothing is sent"),
        (lambda dist: dist.compute(0.0), 1, "the run takes 0 µs"),
        (lambda dist: dist.compute(2.5), 1, "the run takes 2.5 s, modelled. Nothing is sent"),
        (lambda dist: dist.barrier(), 2, "0 % goes on beside"),
    ],
)
def test_runs_with_next_to_nothing_are_drawn(script, program, ranks, said):
    made = drawn(script, of_record(cluster.run(program, ranks)))
    assert said in made["text"]
    assert not re.search("NaN|Infinity|undefined", json.dumps(made))


def test_a_record_draws_itself_and_says_a_sentence_in_a_terminal():
    record = RUNS["step"]
    assert record._repr_html_() == record.show()._repr_html_()
    assert record._repr_html_().startswith("<ww-ranks")
    assert repr(record.show()).startswith("4 ranks on NVLink, H100 SXM: the run takes ")
    slow = record.on(switch(4, 1e6, 0))
    assert repr(slow.show()).startswith("4 ranks on switch: the run takes ")


def test_names_that_are_no_names_end_no_element(script):
    record = cluster.run(lambda dist: dist.compute(1e-3, '</script><b> & "x"'), 1)
    view = of_record(record)
    assert "</script><b>" not in view._repr_html_()
    assert "&#60;/script&#62;&#60;b&#62;" in drawn(script, view)["picture"]
