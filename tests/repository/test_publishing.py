"""The workflow that publishes the site: the Makefile's commands, few rights, one branch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from support.paths import ROOT

from warpwise.book import SITE
from warpwise.book.parts.laying import VARIABLE

PATH = ROOT / ".github/workflows/site.yml"
ONLY_DEFAULT_BRANCH = "github.ref_name == github.event.repository.default_branch"


@pytest.fixture(scope="module")
def workflow() -> dict:
    # YAML 1.1 reads the key "on" as true.
    return {
        "on" if key is True else key: value
        for key, value in yaml.safe_load(PATH.read_text("utf-8")).items()
    }


def steps(workflow: dict, job: str) -> list[dict]:
    return workflow["jobs"][job]["steps"]


def test_every_command_is_a_target_of_the_makefile(workflow: dict):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    commands = [
        step["run"] for job in workflow["jobs"] for step in steps(workflow, job) if "run" in step
    ]
    assert commands == ["make book"]
    assert {command.removeprefix("make ") for command in commands} <= targets


def test_a_site_without_editors_is_not_published(workflow: dict):
    (build,) = [step for step in steps(workflow, "build") if step.get("run") == "make book"]
    assert build["env"][VARIABLE] == "required" and build["env"][SITE].startswith("https://")


def test_what_is_published_is_what_make_book_writes(workflow: dict):
    (upload,) = [
        step for step in steps(workflow, "build") if "upload-pages-artifact" in step.get("uses", "")
    ]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert f"INDEX := {upload['with']['path']}/index.html" in makefile


def test_actions_are_the_official_ones_at_a_version(workflow: dict):
    used = [
        step["uses"] for job in workflow["jobs"] for step in steps(workflow, job) if "uses" in step
    ]
    names = "checkout", "setup-python", "upload-pages-artifact", "deploy-pages"
    assert [re.fullmatch(r"actions/([a-z-]+)@v\d+", name)[1] for name in used] == [*names]


def test_rights_are_the_least(workflow: dict):
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["build"]["permissions"] == {"contents": "read"}
    assert workflow["jobs"]["publish"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert "secrets." not in PATH.read_text("utf-8") and "pull_request" not in workflow["on"]
    assert steps(workflow, "build")[0]["with"] == {"persist-credentials": False}


def test_only_the_default_branch_is_published(workflow: dict):
    assert workflow["jobs"]["build"]["if"] == ONLY_DEFAULT_BRANCH
    assert workflow["jobs"]["publish"]["needs"] == "build"


def test_python_is_the_oldest_that_the_package_runs_on(workflow: dict):
    (setup,) = [
        step["with"] for step in steps(workflow, "build") if "setup-python" in step.get("uses", "")
    ]
    assert f'requires-python = ">={setup["python-version"]}"' in Path(
        ROOT / "pyproject.toml"
    ).read_text("utf-8")


def package() -> dict:
    return yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text("utf-8"))


def test_the_package_is_what_make_dist_writes():
    build, publish = (package()["jobs"][job] for job in ("build", "publish"))
    assert [step["run"] for step in build["steps"] if "run" in step] == ["make dist"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert f"hatchling build -d {build['steps'][-1]['with']['path']}" in makefile
    assert build["steps"][-1]["with"]["name"] == publish["steps"][0]["with"]["name"]


def test_only_the_step_that_publishes_can_say_who_it_is():
    """Trusted publishing: no password, and the job that runs the checkout's code has no right."""
    workflow = package()
    build, publish = (workflow["jobs"][job] for job in ("build", "publish"))
    assert workflow["permissions"] == {} and build["permissions"] == {"contents": "read"}
    assert publish["permissions"] == {"id-token": "write"}
    assert [step["uses"].partition("@")[0] for step in publish["steps"]] == [
        "actions/download-artifact",
        "pypa/gh-action-pypi-publish",
    ]
    assert "secrets." not in (ROOT / ".github/workflows/publish.yml").read_text("utf-8")
