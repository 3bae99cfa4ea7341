"""The first thing that runs where a whole container is one submission's: give up all rights, set the limits, then play the part.

    python -I -S alone.py PART LIMITS < job

It is ``start`` without namespaces, which such a container cannot make: what keeps the grader's files and processes out of reach is the
user number alone, and the refused system calls.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path


def main() -> None:
    part, limits = sys.argv[1], json.loads(sys.argv[2])
    sys.path[:0] = [str(Path(__file__).resolve().parent), *limits["path"]]
    import room
    from serve import die_with_parent
    from start import confine, play

    Path("/proc/self/oom_score_adj").write_text("1000")  # where memory runs out, this ends, and not the grader
    confine(limits)
    die_with_parent()
    room.refuse_calls(base64.b64decode(limits["seccomp"]))
    play(part)


if __name__ == "__main__":
    main()
