"""How the counters of two kernels differ, as rows for a table."""

from __future__ import annotations

from warpwise.metrics import ABOUT, NUMBERS, Metrics

Row = tuple[str, str, str, str]


def difference(one: Metrics, other: Metrics) -> list[Row]:
    """Return a row for every metric that differs: its name, both values, and the change."""
    values = [(name, getattr(one, name), getattr(other, name)) for name in NUMBERS]
    return [(_title(name), _shown(a), _shown(b), change(a, b)) for name, a, b in values if a != b]


def change(before: float, after: float) -> str:
    """Return a change in words: a factor where it is at least two, else a percentage."""
    if not before or not after:
        return "from nothing" if after else "to nothing"
    factor = max(before, after) / min(before, after)
    if factor >= 2:
        return f"{factor:,.1f} times {'as much' if after > before else 'less'}".replace(".0 ", " ")
    return f"{after / before - 1:+.1%}"


def _title(name: str) -> str:
    of_mix = f"{name.removeprefix('op_')} operations" if name.startswith("op_") else name
    return ABOUT[name].label or of_mix.replace("_", " ")


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
