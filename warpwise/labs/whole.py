"""Write a file whole: whoever reads it, or finds it after a crash, meets the old one or the new."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def whole(path: Path, text: str, private: bool = False) -> None:
    """Write a text, for others to read too unless it is ``private``. Raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}-")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, 0o600 if private else 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
