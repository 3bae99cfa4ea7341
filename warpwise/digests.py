"""SHA-256 of contents, and of many files as one: by these, what was fetched or laid is known."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping


def digest(content: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def digest_of_files(digests: Mapping[str, str]) -> str:
    """Return one digest for files, of which those by name are given.

    It is that of lines with each file's digest and name, as sha256sum prints them."""
    lines = "".join(f"{one}  {name}\n" for name, one in sorted(digests.items()))
    return digest(lines.encode())
