"""What a reader moves: the controls of a widget, as HTML with their first values. The script reads them by their names.

Names are Python identifiers, different within a widget. Labels and words are HTML.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Slider:
    """A range input with its label and, beside it, its value, or other words that the script puts there."""

    name: str
    label: str
    least: int
    most: int
    value: int

    @property
    def html(self) -> str:
        control = f'<input type="range" id="{self.name}" name="{self.name}" min="{self.least}" max="{self.most}" value="{self.value}">'
        return _field(self.name, f"{_label(self.name, self.label)}{_output(self.name, self.value)}", control)


@dataclass(frozen=True)
class Choice:
    """A select input. ``options`` maps what the script sees to what the reader sees."""

    name: str
    label: str
    options: dict[str, str] = field(hash=False)
    value: str

    @property
    def html(self) -> str:
        listed = "".join(f'<option value="{key}"{" selected" * (key == self.value)}>{text}</option>' for key, text in self.options.items())
        select = f'<select id="{self.name}" name="{self.name}">{listed}</select>'
        return _field(self.name, _label(self.name, self.label), select)


def device_choice(names: Iterable[str], value: str) -> Choice:
    """The choice of a device, by the names of the table."""
    return Choice("device", "device", {name: name for name in names}, value)


@dataclass(frozen=True)
class Check:
    """A checkbox."""

    name: str
    label: str
    value: bool = False

    @property
    def html(self) -> str:
        box = f'<input type="checkbox" id="{self.name}" name="{self.name}"{" checked" * self.value}>'
        return f'<div class="field check {self.name}">{box}{_label(self.name, self.label)}</div>'


@dataclass(frozen=True)
class Player(Slider):
    """A slider over time, with buttons that step back, play and step on."""

    @property
    def html(self) -> str:
        back, play, on = (f'<button type="button">{word}</button>' for word in ("Back", "Play", "Next"))
        return f'<div class="player">{back}{play}{super().html}{on}</div>'


@dataclass(frozen=True)
class Stepper(Slider):
    """A slider with buttons that step back and on, for what is no time."""

    @property
    def html(self) -> str:
        back, on = (f'<button type="button">{word}</button>' for word in ("Previous", "Next"))
        return f'<div class="stepper">{back}{super().html}{on}</div>'


@dataclass(frozen=True)
class Hidden:
    """A value that the script sets itself, such as the row that was chosen in a table."""

    name: str
    value: str

    @property
    def html(self) -> str:
        return f'<input type="hidden" name="{self.name}" value="{self.value}">'


Control = Slider | Choice | Check | Player | Stepper | Hidden


def form(controls: tuple[Control, ...]) -> str:
    """All controls, in their order."""
    return f'<form class="auto">{"".join(control.html for control in controls)}</form>'


def _label(name: str, text: str) -> str:
    return f'<label for="{name}">{text}</label>'


def _output(name: str, value: int) -> str:
    return f'<output for="{name}">{value}</output>'


def _field(name: str, head: str, control: str) -> str:
    return f'<div class="field {name}"><span>{head}</span>{control}</div>'
