"""One rank's process of a run that ``start`` began: ``python -m ... FOLDER ENGINE [RANK RANKS]``.

It reads the program from the folder, and leaves there what its rank returned or raised."""

from __future__ import annotations

import os
import sys
import time
import traceback
from pathlib import Path

from warpwise.cluster.engines.apart import Rank, StalledError
from warpwise.cluster.engines.gloo import Gloo
from warpwise.cluster.engines.job import DONE, FAILED, STALLED, leave, read_job
from warpwise.cluster.engines.mpi import Mpi
from warpwise.cluster.engines.wire import GoneError, Transport
from warpwise.cluster.sites import note_rank

LINGER = 30.0  #: seconds until a process ends by itself that failed, and that nobody ended


def main(folder: Path, engine: str, place: list[int]) -> None:
    """Run one rank. ``place``: its number and how many there are, where no launcher knows."""
    for stream in (sys.stdout, sys.stderr):  # a line is one write: the ranks share a pipe
        stream.reconfigure(line_buffering=True, write_through=False)  # type: ignore[union-attr]
    number = place[0] if place else int(os.environ.get("PMI_RANK", 0))
    try:
        transport: Transport = Gloo(f"file://{folder}/store", *place) if place else Mpi()
        number, job = transport.rank, read_job(folder)
        sys.argv[:] = job.command
        rank = Rank(transport, **job.options)
        begin = time.time()
        result = rank.call(job.program, *job.arguments(number))
        leave(folder, number, DONE, result, begin, time.time())
    except StalledError as error:
        leave(folder, number, STALLED, str(error), error.waits)
    except GoneError as error:
        leave(folder, number, STALLED, str(error), str(error))
    except Exception as error:
        note_rank(error, number)
        leave(folder, number, FAILED, error, traceback.format_exc())
    else:
        rank.close()
        return
    time.sleep(LINGER)
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [int(one) for one in sys.argv[3:]])
