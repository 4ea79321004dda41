"""A whole run in memory, for a page that has no server behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from perp.errors import StateNotFinite
from perp.viewer.messages import Start
from perp.viewer.sessions.answers import Message, welcome
from perp.viewer.sessions.moments import Memory
from perp.viewer.sessions.refusals import Refusal
from perp.viewer.sessions.simulation import Simulation

KEEP_LITTLE = Memory(frame_bytes=0, problems=0, problem_bytes=0)
"""The frames are handed out; nobody goes back to them here."""


@dataclass(frozen=True)
class RecordedRun:
    """What an exported page holds."""

    welcome: Message
    scene: Message
    state: Message
    frames: list[bytes] = field(repr=False)
    """All of them, from step 0 on."""
    code: str
    """The Python that makes the last frame again."""
    note: str | None = None
    """Why there are fewer steps than were asked for."""


def run_steps(start: Start, steps: int, on_step: Callable[[int], object] | None = None) -> RecordedRun:
    """Simulate so many steps; `on_step` is told how many there are so far.

    A state that would become infinite ends the run early, which the note tells. Whatever else cannot be done raises a
    `Refusal`, whose message says what to do.
    """
    simulation = Simulation(start, KEEP_LITTLE)
    run = simulation.run
    scene = run.describe()
    frames = run.frames(0)
    note = None
    for number in range(1, steps + 1):
        try:
            frames += run.step()
        except Refusal as refusal:
            if not isinstance(refusal.__cause__, StateNotFinite):
                raise
            note = f"{refusal.__cause__}: there are {number - 1:,} of {steps:,} steps"
            break
        if on_step is not None:
            on_step(number)
    state = simulation.tell_state() | {"first": 0, "can_save": False}
    return RecordedRun(welcome("replay"), scene, state, frames, simulation.tell_code(run.world.steps), note)
