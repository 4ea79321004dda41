"""The files that `perp simulate` writes."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from perp.cli.errors import CommandError, refusing
from perp.errors import MissingExtra, suggest

if TYPE_CHECKING:
    from perp.cli.simulation_run import Run
    from perp.recording.frame_writer import FrameWriter
    from perp.simulation import ProblemFolder, SimulationResult
    from perp.simulation.settings import RunSettings

RECORDINGS, PICTURES, DUMPS = (".hdf5", ".h5"), (".png", ".svg", ".pdf"), ("npz", "fclib")


@dataclass(frozen=True)
class Targets:
    """Where a run writes to."""

    record: Path | None
    dump: Path | None
    dump_format: str
    plot: Path | None

    def check(self, run: Run) -> None:
        """Find out before the work, not after it, that something has no place to go or no package to make it."""
        if self.record is not None:
            from perp.recording.frame_writer import require_h5py

            with refusing(MissingExtra):
                require_h5py()
            require_target("--record", self.record, RECORDINGS)
        if self.plot is not None:
            from perp.lab.figures import require_matplotlib

            with refusing(MissingExtra):
                require_matplotlib()
            require_target("--plot", self.plot, PICTURES)
        if self.dump is not None and self.dump.exists() and not self.dump.is_dir():
            raise CommandError(f"--dump-problems {self.dump}: that is a file; the name of a folder is needed")
        if self.dump_format not in DUMPS:
            raise CommandError(f"--dump-format {self.dump_format!r} is unknown{suggest(self.dump_format, DUMPS)}")
        if self.dump_format == "fclib" and run.scene.world.grid() is not None:
            raise CommandError(f"--dump-format fclib: FCLIB holds contacts, and {run.scene.name} is a liquid; use npz")

    def open_folder(self, run: Run, stack: ExitStack) -> ProblemFolder | None:
        from perp.simulation import ProblemFolder

        if self.dump is None:
            return None
        return stack.enter_context(ProblemFolder(self.dump, run.scene.world, self.dump_format))

    def open_recorder(self, run: Run, settings: RunSettings, stack: ExitStack) -> FrameWriter | None:
        from perp.simulation.recorder import record_run

        if self.record is None:
            return None
        return stack.enter_context(record_run(self.record, settings, run.method_options))

    def draw(self, run: Run, result: SimulationResult) -> None:
        from perp.lab.scene_picture import draw_frame

        if self.plot is not None:
            settings, world = result.settings, result.world
            title = f"{run.scene.name}, {settings.method_name}, t = {result.frame.time:.4g} s"
            with refusing(OSError):
                draw_frame(result.frame, world.grid() or world.shapes(), self.plot, dt=settings.dt, title=title)

    def written(self) -> dict[str, str | None]:
        return {
            "record": None if self.record is None else str(self.record),
            "dump_problems": None if self.dump is None else str(self.dump),
            "plot": None if self.plot is None else str(self.plot),
        }


def require_target(flag: str, path: Path, suffixes: tuple[str, ...]) -> None:
    if path.suffix.lower() not in suffixes:
        raise CommandError(f"{flag} {path}: the name must end in {' or '.join(suffixes)}")
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(f"{flag} {path}: there is no such folder, or it is not a place for a file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"{flag} {path}: it cannot be written")
