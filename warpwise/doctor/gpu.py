"""GPU, driver and wheels: the first obstacle, and the command that removes it.

``Machine`` holds what was seen; the rest only draws conclusions. Which wheels go with which driver:
NVIDIA, "CUDA Compatibility", table "Driver Version Ranges"
(https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html): CUDA 13.x
needs a driver of 580 or newer, CUDA 12.x one of 525 or newer. Which GPUs: numba-cuda,
"Installation" (https://nvidia.github.io/numba-cuda/user/installation.html): CUDA 13 begins at
compute capability 7.5, CUDA 12 at 5.0."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from .finding import OK, WARN, Finding, asked, install, installed  # relative: see __main__

CU13_DRIVER, CU12_DRIVER = 580, 525
CU13_CAPABILITY = (7, 5)
# old drivers do not know the third
QUERY = ("name,driver_version,compute_cap", "name,driver_version")
DRIVERS = "https://www.nvidia.com/drivers"
CUPY = ("cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")
#: CUDA 13's libraries. Where they lie, Numba finds them before CUDA 12's, which are named ...-cu12.
LIBRARIES_13 = ("nvidia-nvvm", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-nvjitlink")
#: Those that compile kernels for a GPU, the one that is used if both are there first.
NUMBAS = ("numba-cuda", "numba-cuda-mlir")
PACKAGES = (*NUMBAS, "cuda-bindings", *CUPY, *LIBRARIES_13)
#: Variables that turn the GPU off when they are set, and what they do.
DISABLING = {
    "NUMBA_ENABLE_CUDASIM": "puts Numba's own simulator in its place",
    "NUMBA_DISABLE_CUDA": "turns CUDA off",
}
VARIABLES = (*DISABLING, "CUDA_VISIBLE_DEVICES")


@dataclass(frozen=True)
class Card:
    """A GPU as nvidia-smi reports it; ``capability`` is "" where the driver is too old to say."""

    name: str
    driver: str
    capability: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in (self.name, self.driver, self.capability) if part)


@dataclass(frozen=True)
class Machine:
    """A machine, as far as it was seen.

    ``complaint``: what nvidia-smi said instead of naming a GPU. ``trouble``: why Numba sees none,
    "" if it does. ``versions``: of PACKAGES installed. ``environment``: VARIABLES that are set.
    ``hardware``: an NVIDIA GPU on the PCI bus. ``windows``: inside the Windows Subsystem for
    Linux."""

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
        """The driver's branch, 580 for 580.65.06; 0 if unknown."""
        return _leading(self.cards[0].driver) if self.cards else 0

    @property
    def shown(self) -> str:
        """The GPUs as text."""
        return "; ".join(map(str, self.cards))

    def major(self, package: str) -> int:
        """Return the first number of a package's version; 0 if it is not installed.

        For NVIDIA's packages it is CUDA's."""
        return _leading(self.versions.get(package, ""))

    @property
    def extra(self) -> str:
        """The extra for this driver and these GPUs; "" where the driver is too old for either."""
        if not self.cards:
            return "gpu-cu13"
        if self.driver < CU12_DRIVER:
            return ""
        known = [card.capability.split(".") for card in self.cards if _leading(card.capability)]
        least = min((tuple(map(int, parts)) for parts in known), default=CU13_CAPABILITY)
        older = self.driver < CU13_DRIVER or least < CU13_CAPABILITY
        return "gpu-cu12" if older else "gpu-cu13"


def look(root: Path = Path("/")) -> Machine:
    """Look at this machine. ``root``: the folder of the system's files."""
    status, text = None, ""
    for query in QUERY:
        status, text = asked("nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader")
        if status == 0:
            break
    lines = [line for line in text.splitlines() if "," in line] if status == 0 else []
    return Machine(
        cards=tuple(map(_card, lines)),
        complaint=" ".join(text.split()) if status is not None and not lines else "",
        trouble=trouble(),
        versions={name: version for name in PACKAGES if (version := installed(name))},
        environment={name: os.environ[name] for name in VARIABLES if name in os.environ},
        hardware=any(_is_nvidia(device) for device in root.glob("sys/bus/pci/devices/*")),
        container=any((root / name).exists() for name in (".dockerenv", "run/.containerenv")),
        windows=(root / "dev/dxg").exists() or (root / "usr/lib/wsl").exists(),
    )


