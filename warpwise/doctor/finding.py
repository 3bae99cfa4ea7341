"""What the doctor says of one thing, and how it asks: which packages are installed, and what a program answers."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

OK, WARN, MISSING = "ok", "warn", "missing"
SECONDS = 20  # for a program to answer
AROUND = Path(__file__).parent.parent.parent  # what the package lies in: a checkout, or where packages are installed


@dataclass(frozen=True)
class Finding:
    """One thing looked for: ``status`` is "ok", "warn" (the course works, but for what ``advice`` says) or "missing" (it does not)."""

    name: str
    status: str
    found: str
    advice: str = ""

    def __str__(self) -> str:
        advice = f"\n{'':22}{self.advice}" if self.advice else ""
        return f"{self.status:8}{self.name:14}{self.found}{advice}"


def install(extra: str) -> str:
    """The command that installs an extra: of the checkout, or of the package as it was handed out."""
    checkout = (AROUND / "pyproject.toml").exists()
    return f"python -m pip install -e '.[{extra}]'" if checkout else f"python -m pip install 'warpwise[{extra}]'"


def installed(name: str) -> str:
    """The version of an installed distribution, or an empty string."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def asked(*command: str) -> tuple[int | None, str]:
    """A program's exit status and what it printed, on either stream; None where it is not there or does not end."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None, ""
    return done.returncode, (done.stdout.strip() or done.stderr.strip())


def answer(*command: str) -> str | None:
    """What a program prints, or None if it is not there or fails."""
    status, text = asked(*command)
    return text if status == 0 else None
