"""What the page may say, one class a word. `viewer/src/messages.ts` has the same words, and those of the answers.

Commands are plain data: they are made of the page's JSON, checked, and handed to the process that simulates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

OptionValue = float | int | str | bool | None | tuple[float, ...]
"""What an option of a method or of a scene may be."""

Compare = Literal["off", "same_state", "own_ways"]
"""Two methods side by side: on the problem of the same state in every step, or each on its own way from now on."""

SaveFormat = Literal["npz", "fclib"]

Message = dict[str, Any]
"""A word to the page, ready to become JSON."""

Outgoing = Message | bytes
"""A word, or a frame."""


@dataclass(frozen=True)
class Acknowledge:
    """The page has drawn this frame: one more may come."""

    serial: int


@dataclass(frozen=True)
class Play:
    """Take steps until another command; in a replay, from the frame that is shown."""


@dataclass(frozen=True)
class Pause:
    """Take no more steps."""


@dataclass(frozen=True)
class Step:
    """Take so many steps, and no more."""

    count: int = 1


@dataclass(frozen=True)
class Reset:
    """Build the same scene again; methods stay."""


@dataclass(frozen=True)
class Speed:
    """Simulated seconds in a second; None: as fast as it goes."""

    factor: float | None


@dataclass(frozen=True)
class Build:
    """Build a scene. Its own method takes the first lane where the scene is another one than before."""

    scene: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True)
class ChooseMethod:
    """From the next step on this method works in this lane; the world stays as it is."""

    lane: int
    name: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    tol: float | None = None
    max_iterations: int | None = None


@dataclass(frozen=True)
class ChooseCompare:
    """One lane or two, and how they hang together."""

    mode: Compare


@dataclass(frozen=True)
class Seek:
    """Show the frame at this place again."""

    place: int


@dataclass(frozen=True)
class Save:
    """Hand out the problem of this step, with what the solver found."""

    format: SaveFormat
    place: int
    lane: int = 0


@dataclass(frozen=True)
class TellCode:
    """The Python that reproduces the step at this place."""

    place: int


Command = (
    Acknowledge | Play | Pause | Step | Reset | Speed | Build | ChooseMethod | ChooseCompare | Seek | Save | TellCode
)


@dataclass(frozen=True)
class Start:
    """What a connection begins with: a scene and a method, or a recording."""

    scene: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    seed: int = 0
    model: str | None = None
    """The law of friction, where it is not the scene's own."""
    compliance: tuple[float, str] | None = None
    """`contact_compliance` and `compliance_units` of the world, where they are not the scene's own."""
    method: str | None = None
    """None: the scene's own."""
    method_options: Mapping[str, OptionValue] = field(default_factory=dict)
    tol: float | None = None
    max_iterations: int | None = None
    dt: float | None = None
    """[s]; None: the scene's own."""
    replay: str | None = None
    """Path of a recording, in the place of all others."""
