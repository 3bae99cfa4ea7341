"""``tools/photograph.py`` in Chromium: the pages that are asked for, in each width and theme."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from support.paths import ROOT

pytestmark = pytest.mark.slow
PAGE = """<!doctype html><meta name="viewport" content="width=device-width"><style>
body { margin: 0; height: 1200px; background: #fff }
@media (prefers-color-scheme: dark) { body { background: #000 } }</style>"""


def test_a_page_is_photographed_whole_in_six_looks(browser, tmp_path: Path):
    for name in ("08_first", "teaching/08_first", "09_other"):
        path = tmp_path / f"site/chapters/{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE)
    command = [sys.executable, ROOT / "tools/photograph.py", "--only", "08", "--no-widgets"]
    places = ["--site", tmp_path / "site", "--out", tmp_path / "photos"]
    own = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    subprocess.run([*command, *places], env=own, check=True, capture_output=True)
    found = {path.stem: Image.open(path) for path in (tmp_path / "photos").iterdir()}
    assert len(found) == 12 and len([name for name in found if name.startswith("teaching-")]) == 6
    for width in (1440, 1024, 390):
        for scheme, ground in (("light", 255), ("dark", 0)):
            picture = found[f"08_first-{width}-{scheme}"]
            assert picture.size == (width, 1200)
            assert picture.convert("L").getpixel((5, 5)) == pytest.approx(ground, abs=3)
