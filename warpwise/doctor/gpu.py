"""The way to a GPU, from its driver to the wheels: what stands in it, and the command that takes it away.

``Machine`` holds what was seen, and the rest only thinks about it. Which wheels go with which driver: NVIDIA, "CUDA Compatibility",
table "Driver Version Ranges" (https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html): CUDA 13.x needs a
driver of 580 or newer, CUDA 12.x one of 525 or newer. Which GPUs: numba-cuda, "Installation"
(https://nvidia.github.io/numba-cuda/user/installation.html): CUDA 13 begins at compute capability 7.5, CUDA 12 at 5.0.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from .finding import OK, WARN, Finding, asked, install, installed  # relative: see __main__

CU13_DRIVER, CU12_DRIVER = 580, 525
CU13_CAPABILITY = (7, 5)
QUERY = ("name,driver_version,compute_cap", "name,driver_version")  # old drivers do not know the third
DRIVERS = "https://www.nvidia.com/drivers"
CUPY = ("cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")
#: CUDA 13's libraries. Where they lie, Numba finds them before CUDA 12's, which are named ...-cu12.
LIBRARIES_13 = ("nvidia-nvvm", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-nvjitlink")
PACKAGES = ("numba-cuda", "cuda-bindings", *CUPY, *LIBRARIES_13)
VARIABLES = ("NUMBA_ENABLE_CUDASIM", "NUMBA_DISABLE_CUDA", "CUDA_VISIBLE_DEVICES")


@dataclass(frozen=True)
class Card:
    """A GPU as nvidia-smi tells of it; ``capability`` is "" where the driver is too old to say."""

    name: str
    driver: str
    capability: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in (self.name, self.driver, self.capability) if part)


@dataclass(frozen=True)
class Machine:
    """What was seen. ``complaint``: what nvidia-smi said instead of naming a GPU. ``trouble``: why Numba sees none, "" if it does.

    ``hardware``: an NVIDIA GPU on the PCI bus. ``windows``: inside the Windows Subsystem for Linux. ``versions``: of PACKAGES installed.
    """

    cards: tuple[Card, ...] = ()
    complaint: str = ""
    trouble: str = "no GPU"
    versions: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    hardware: bool = False
    container: bool = False
    windows: bool = False

    @property
    def driver(self) -> int:
        """The driver's branch, 580 for 580.65.06; 0 where nobody tells."""
        return _leading(self.cards[0].driver) if self.cards else 0

    def major(self, package: str) -> int:
        """The first number of a package's version, which is CUDA's for NVIDIA's packages; 0 if it is not installed."""
        return _leading(self.versions.get(package, ""))

    @property
    def extra(self) -> str:
        """The extra for this driver and these GPUs; "" where the driver is too old for either."""
        capabilities = [tuple(map(int, card.capability.split("."))) for card in self.cards if _leading(card.capability)]
        if self.cards and self.driver < CU12_DRIVER:
            return ""
        older = self.cards and (self.driver < CU13_DRIVER or min(capabilities, default=CU13_CAPABILITY) < CU13_CAPABILITY)
        return "gpu-cu12" if older else "gpu-cu13"


def look(root: Path = Path("/")) -> Machine:
    """What is to be seen here. ``root``: where the system's files are."""
    status, text = None, ""
    for query in QUERY:
        status, text = asked("nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader")
        if status == 0:
            break
    cards = tuple(_card(line) for line in text.splitlines() if line.count(",")) if status == 0 else ()
    complaint = " ".join(text.split()) if status is not None and not cards else ""
    versions = {name: version for name in PACKAGES if (version := installed(name))}
    return Machine(
        cards, complaint, trouble(), versions, {name: os.environ[name] for name in VARIABLES if name in os.environ},
        hardware=any(_is_nvidia(device) for device in root.glob("sys/bus/pci/devices/*")),
        container=any((root / name).exists() for name in (".dockerenv", "run/.containerenv")),
        windows=(root / "dev/dxg").exists() or (root / "usr/lib/wsl").exists(),
    )  # fmt: skip


