"""What the page is told in JSON, one function a word; `viewer/src/messages.ts` has their types."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Literal

from perp.solvers.results import Status
from perp.version import __version__
from perp.viewer.layout import LAYOUT
from perp.viewer.messages import Compare
from perp.viewer.sessions.forms import method_forms, scene_forms

Message = dict[str, Any]
"""A word to the page, ready to become JSON."""

Outgoing = Message | bytes
"""A word, or a frame."""


def welcome(mode: Literal["live", "replay"]) -> Message:
    """The first word. A replay has nothing to choose, and so no forms."""
    is_live = mode == "live"
    return {
        "type": "welcome",
        "version": __version__,
        "layout": LAYOUT,
        "mode": mode,
        "statuses": {str(status.code): status.name for status in Status},
        "methods": method_forms() if is_live else [],
        "scenes": scene_forms() if is_live else [],
    }


def state(
    *,
    playing: bool,
    speed: float | None,
    lanes: Sequence[Message],
    first: int,
    last: int,
    can_save: bool,
    compare: Compare = "off",
    suitable: list[str] | None = None,
) -> Message:
    return {
        "type": "state",
        "playing": playing,
        "speed": speed,
        "compare": compare,
        "lanes": list(lanes),
        "first": first,
        "last": last,
        "suitable": suitable,
        "can_save": can_save,
    }


def note(level: Literal["info", "warning", "error"], text: str) -> Message:
    return {"type": "note", "level": level, "text": text}


def file(name: str, content: bytes) -> Message:
    return {"type": "file", "name": name, "base64": b64encode(content).decode("ascii")}


def code(text: str) -> Message:
    return {"type": "code", "text": text}
