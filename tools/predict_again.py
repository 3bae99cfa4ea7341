"""Predict again what had been predicted of a GPU before it was measured, and compare both.

As a program: predict each row of the H200's records that has a `predicted_ms`, without a GPU, put
the times into measurements/predicted/again/ and into the package, where ranges are made of them,
and print them. Those records were made to hold a
prediction to account; what is predicted now comes from a model that has learnt from them."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from typing import Any

import predictions

from warpwise.benchmark_records import FIRST, PREDICTED, folder, predicted_rows, slug
from warpwise.measure.place import modelled
from warpwise.measure.predictions import put, rows_of
from warpwise.stopwatch import Card, find
from warpwise.stopwatch.blind_test import AGAIN, Pair, errors_of, pairs, with_times
from warpwise.stopwatch.families import MEASURED


def again(card: Card, name: str, known: tuple[Pair, ...]) -> Iterator[dict[str, Any]]:
    """Yield a new row for each of a suite's that was predicted before and then measured."""
    keys = {pair.key for pair in known}
    rows = [*rows_of(name, modelled(card), card)]
    if name == predictions.SUITE:
        rows += predictions.rows(card)
    for row in rows:
        if "predicted_ms" in row and (name, row["case"], row["variant"]) in keys:
            yield row


def kept(known: tuple[Pair, ...], rows: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """Yield what the package keeps: a line of names, and those rows whose range has a family."""
    measured = {pair.key: pair.measured for pair in known}
    yield ["suite", "case", "variant", "device", "measured", "predicted", "binds"]
    for row in rows:
        key = row["suite"], row["case"], row["variant"]
        if row.get("family") and key in measured:
            time, binds = float(f"{measured[key]:.5g}"), row["binds"]
            yield [*key, FIRST, time, row["predicted_ms"][0], binds]


def line_of(old: Pair, new: Pair) -> str:
    """Return a row's three times as a line."""
    return (
        f"{old.suite:13} {old.case:33.33} {old.variant:28} measured {old.measured:9.4g} ms, "
        f"predicted {old.predicted:9.4g} {old.error:+7.1%}, now {new.predicted:9.4g} "
        f"{new.error:+7.1%}{'' if new.within else ', out of range'}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", help="all that were predicted, unless said")
    card, before = find(FIRST), pairs()
    wanted = parser.parse_args().suites or dict.fromkeys(pair.suite for pair in before)
    path = folder() / PREDICTED / AGAIN / f"{slug(card.name)}.json"
    for name in wanted:
        found = [*again(card, name, before)]
        put(card, "tools/predict_again.py", found, path)
        times = {(name, row["case"], row["variant"]): row["predicted_ms"] for row in found}
        old = [pair for pair in before if pair.key in times]
        new = with_times(old, times)
        for pair in zip(old, new, strict=True):
            print(line_of(*pair))
        print(errors_of("before", old), errors_of("now", new), flush=True)
    with open(MEASURED, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(kept(before, predicted_rows(path)))
    print(path)
