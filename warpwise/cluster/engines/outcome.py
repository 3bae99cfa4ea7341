"""The outcome of a run on an engine: what the ranks returned, and no trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from warpwise.cluster.record import Record
from warpwise.model.bound import duration


@dataclass(frozen=True, repr=False)
class Outcome:
    """What ``cluster.run(..., engine=...)`` returns."""

    engine: str  #: "mpi" or "gloo"
    results: tuple[Any, ...] = field(repr=False)  #: what each rank's program returned
    seconds: float  #: from the first call to the last return, measured on this machine

    def __repr__(self) -> str:
        ranks = f"{len(self.results)} rank{'s' if len(self.results) > 1 else ''}"
        return f"<{ranks} over {self.engine}: {duration(self.seconds)} measured here, and no trace>"

    def text(self) -> str:
        """Return the time, and where the tables are that it has not."""
        return f"{repr(self)[1:-1]}: run without engine=... has tables of bytes and times"

    def __getattr__(self, name: str) -> Any:
        if name in vars(Record) or name in Record.__dataclass_fields__:
            raise AttributeError(
                f"a run over {self.engine} has no trace, so no {name}: "
                "run it without engine=..., on the simulated cluster"
            )
        raise AttributeError(name)
