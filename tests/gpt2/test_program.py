"""``python -m warpwise.gpt2``: what it prints, keeps and refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT
from support.share import THOROUGH

from warpwise.errors import LaunchError
from warpwise.gpt2.__main__ import main
from warpwise.gpt2.checkpoint import read_model, write_model
from warpwise.gpt2.config import Config, initial

TINY = Config(positions=16, vocabulary=256, layers=1, heads=2, channels=32, padded=256)


def program(*words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "100"}
    command = [sys.executable, "-m", "warpwise.gpt2", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> tuple[str, Path]:
    """Return what the program prints about a small model, and where it keeps it."""
    after = tmp_path_factory.mktemp("saved") / "after.bin"
    return said_of(after.with_name("before.bin"), write=1, save=after), after


def said_of(model: Path, **options) -> str:
    """Return what is printed about two steps of the small model, which is kept in a file first."""
    write_model(model, TINY, initial(TINY))
    with redirect_stdout(StringIO()) as said:
        main(steps=2, device="A100 80", load=model, **options)
    return said.getvalue()


@pytest.mark.slow
def test_a_small_model_is_loaded_trained_summed_up_and_saved(small):
    said, after = small
    assert re.search(r"^before: b'F", said, re.MULTILINE)
    losses = re.search(r"^losses: (\S+) (\S+)$", said, re.MULTILINE)
    assert losses and 5.4 < float(losses[1]) < 5.7 and float(losses[2]) < float(losses[1])
    assert "One step on A100 80, modelled by the stopwatch" in said
    rows = {line.split()[0]: line.split() for line in said.splitlines() if "latency" in line}
    assert {"matmul", "adamw", "attention_forward", "classifier"} < rows.keys()
    assert rows["adamw"][1] == "16"
    least, asked = (float(rows["matmul"][at].replace(",", "")) for at in (2, 4))
    assert asked > 2 * least  # each factor once for each row or column of tiles
    for column in (3, 6, 8):
        assert sum(float(row[column]) for row in rows.values()) == pytest.approx(100, abs=1)
    config, parameters = read_model(after)
    assert config == TINY and not np.array_equal(parameters, initial(TINY))


@pytest.mark.slow
def test_bfloat16_is_trained_from_the_same_file_and_moves_fewer_bytes(small, tmp_path, monkeypatch):
    """Its kernels are compiled only in a thorough run; else as where no compiler is installed."""
    if not THOROUGH:
        monkeypatch.setitem(sys.modules, "warpwise.stopwatch.predict", None)
    found = []
    for said in (small[0], said_of(tmp_path / "before.bin", write=1, precision="bf16")):
        losses = re.search(r"^losses: (\S+) (\S+)$", said, re.MULTILINE)
        total = re.search(r"^all +\d+ +(\S+) ", said, re.MULTILINE)
        assert losses and total
        found.append((float(losses[2]), float(total[1].replace(",", ""))))
    (loss, whole), (other, half) = found
    assert loss != other and loss == pytest.approx(other, abs=5e-3)
    assert half < 0.75 * whole


@pytest.mark.slow
def test_a_mistake_is_one_line():
    done = program("--device", "Voodoo")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("warpwise.gpt2: the stopwatch does not know 'Voodoo'")
    assert done.stderr.count("\n") == 1


def test_what_cannot_be_learnt_is_named_before_anything_is_done(tmp_path: Path, capsys):
    with pytest.raises(LaunchError, match="the text needs 1,153 bytes, and has 1,000"):
        main(parts=9)
    with pytest.raises(LaunchError, match=r"README.md begins with .* not 20240326"):
        main(load=ROOT / "README.md")
    words = Config(positions=16, vocabulary=257, layers=1, heads=1, channels=32, padded=272)
    write_model(tmp_path / "words.bin", words, initial(words))
    with pytest.raises(LaunchError, match="knows 257 tokens: here they are bytes"):
        main(load=tmp_path / "words.bin")
    for nowhere in (tmp_path / "none/model.bin", tmp_path):
        with pytest.raises(
            LaunchError, match=f"^no file can be saved at {re.escape(str(nowhere))}: "
        ):
            main(save=nowhere)
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_help_names_every_option():
    said = set(re.findall(r"--(\w+)", program("--help").stdout))
    assert {*"steps parts rate write precision device text load save".split()} <= said
