"""The doctor on GPUs, drivers and wheels; its advice names only what exists.

A stand-in for nvidia-smi answers as NVIDIA's does, and folders stand for installed packages, with
their names and versions. The doctor itself runs whole, in an interpreter that sees only these."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from support.paths import ROOT

from warpwise.doctor import OK, WARN, gpu
from warpwise.doctor.gpu import Card, Machine

pytestmark = pytest.mark.unix("its programs are shell scripts, its packages symbolic links")

# The interpreter itself, without its site-packages, and with the folder that is given.
BARE = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import runpy
runpy.run_module("warpwise.doctor", run_name="__main__")
"""
H200, T4, V100 = "NVIDIA H200, {}, 9.0", "Tesla T4, {}, 7.5", "Tesla V100-SXM2-16GB, {}, 7.0"
CU13 = {
    "numba-cuda": "0.30.4",
    "cuda-bindings": "13.5.0",
    "cupy-cuda13x": "14.2.0",
    "nvidia-nvvm": "13.5.37",
}
CU12 = {"numba-cuda": "0.30.4", "cuda-bindings": "12.9.10", "cupy-cuda12x": "14.2.0"}
PUT = "python -m pip install -e '.[{}]'"
NEW_DRIVER = (
    "update the driver to 580 or newer (https://www.nvidia.com/drivers), "
    f"then {PUT.format('gpu-cu13')}"
)
AWAY_13 = "python -m pip uninstall -y cupy-cuda13x nvidia-nvvm && " + PUT.format("gpu-cu12")


class Computer:
    """A stand-in for a computer: a folder for site-packages, and one for programs.

    Like a checkout, it has a pyproject.toml."""

    def __init__(self, folder: Path):
        self.packages, self.programs = folder / "packages", folder / "bin"
        self.packages.mkdir(), self.programs.mkdir()
        installed = Path(numpy.__file__).parent.parent
        for path in [
            installed / "numpy",
            *installed.glob("numpy.libs"),
            *installed.glob("numpy-*.dist-info"),
            ROOT / "warpwise",
        ]:
            (self.packages / path.name).symlink_to(path)
        (self.packages / "pyproject.toml").touch()

    def install(self, versions: dict[str, str]) -> None:
        for name, version in versions.items():
            folder = self.packages / f"{name.replace('-', '_')}-{version}.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            )

    def nvidia_smi(self, script: str) -> None:
        path = self.programs / "nvidia-smi"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def doctor(self, **environment: str) -> dict[str, tuple[str, str]]:
        """Map names to what the doctor found, with its status, and its advice."""
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CUDA_", "NUMBA_", "WARPWISE_"))
        }
        command = [sys.executable, "-I", "-S", "-c", BARE, str(self.packages)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=clean | {"PATH": str(self.programs)} | environment,
            cwd="/",
        )
        assert done.stderr == ""
        found, name = {}, ""
        for line in done.stdout.splitlines():
            if line.startswith(" "):
                found[name] = (found[name][0], line.strip())
            else:
                name = line[8:22].strip()
                found[name] = (line[:8] + line[22:], "")
        return found


@pytest.fixture
def computer(tmp_path) -> Computer:
    return Computer(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("card", "driver", "versions", "told", "advice"),
    [
        (H200, "580.65.06", {}, "numba-cuda is not installed", PUT.format("gpu-cu13")),
        (H200, "570.124.06", {}, "numba-cuda is not installed", PUT.format("gpu-cu12")),
        (H200, "525.60.13", {}, "numba-cuda is not installed", PUT.format("gpu-cu12")),
        (V100, "580.65.06", {}, "numba-cuda is not installed", PUT.format("gpu-cu12")),
        (T4, "580.65.06", {}, "numba-cuda is not installed", PUT.format("gpu-cu13")),
        (T4, "470.82.01", {}, "CUDA 12 needs a driver of 525 or newer", NEW_DRIVER),
        (T4, "470.82.01", CU12, "CUDA 12 needs a driver of 525 or newer", NEW_DRIVER),
        (
            H200,
            "570.124.06",
            CU13,
            "the wheels are CUDA 13's (cuda-bindings 13.5.0), and the driver is older than 580",
            AWAY_13,
        ),
        (
            V100,
            "580.65.06",
            CU13,
            "the wheels are CUDA 13's (cuda-bindings 13.5.0), and a compute capability below 7.5",
            AWAY_13,
        ),
        (
            H200,
            "580.65.06",
            CU13,
            "Numba cannot use it: ModuleNotFoundError: No module named 'numba'",
            PUT.format("gpu-cu13"),
        ),
        (
            H200,
            "570.124.06",
            CU12,
            "Numba cannot use it: ModuleNotFoundError: No module named 'numba'",
            PUT.format("gpu-cu12"),
        ),
    ],
)
def test_a_driver_gets_the_wheels_that_go_with_it(computer, card, driver, versions, told, advice):
    computer.nvidia_smi(f"echo '{card.format(driver)}'")
    computer.install(versions)
    found = computer.doctor()["GPU"]
    assert found[0].startswith(f"warn    {card.format(driver)}; ") and told in found[0]
    assert found[1] == advice


