"""The problem of a step as a file for the user to keep."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from perp.errors import FileFormatError, MissingExtra, one_line
from perp.problems.files import save
from perp.simulation.run import SUFFIXES
from perp.viewer.messages import SaveFormat
from perp.viewer.sessions.answers import Message, file
from perp.viewer.sessions.moments import Solved
from perp.viewer.sessions.refusals import Refusal

LARGEST_FILE = 64 << 20
"""Bytes that go to a browser in one piece."""


def name_file(scene: str, step: int, form: SaveFormat, lane: int = 0) -> str:
    """`stack_step_000120.npz`; of the second lane `stack_step_000120_second.npz`."""
    return f"{scene}_step_{step:06d}{'_second' if lane else ''}{SUFFIXES[form]}"


def pack_problem(solved: Solved, name: str, largest: int = LARGEST_FILE) -> Message:
    """The `FileMessage` with this problem, and what the solver found, in the format that the name's suffix means."""
    with TemporaryDirectory(prefix="perp_view_") as folder:
        path = Path(folder, name)
        try:
            save(solved.problem, path, x=solved.x)
        except (FileFormatError, MissingExtra) as error:
            raise Refusal(one_line(error).replace(str(path), name)) from error
        size = path.stat().st_size
        if size > largest:
            raise Refusal(
                f"{name} has {size / 2**20:.0f} MiB, and a page takes {largest >> 20}: "
                f"let `perp simulate --dump-problems DIR` write it"
            )
        return file(name, path.read_bytes())
