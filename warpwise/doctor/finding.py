"""A finding of the doctor, and its questions: the installed packages, and what programs answer."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

OK, WARN, MISSING = "ok", "warn", "missing"
SECONDS = 120  # for a program to answer, on a busy machine too
# the folder around the package: a checkout, or where packages are installed
AROUND = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Finding:
    """One thing looked for: its name, its status, what was found, and advice if there is any.

    ``status`` is "ok", "warn" (the course works, except for what ``advice`` says) or "missing" (it
    does not)."""

    name: str
    status: str
    found: str
    advice: str = ""

    def __str__(self) -> str:
        advice = f"\n{'':22}{self.advice}" if self.advice else ""
        return f"{self.status:8}{self.name:14}{self.found}{advice}"


def install(extra: str) -> str:
    """Return the command that installs an extra: of the checkout, or of the installed package."""
    checkout = (AROUND / "pyproject.toml").exists()
    what = f"-e '.[{extra}]'" if checkout else f"'warpwise[{extra}]'"
    return f"python -m pip install {what}"


def installed(name: str) -> str:
    """Return the version of an installed distribution, or an empty string."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def asked(*command: str) -> tuple[int | None, str]:
    """Run a program and return its exit status and output, on either stream.

    The status is None where the program is missing or does not end."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None, ""
    return done.returncode, (done.stdout.strip() or done.stderr.strip())


def answer(*command: str) -> str:
    """Return what a program prints, or an empty string if it is missing or fails."""
    status, text = asked(*command)
    return text if status == 0 else ""
