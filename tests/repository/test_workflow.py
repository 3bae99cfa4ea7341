"""The workflow that tests each push: the Makefile's commands, on every system, without rights."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml
from support.paths import ROOT

PATH = ROOT / ".github/workflows/tests.yml"
SYSTEMS = ["ubuntu-latest", "macos-latest", "windows-latest"]
GIT = "apt-get update && apt-get install --yes --no-install-recommends ca-certificates git"


@pytest.fixture(scope="module")
def workflow() -> dict:
    return yaml.safe_load(PATH.read_text("utf-8"))


def commands(job: dict) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_every_system_runs_the_quick_tests_and_linux_runs_all(workflow: dict):
    quick, everything = workflow["jobs"]["quick"], workflow["jobs"]["all"]
    assert quick["strategy"]["matrix"]["os"] == SYSTEMS
    assert commands(quick) == ["make quick"]
    assert everything["runs-on"] == SYSTEMS[0]
    assert commands(everything)[0] == GIT and commands(everything)[-1] == ".ci/run"


def test_pythons_begin_with_the_oldest(workflow: dict):
    quick = workflow["jobs"]["quick"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == f">={quick['strategy']['matrix']['python'][0]}"
    (setup,) = (step["with"] for step in quick["steps"] if "setup-python" in step.get("uses", ""))
    assert setup["python-version"] == "${{ matrix.python }}"
    assert setup["cache-dependency-path"] == "constraints.txt"


def test_it_may_only_read(workflow: dict):
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in PATH.read_text("utf-8")
    for job in workflow["jobs"].values():
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        names = [re.fullmatch(r"actions/([a-z-]+)@v\d+", name)[1] for name in used]
        assert names in (["checkout", "setup-python"], ["checkout"])
        (checkout,) = (step for step in job["steps"] if "checkout" in step.get("uses", ""))
        assert checkout["with"] == {"persist-credentials": False}


def test_hooks_before_a_commit_are_targets_of_the_makefile():
    """So their versions are those of constraints.txt."""
    text = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    (own,) = yaml.safe_load(text)["repos"]
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    entries = [hook["entry"] for hook in own["hooks"]]
    assert entries == ["make style", "make format", "make spelling", "make types"]
    assert {entry.removeprefix("make ") for entry in entries} <= set(targets)
    assert own["repo"] == "local" and {hook["language"] for hook in own["hooks"]} == {"system"}
