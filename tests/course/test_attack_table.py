"""The instructors' table of attacks says how many there are."""

from __future__ import annotations

import re

from support.attack_classes import kept
from support.paths import ROOT

ROW = re.compile(r"^\| ([a-z ]+) \| [^|]+ \| (\d+) \| [^|]+ \|$", re.MULTILINE)


def test_the_table_of_attacks_counts_those_that_are_kept():
    page = (ROOT / "chapters/running_a_course.md").read_text("utf-8")
    section = page.partition("\n## What decides the points\n")[2].partition("\n## ")[0]
    assert {name: int(count) for name, count in ROW.findall(section)} == kept()
