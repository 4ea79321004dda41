"""What a new process is told when it takes the place of one that did not answer any more."""

from __future__ import annotations

from dataclasses import replace

from perp.viewer.messages import Build, ChooseCompare, ChooseMethod, Command, Speed, Start


class Wishes:
    """What the page has asked for so far, as far as it outlasts the world: scene, methods, comparison and speed."""

    def __init__(self, start: Start) -> None:
        self.start = start
        """What a new process begins with."""
        self._methods: dict[int, ChooseMethod] = {}
        self._compare: ChooseCompare | None = None
        self._speed: Speed | None = None

    def note(self, command: Command) -> None:
        """The page has said this."""
        match command:
            case Build() if self.start.replay is None:
                self._build(command)
            case ChooseMethod():
                self._methods[command.lane] = command
            case ChooseCompare():
                self._compare = command
            case Speed():
                self._speed = command
            case _:
                pass

    def commands(self) -> list[Command]:
        """What a new process hears first; methods come as commands, since a wrong one is then no more than a note."""
        told = (self._methods.get(0), self._compare, self._methods.get(1), self._speed)
        return [command for command in told if command is not None]

    def _build(self, wish: Build) -> None:
        if wish.scene == self.start.scene:
            # the law of friction is an option of the scene, where it has one
            model = None if "model" in wish.options else self.start.model
            self.start = replace(self.start, options=wish.options, seed=wish.seed, model=model)
        else:  # another scene comes with its own method, step and law of friction
            self.start = Start(scene=wish.scene, options=wish.options, seed=wish.seed)
            self._methods.pop(0, None)