def trouble() -> str:
    """Return why Numba sees no GPU, in one line; "" where it sees one."""
    try:
        cuda = import_module("warpwise.cuda.numba_backend").load()
        if cuda.is_available():
            return ""
        said = str(cuda.cuda_error() or "no CUDA device, or no compiler (NVVM) for it")
    except Exception as error:  # no Numba, or wheels that do not fit each other
        said = f"{type(error).__name__}: {error}"
    return next((line.strip() for line in said.splitlines() if line.strip()), "no reason given")


def gpu(machine: Machine) -> Finding:
    """Find out whether kernels run on a GPU here, and if not, the first obstacle."""
    for obstacle in OBSTACLES:
        if finding := obstacle(machine):
            return finding
    if machine.cards:
        found = f"{machine.shown} (name, driver, compute capability)"
    else:
        found = "seen by Numba; the driver's nvidia-smi is not on the path"
    return Finding("GPU", OK, found)


def wheels(machine: Machine) -> Finding:
    """Find out whether what is installed is all of one CUDA."""
    cupys = [name for name in CUPY if name in machine.versions]
    bindings = machine.major("cuda-bindings")
    beside = f"beside cuda-bindings {machine.versions.get('cuda-bindings')}"
    newer = [name for name in LIBRARIES_13 if machine.major(name) >= 13]
    extra = machine.extra if machine.cards else "gpu-cu12" if bindings == 12 else "gpu-cu13"
    if len(cupys) > 1:
        found = f"{' and '.join(cupys)}: both are the package cupy, and overwrite each other"
        return Finding("GPU wheels", WARN, found, swap(cupys, extra))
    if cupys and bindings and cupys[0] != f"cupy-cuda{bindings}x":
        found = f"{cupys[0]} {beside}: they have to be of one CUDA"
        return Finding("GPU wheels", WARN, found, swap(_of_another_cuda(machine, extra), extra))
    if bindings == 12 and newer:
        found = f"{', '.join(newer)} of CUDA 13 {beside}: Numba would find them first"
        return Finding("GPU wheels", WARN, found, swap(newer, "gpu-cu12"))
    named = [f"{name} {of}" for name, of in machine.versions.items() if name not in LIBRARIES_13]
    return Finding("GPU wheels", OK, "; ".join(named) or "none; the simulator does not need any")


def swap(away: list[str], extra: str) -> str:
    """Return the command that uninstalls packages and installs what fits."""
    if not extra:
        update = f"update the driver to {CU13_DRIVER} or newer ({DRIVERS})"
        return f"{update}, then {install('gpu-cu13')}"
    return (
        f"python -m pip uninstall -y {' '.join(away)} && {install(extra)}"
        if away
        else install(extra)
    )


def _of_another_cuda(machine: Machine, extra: str) -> list[str]:
    """Return what is installed and would be in the way of an extra's wheels."""
    right = extra.removeprefix("gpu-cu")
    cupys = [name for name in CUPY if name in machine.versions and name != f"cupy-cuda{right}x"]
    return cupys + [name for name in LIBRARIES_13 if right == "12" and machine.major(name) >= 13]


def _warn(found: str, advice: str) -> Finding:
    return Finding("GPU", WARN, found, advice)


def _hidden(m: Machine) -> Finding | None:
    """Look for an environment variable that hides the GPU."""
    given, cards = m.environment, m.shown or "nvidia-smi does not answer"
    for name, what in DISABLING.items():
        if given.get(name, "0") not in ("", "0"):
            return _warn(f"{cards}; {name}={given[name]} {what}", f"unset {name}")
    visible = given.get("CUDA_VISIBLE_DEVICES", "0")
    if m.cards and visible.strip() in ("", "-1", "NoDevFiles"):
        found = f"{cards}; hidden by CUDA_VISIBLE_DEVICES={visible!r}"
        return _warn(found, "unset CUDA_VISIBLE_DEVICES")
    return None


