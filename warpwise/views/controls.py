"""The controls of a widget, as HTML with their first values. The script reads them by their names.

Names are Python identifiers, different within a widget. Labels and words are HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Slider:
    """A range input with its label and, beside it, its value or what the script puts there."""

    name: str
    label: str
    least: int
    most: int
    value: int

    @property
    def html(self) -> str:
        name, span = self.name, f'min="{self.least}" max="{self.most}" value="{self.value}"'
        output = f'<output for="{name}">{self.value}</output>'
        control = f'<input type="range" id="{name}" name="{name}" {span}>'
        return _field(name, f"{_label(name, self.label)}{output}", control)


@dataclass(frozen=True)
class Choice:
    """A select input. ``options`` maps what the script sees to what the reader sees."""

    name: str
    label: str
    options: dict[str, str] = field(hash=False)
    value: str

    @property
    def html(self) -> str:
        listed = "".join(
            f'<option value="{key}"{" selected" * (key == self.value)}>{text}</option>'
            for key, text in self.options.items()
        )
        select = f'<select id="{self.name}" name="{self.name}">{listed}</select>'
        return _field(self.name, _label(self.name, self.label), select)


def device_choice(names: Iterable[str], value: str) -> Choice:
    """Make the choice of a device, by the names of the table."""
    return Choice("device", "device", {name: name for name in names}, value)


@dataclass(frozen=True)
class Check:
    """A checkbox."""

    name: str
    label: str
    value: bool = False

    @property
    def html(self) -> str:
        name, checked = self.name, " checked" * self.value
        box = f'<input type="checkbox" id="{name}" name="{name}"{checked}>'
        return f'<div class="field check {name}">{box}{_label(name, self.label)}</div>'


@dataclass(frozen=True)
class Player(Slider):
    """A slider over time, with buttons that step back, play and step on."""

    @property
    def html(self) -> str:
        back, play, on = map(_button, ("Back", "Play", "Next"))
        return f'<div class="player">{back}{play}{super().html}{on}</div>'


@dataclass(frozen=True)
class Stepper(Slider):
    """A slider with buttons that step back and on, for what does not happen over time."""

    @property
    def html(self) -> str:
        back, on = map(_button, ("Previous", "Next"))
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


def form(
    controls: tuple[Control, ...],
    more: tuple[Control, ...] = (),
    last: tuple[Control, ...] = (),
) -> str:
    """Return all controls as one form, in their order, with ``more`` of them folded."""
    first, folded, end = (_joined(some) for some in (controls, more, last))
    if more:
        folded = f'<details class="more"><summary>More</summary><div>{folded}</div></details>'
    return f'<form class="auto">{first}{folded}{end}</form>'


def _joined(controls: tuple[Control, ...]) -> str:
    return "".join(control.html for control in controls)


def _label(name: str, text: str) -> str:
    return f'<label for="{name}">{text}</label>'


def _button(word: str) -> str:
    return f'<button type="button">{word}</button>'


def _field(name: str, head: str, control: str) -> str:
    return f'<div class="field {name}"><span>{head}</span>{control}</div>'