def trouble() -> str:
    """Why Numba sees no GPU, in one line; "" where it sees one."""
    try:
        cuda = import_module("numba.cuda")
        if cuda.is_available():
            return ""
        said = str(cuda.cuda_error() or "no CUDA device, or no compiler (NVVM) for it")
    except Exception as error:  # no Numba, or wheels that do not fit each other: that is the finding
        said = f"{type(error).__name__}: {error}"
    return next((line.strip() for line in said.splitlines() if line.strip()), "no reason given")


def gpu(machine: Machine) -> Finding:
    """Whether kernels run on a GPU here, and else the first thing that stands in the way."""
    found = "; ".join(map(str, machine.cards)) or "seen by Numba; the driver's nvidia-smi is not on the path"
    for obstacle in (_by_a_variable, _no_driver, _no_answer, _no_numba, _old_driver, _wheels_too_new, _not_seen):
        if told := obstacle(machine):
            return Finding("GPU", *told)
    return Finding("GPU", OK, f"{found} (name, driver, compute capability)" if machine.cards else found)


def wheels(machine: Machine) -> Finding:
    """Whether what is installed is all of one CUDA."""
    cupys = [name for name in CUPY if name in machine.versions]
    bindings = machine.major("cuda-bindings")
    of = "; ".join(f"{name} {version}" for name, version in machine.versions.items() if name not in LIBRARIES_13)
    newer = [name for name in LIBRARIES_13 if machine.major(name) >= 13]
    extra = machine.extra if machine.cards else "gpu-cu12" if bindings == 12 else "gpu-cu13"
    if len(cupys) > 1:
        told = f"{' and '.join(cupys)}: both are the package cupy, and overwrite each other"
        return Finding("GPU wheels", WARN, told, swap(cupys, extra))
    if cupys and bindings and cupys[0] != f"cupy-cuda{bindings}x":
        told = f"{cupys[0]} beside cuda-bindings {machine.versions['cuda-bindings']}: one CUDA is needed"
        return Finding("GPU wheels", WARN, told, swap(_of_another_cuda(machine, extra), extra))
    if bindings == 12 and newer:
        told = f"{', '.join(newer)} of CUDA 13 beside cuda-bindings {machine.versions['cuda-bindings']}: Numba would find them first"
        return Finding("GPU wheels", WARN, told, swap(newer, "gpu-cu12"))
    return Finding("GPU wheels", OK, of or "none; the simulator needs none")


def swap(away: list[str], extra: str) -> str:
    """The command that takes packages away and installs what fits."""
    put = install(extra) if extra else f"update the driver to {CU13_DRIVER} or newer ({DRIVERS}), then {install('gpu-cu13')}"
    return f"python -m pip uninstall -y {' '.join(away)} && {put}" if away and extra else put


def _of_another_cuda(machine: Machine, extra: str) -> list[str]:
    """What is installed and would be in the way of an extra's wheels."""
    right = extra.removeprefix("gpu-cu")
    cupys = [name for name in CUPY if name in machine.versions and name != f"cupy-cuda{right}x"]
    return cupys + [name for name in LIBRARIES_13 if right == "12" and machine.major(name) >= 13]


# Each of these looks for one obstacle and returns (status, found, advice), or None.


def _by_a_variable(m: Machine) -> tuple[str, str, str] | None:
    given = m.environment
    cards = "; ".join(map(str, m.cards)) or "no driver's answer"
    for name, what in (("NUMBA_ENABLE_CUDASIM", "puts Numba's own simulator in its place"), ("NUMBA_DISABLE_CUDA", "turns CUDA off")):
        if given.get(name, "0") not in ("", "0"):
            return WARN, f"{cards}; {name}={given[name]} {what}", f"unset {name}"
    if m.cards and given.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1", "NoDevFiles"):
        return WARN, f"{cards}; hidden by CUDA_VISIBLE_DEVICES={given['CUDA_VISIBLE_DEVICES']!r}", "unset CUDA_VISIBLE_DEVICES"
    return None