def _no_driver(m: Machine) -> Finding | None:
    """Look for a machine without nvidia-smi, where Numba sees nothing."""
    if m.cards or m.complaint or not m.trouble:
        return None
    if m.hardware and m.container:
        found = "an NVIDIA GPU in this machine, but not in this container"
        return _warn(found, "start the container with it: docker run --gpus all ...")
    if m.windows:
        where = f"install the driver in Windows, none in WSL ({DRIVERS})"
        advice = f"for an NVIDIA GPU: {where}, and run wsl --update there"
        return Finding("GPU", OK, "none; inside WSL the driver is that of Windows", advice)
    if m.hardware:
        advice = f"install NVIDIA's driver, {CU13_DRIVER} or newer: {DRIVERS}"
        return _warn("an NVIDIA GPU, but no driver", advice)
    found = "none; labs run on the simulator, and times are modelled instead of measured"
    return Finding("GPU", OK, found)


def _no_answer(m: Machine) -> Finding | None:
    """Look for an nvidia-smi that names no GPU."""
    if m.cards or not m.complaint or not m.trouble:
        return None
    if "mismatch" in m.complaint:
        advice = "restart the machine: the driver was updated while the old one was running"
    elif m.container:
        advice = "start the container with the GPU: docker run --gpus all ..."
    else:
        driver = f"reinstall NVIDIA's driver, {CU13_DRIVER} or newer: {DRIVERS}"
        advice = f"restart the machine, or {driver}"
    return _warn(f"nvidia-smi: {m.complaint}", advice)


def _no_numba(m: Machine) -> Finding | None:
    if any(name in m.versions for name in NUMBAS) or not m.trouble or not m.extra:
        return None
    return _warn(f"{m.shown}; numba-cuda is not installed", install(m.extra))


def _old_driver(m: Machine) -> Finding | None:
    if not m.cards or m.extra:
        return None
    needs = f"CUDA 12 needs a driver of {CU12_DRIVER} or newer, CUDA 13 one of {CU13_DRIVER}"
    return _warn(f"{m.shown}; {needs}", swap([], ""))


def _wheels_too_new(m: Machine) -> Finding | None:
    """Look for wheels of CUDA 13 with a driver, or a GPU, that only CUDA 12 supports."""
    if m.extra != "gpu-cu12" or m.major("cuda-bindings") < 13:
        return None
    needs = f"a compute capability below {'.'.join(map(str, CU13_CAPABILITY))}"
    if m.driver < CU13_DRIVER:
        needs = f"the driver is older than {CU13_DRIVER}"
    wheels = f"the wheels are CUDA 13's (cuda-bindings {m.versions['cuda-bindings']})"
    advice = swap(_of_another_cuda(m, "gpu-cu12"), "gpu-cu12")
    return _warn(f"{m.shown}; {wheels}, and {needs}", advice)


def _not_seen(m: Machine) -> Finding | None:
    """Look for a driver and wheels that fit, where Numba still sees nothing."""
    if not m.trouble:
        return None
    if "driver library cannot be found" not in m.trouble:
        advice = install(m.extra)
    elif m.windows:
        advice = "export LD_LIBRARY_PATH=/usr/lib/wsl/lib"
    elif m.container:
        options = "--gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        advice = f"start the container with libcuda: docker run {options} ..."
    else:
        part = "libcuda.so.1 is a part of the driver"
        advice = f"{part}: sudo ldconfig, or reinstall the driver: {DRIVERS}"
    return _warn(f"{m.shown}; Numba cannot use it: {m.trouble}", advice)


#: Each looks for one obstacle, and returns a finding if it is there.
OBSTACLES: tuple[Callable[[Machine], Finding | None], ...] = (
    _hidden,
    _no_driver,
    _no_answer,
    _no_numba,
    _old_driver,
    _wheels_too_new,
    _not_seen,
)


def _card(line: str) -> Card:
    name, driver, *more = (part.strip() for part in line.split(","))
    return Card(name, driver, more[0] if more and _leading(more[0]) else "")


def _leading(text: str) -> int:
    """Return the number that a version begins with, 0 if it begins with none."""
    digits = text.split(".")[0]
    return int(digits) if digits.isdigit() else 0


def _is_nvidia(device: Path) -> bool:
    """True if a device of the PCI bus is a GPU (class 0x03....) of NVIDIA's (vendor 0x10de)."""
    try:
        vendor, kind = ((device / name).read_text().strip() for name in ("vendor", "class"))
    except OSError:
        return False
    return vendor == "0x10de" and kind.startswith("0x03")
