"""The FlashAttention widget's Python side and its script, against the model and NumPy."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest

from warpwise.devices import A100, DEVICES, T4
from warpwise.errors import LaunchError
from warpwise.model.attention import attention, visits
from warpwise.views import flash_attention, html
from warpwise.views.view import shown

UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
ROUNDED = 0.006  # three figures


def in_bytes(words: str) -> float:
    amount, unit = words.split()
    return float(amount) * UNITS[unit]


def texts(picture: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture)


def states(count: int):
    """Draw places of the controls at random."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        n, d = int(rng.integers(8, 14)), int(rng.integers(5, 9))
        rows, columns = (int(rng.integers(4, min(8, n) + 1)) for _ in range(2))
        causal, registers = (bool(rng.integers(2)) for _ in range(2))
        query = int(rng.integers(1, 2**n // 2**rows + 1))
        key = int(rng.integers(1, visits(2**n, 2**rows, 2**columns, query - 1, causal) + 1))
        device = DEVICES[rng.integers(len(DEVICES))]
        yield (
            {
                "n": n,
                "d": d,
                "rows": rows,
                "columns": columns,
                "causal": causal,
                "registers": registers,
                "query": query,
                "key": key,
                "device": device.name,
            },
            attention(2**n, 2**d, 2**rows, 2**columns, causal=causal),
            device,
        )


def test_the_script_counts_what_the_model_counts():
    data = flash_attention.explorer().data
    for values, model, device in states(100):
        made = shown("flash_attention", data, values, 280 + 40 * (values["key"] % 13))
        words = texts(made["picture"])
        rows = {term: (value, note) for term, value, note in made["rows"]}
        tiles = f"{2 ** values['n'] // model.rows} × {model.n // model.columns}"  # noqa: RUF001
        assert f"Scores: {tiles} tiles" in words
        assert rows["tiles skipped"] == (f"{model.skipped:,}", f"of {model.tiles:,}")
        moved = {
            "standard": model.standard_read_bytes + model.standard_written_bytes,
            "each matrix once": model.least_bytes,
        }
        moved["FlashAttention"] = model.read_bytes + model.written_bytes
        for name, size in (moved | model.tile_bytes).items():
            (word,) = [word for word in words if re.fullmatch(rf"{name} [\d.]+ \w+", word)]
            assert in_bytes(word.removeprefix(f"{name} ")) == pytest.approx(size, rel=ROUNDED), (
                name,
                values,
            )
        times, (gain, note) = model.bytes_saved, rows["bytes moved"]
        assert float(gain[:-1]) == pytest.approx(max(times, 1 / times), rel=ROUNDED)
        assert note == ("less than standard" if times >= 1 else "more than standard")
        check_memory(made, values, model, device)


def check_memory(made: dict, values: dict, model, device) -> None:
    """Check the headings over the two memories, which the sentence says too."""
    held = model.tile_bytes
    shared = sum(held[name] for name in ("QKV" if values["registers"] else "QKVSO"))
    boxes = [("Shared memory", shared, device.sm.shared_bytes_per_block)]
    if values["registers"]:
        boxes.append(("Registers", held["S"] + held["O"], device.sm.registers * 4))
    titles = [
        word for word in texts(made["picture"]) if word.startswith(("Shared memory:", "Registers:"))
    ]
    assert len(titles) == len(boxes)
    for title, (name, used, limit) in zip(titles, boxes, strict=True):
        found = re.fullmatch(r"(.+): (.+) of ([^,]+)(, too much)?", title)
        assert found[1] == name and bool(found[4]) == (used > limit)
        assert (in_bytes(found[2]), in_bytes(found[3])) == pytest.approx((used, limit), rel=ROUNDED)
        assert f" {title}." in made["text"]


def test_running_maximum_and_sum_are_those_of_all_scores_seen():
    data, scores = flash_attention.explorer().data, flash_attention.scores()
    for values, model, _ in states(100):
        rows = {
            term: (value, note)
            for term, value, note in shown("flash_attention", data, values)["rows"]
        }
        end = values["query"] * model.rows if values["causal"] else model.n
        seen, before = (
            scores[: min(values["key"] * model.columns, end)],
            scores[: (values["key"] - 1) * model.columns],
        )
        top, fix = rows["running maximum"]
        assert float(top) == pytest.approx(seen.max(), abs=0.0051)
        assert float(rows["running sum"][0]) == pytest.approx(
            np.exp(seen - seen.max()).sum(), rel=ROUNDED
        )
        correction = np.exp(before.max() - seen.max()) if before.size else 0
        assert float(fix.split()[-1]) == pytest.approx(correction, rel=ROUNDED)


def test_it_opens_where_it_is_told():
    view = flash_attention.explorer(
        512, 128, 64, 32, T4, causal=False, registers=False, query=2, key=5
    )
    assert view.values == {
        "n": 9,
        "d": 7,
        "rows": 6,
        "columns": 5,
        "device": "T4",
        "query": 2,
        "causal": False,
        "registers": False,
        "key": 5,
    }
    assert view.sentence.startswith(
        "Query tile 2 of 8 meets key tile 5 of 16 on T4. Shared memory: 72 KiB of 64 KiB, too much."
    )
    small = flash_attention.explorer(256, rows=256, columns=256).values
    assert (small["query"], small["key"]) == (1, 1)


def test_a_causal_row_ends_at_its_diagonal():
    with pytest.raises(LaunchError, match="key is 3; it can be 1 to 2"):
        flash_attention.explorer(1024, rows=128, columns=64, query=1, key=3)
    assert (
        flash_attention.explorer(1024, rows=128, columns=64, query=1, key=3, causal=False).values[
            "key"
        ]
        == 3
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"n": 1000}, "power of two"),
        ({"n": 128}, "256 to 8,192"),
        ({"d": 16}, "32 to 256"),
        ({"rows": 512}, "16 to 256"),
        ({"columns": 48}, "columns is 48"),
        ({"query": 9}, "1 to 8"),
        ({"query": 0}, "1 to 8"),
        ({"key": 0}, "1 to"),
    ],
)
def test_what_cannot_be_is_named(wrong: dict, says: str):
    with pytest.raises(LaunchError, match=says):
        flash_attention.explorer(**wrong)


def test_data_keeps_to_its_budget():
    view = flash_attention.explorer(8192, 256, 16, 16, A100)
    assert len(gzip.compress(json.dumps(view.payload).encode())) <= html.DATA_BUDGET