def _no_driver(m: Machine) -> tuple[str, str, str] | None:
    """No nvidia-smi, and Numba sees nothing."""
    if m.cards or m.complaint or not m.trouble:
        return None
    if m.hardware and m.container:
        return WARN, "an NVIDIA GPU in this machine, but not in this container", "start the container with it: docker run --gpus all ..."
    if m.windows:
        told = "none; inside WSL the driver is that of Windows"
        return OK, told, f"for an NVIDIA GPU: install the driver in Windows, none in WSL ({DRIVERS}), and run wsl --update there"
    if m.hardware:
        return WARN, "an NVIDIA GPU, but no driver", f"install NVIDIA's driver, {CU13_DRIVER} or newer: {DRIVERS}"
    return OK, "none; labs run on the simulator, and times are modelled instead of measured", ""


def _no_answer(m: Machine) -> tuple[str, str, str] | None:
    """An nvidia-smi that names no GPU."""
    if m.cards or not m.complaint or not m.trouble:
        return None
    if "mismatch" in m.complaint:
        return WARN, f"nvidia-smi: {m.complaint}", "restart the machine: the driver was updated while the old one was at work"
    if m.container:
        return WARN, f"nvidia-smi: {m.complaint}", "start the container with the GPU: docker run --gpus all ..."
    return WARN, f"nvidia-smi: {m.complaint}", f"restart the machine, or install NVIDIA's driver anew, {CU13_DRIVER} or newer: {DRIVERS}"


def _no_numba(m: Machine) -> tuple[str, str, str] | None:
    if "numba-cuda" in m.versions or not m.trouble or not m.extra:
        return None
    return WARN, f"{'; '.join(map(str, m.cards))}; numba-cuda is not installed", install(m.extra)


def _old_driver(m: Machine) -> tuple[str, str, str] | None:
    if not m.cards or m.extra:
        return None
    told = f"{'; '.join(map(str, m.cards))}; CUDA 12 needs a driver of {CU12_DRIVER} or newer, CUDA 13 one of {CU13_DRIVER}"
    return WARN, told, swap([], "")


def _wheels_too_new(m: Machine) -> tuple[str, str, str] | None:
    """Wheels of CUDA 13 with a driver, or a GPU, of CUDA 12's days."""
    if m.extra != "gpu-cu12" or m.major("cuda-bindings") < 13:
        return None
    needs = (
        f"the driver is older than {CU13_DRIVER}" if m.driver < CU13_DRIVER
        else f"a compute capability below {'.'.join(map(str, CU13_CAPABILITY))}"
    )  # fmt: skip
    told = f"{'; '.join(map(str, m.cards))}; the wheels are CUDA 13's (cuda-bindings {m.versions['cuda-bindings']}), and {needs}"
    return WARN, told, swap(_of_another_cuda(m, "gpu-cu12"), "gpu-cu12")


def _not_seen(m: Machine) -> tuple[str, str, str] | None:
    """A driver and wheels that fit, and still Numba sees nothing."""
    if not m.trouble:
        return None
    told = f"{'; '.join(map(str, m.cards))}; Numba cannot use it: {m.trouble}"
    if "driver library cannot be found" not in m.trouble:
        return WARN, told, install(m.extra)
    if m.windows:
        return WARN, told, "export LD_LIBRARY_PATH=/usr/lib/wsl/lib"
    if m.container:
        return WARN, told, "start the container with libcuda: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ..."
    return WARN, told, f"libcuda.so.1 is a part of the driver: sudo ldconfig, or install the driver anew: {DRIVERS}"


def _card(line: str) -> Card:
    name, driver, *more = (part.strip() for part in line.split(","))
    return Card(name, driver, more[0] if more and _leading(more[0]) else "")


def _leading(text: str) -> int:
    """The number that a version begins with, 0 if it begins with none."""
    digits = text.split(".")[0]
    return int(digits) if digits.isdigit() else 0


def _is_nvidia(device: Path) -> bool:
    """Whether a device of the PCI bus is a GPU (class 0x03....) of NVIDIA's (vendor 0x10de)."""
    try:
        return (device / "vendor").read_text().strip() == "0x10de" and (device / "class").read_text().startswith("0x03")
    except OSError:
        return False
