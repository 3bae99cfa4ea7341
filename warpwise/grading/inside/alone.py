"""Give up all rights, set the limits, then play a part, in a container of one submission.

    python -I -S alone.py PART LIMITS < job

It is ``start`` without namespaces, which such a container cannot make: only the user number and
the refused system calls keep the grader's files and processes out of reach."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
from pathlib import Path

CHILD_SUBREAPER = 36  # prctl(2), PR_SET_CHILD_SUBREAPER


def main() -> None:
    part, limits = sys.argv[1], json.loads(sys.argv[2])
    sys.path[:0] = [str(Path(__file__).resolve().parent), *limits["path"]]
    import room
    from serve import die_with_parent
    from start import become, confine, play, stay_first

    # if memory runs out, the kernel ends this process and not the grader
    Path("/proc/self/oom_score_adj").write_text("1000")
    room.libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans stay below this process

    def end() -> None:
        become(limits["uid"])
        os.kill(-1, signal.SIGKILL)

    stay_first(limits, end)  # as root, whom the child cannot end
    confine(limits)
    die_with_parent()
    room.refuse_calls(base64.b64decode(limits["seccomp"]))
    play(part)


if __name__ == "__main__":
    main()