def test_outside_a_checkout_the_extra_is_the_packages(computer):
    computer.nvidia_smi(f"echo '{H200.format('580.65.06')}'")
    (computer.packages / "pyproject.toml").unlink()
    assert computer.doctor()["GPU"][1] == "python -m pip install 'warpwise[gpu-cu13]'"


def test_of_several_gpus_the_oldest_decides(computer):
    computer.nvidia_smi(f"echo '{H200.format('580.1')}'; echo '{V100.format('580.1')}'")
    found, advice = computer.doctor()["GPU"]
    assert found == (
        "warn    NVIDIA H200, 580.1, 9.0; Tesla V100-SXM2-16GB, 580.1, 7.0; "
        "numba-cuda is not installed"
    )
    assert advice == PUT.format("gpu-cu12")


def test_a_driver_too_old_to_know_the_question_is_asked_another(computer):
    refuses = 'Field "compute_cap" is not a valid field to query.'
    computer.nvidia_smi(
        f"case \"$1\" in *compute_cap*) echo '{refuses}'; exit 2;; esac; "
        "echo 'Tesla K80, 450.80.02'"
    )
    found = computer.doctor()["GPU"]
    assert found[0].startswith("warn    Tesla K80, 450.80.02; ") and found[1] == NEW_DRIVER


@pytest.mark.slow
@pytest.mark.parametrize(
    ("versions", "told", "advice"),
    [
        (CU13, OK, ""),
        (CU12, OK, ""),
        ({}, OK, ""),
        (
            CU13 | {"cupy-cuda12x": "14.2.0"},
            "cupy-cuda12x and cupy-cuda13x: both are the package cupy",
            "python -m pip uninstall -y cupy-cuda12x cupy-cuda13x && " + PUT.format("gpu-cu13"),
        ),
        (
            CU13 | {"cupy-cuda12x": "14.2.0", "cupy-cuda13x": None},
            "cupy-cuda12x beside cuda-bindings 13.5.0",
            "python -m pip uninstall -y cupy-cuda12x && " + PUT.format("gpu-cu13"),
        ),
        (
            CU12 | {"cupy-cuda13x": "14.2.0", "cupy-cuda12x": None},
            "cupy-cuda13x beside cuda-bindings 12.9.10",
            "python -m pip uninstall -y cupy-cuda13x && " + PUT.format("gpu-cu12"),
        ),
        (
            CU12 | {"nvidia-nvvm": "13.5.37"},
            "nvidia-nvvm of CUDA 13 beside cuda-bindings 12.9.10: Numba would find them first",
            "python -m pip uninstall -y nvidia-nvvm && " + PUT.format("gpu-cu12"),
        ),
    ],
)
def test_wheels_of_one_cuda_go_together(computer, versions, told, advice):
    computer.install({name: version for name, version in versions.items() if version})
    found = computer.doctor()["GPU wheels"]
    assert told in found[0] and found[1] == advice
    assert found[0].startswith(OK if told == OK else WARN)


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        (
            "NUMBA_ENABLE_CUDASIM",
            "1",
            "NUMBA_ENABLE_CUDASIM=1 puts Numba's own simulator in its place",
        ),
        ("NUMBA_DISABLE_CUDA", "1", "NUMBA_DISABLE_CUDA=1 turns CUDA off"),
        ("CUDA_VISIBLE_DEVICES", "", "hidden by CUDA_VISIBLE_DEVICES=''"),
        ("CUDA_VISIBLE_DEVICES", "-1", "hidden by CUDA_VISIBLE_DEVICES='-1'"),
    ],
)
def test_a_variable_that_hides_the_gpu_is_named(computer, variable, value, told):
    computer.nvidia_smi(f"echo '{H200.format('580.1')}'")
    computer.install(CU13)
    found = computer.doctor(**{variable: value})["GPU"]
    assert told in found[0] and found[1] == f"unset {variable}"


def test_variables_that_hide_nothing_are_not(computer):
    computer.nvidia_smi(f"echo '{H200.format('580.1')}'")
    assert (
        "numba-cuda is not installed"
        in computer.doctor(NUMBA_ENABLE_CUDASIM="0", CUDA_VISIBLE_DEVICES="0")["GPU"][0]
    )


def test_a_driver_at_odds_with_itself_wants_a_restart(computer):
    computer.nvidia_smi(
        "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18"
    )
    found = computer.doctor()["GPU"]
    assert "Driver/library version mismatch" in found[0] and found[1].startswith(
        "restart the machine"
    )


# --- stand-ins for other systems, and for a Numba that meets a driver ---

SEEN = Machine((Card("NVIDIA H200", "580.65.06", "9.0"),), trouble="", versions=CU13)
NO_LIBRARY = replace(SEEN, trouble="CUDA driver library cannot be found.")
GONE = Machine(trouble="CUDA driver library cannot be found.", versions=CU13)


@pytest.mark.parametrize(
    ("machine", "status", "advice"),
    [
        (SEEN, OK, ""),
        (replace(SEEN, cards=()), OK, ""),
        (GONE, OK, ""),
        (replace(GONE, hardware=True), WARN, "install NVIDIA's driver, 580 or newer"),
        (replace(GONE, hardware=True, container=True), WARN, "docker run --gpus all"),
        (replace(GONE, windows=True), OK, "install the driver in Windows, none in WSL"),
        (
            replace(GONE, complaint="No devices were found", container=True),
            WARN,
            "docker run --gpus all",
        ),
        (NO_LIBRARY, WARN, "sudo ldconfig, or reinstall the driver"),
        (replace(NO_LIBRARY, windows=True), WARN, "export LD_LIBRARY_PATH=/usr/lib/wsl/lib"),
        (replace(NO_LIBRARY, container=True), WARN, "NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
        (
            replace(SEEN, trouble="Call to cuInit results in CUDA_ERROR_NO_DEVICE (100)"),
            WARN,
            PUT.format("gpu-cu13"),
        ),
    ],
)
def test_what_stands_between_numba_and_the_gpu(machine, status, advice):
    found = gpu.gpu(machine)
    assert found.status == status
    assert advice in found.advice if advice else found.advice == ""


def test_the_system_is_looked_at(tmp_path):
    assert (
        gpu.look(tmp_path).hardware,
        gpu.look(tmp_path).container,
        gpu.look(tmp_path).windows,
    ) == (False, False, False)
    device = tmp_path / "sys/bus/pci/devices/0000:01:00.0"
    device.mkdir(parents=True)
    (device / "vendor").write_text("0x10de\n")
    (device / "class").write_text("0x040300\n")  # the sound of such a card
    assert not gpu.look(tmp_path).hardware
    (device / "class").write_text("0x030200\n")
    (tmp_path / ".dockerenv").touch()
    (tmp_path / "dev/dxg").mkdir(parents=True)
    assert (
        gpu.look(tmp_path).hardware,
        gpu.look(tmp_path).container,
        gpu.look(tmp_path).windows,
    ) == (True, True, True)


# --- the extras ---

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def test_the_extras_are_of_one_cuda_each():
    for version in ("12", "13"):
        numba_cuda, cupy = EXTRAS[f"gpu-cu{version}"]
        assert (
            numba_cuda.startswith(f"numba-cuda[cu{version}]==0.30.")
            and cupy == f"cupy-cuda{version}x[ctk]"
        )


def test_every_extra_that_is_mentioned_exists():
    texts = {
        path: path.read_text("utf-8")
        for pattern in ("*.md", "chapters/**/*.md", "warpwise/**/*.py", "solutions/*.md")
        for path in ROOT.glob(pattern)
    }
    mention = re.compile(r"(?:\.|warpwise)\[([\w, -]+)\]['\"]")
    mentioned = {
        name
        for text in texts.values()
        for extras in mention.findall(text)
        for name in extras.split(",")
    }
    assert {"gpu-cu12", "gpu-cu13", "labs", "dev"} <= mentioned <= set(EXTRAS)


def test_the_page_has_the_doctors_table():
    page = (ROOT / "chapters/reference_cli.md").read_text("utf-8")
    assert (
        f"| `gpu-cu13` | {gpu.CU13_DRIVER} or newer | "
        f"{'.'.join(map(str, gpu.CU13_CAPABILITY))} or newer"
    ) in page
    assert f"| `gpu-cu12` | {gpu.CU12_DRIVER} or newer |" in page
