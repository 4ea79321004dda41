"""Every step's problem in a file of its own, with the impulses or pressures that the step used as its solution."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from perp.errors import FileFormatError, suggest
from perp.extras import h5py
from perp.problems.files import save
from perp.worlds.report import StepReport
from perp.worlds.world import World

SUFFIXES = {"npz": ".npz", "fclib": ".hdf5"}


class ProblemFolder:
    """`DIR/step_000001.npz` (or `.hdf5`, which is FCLIB), and so on. The folder is made if need be.

    Used in a `with` block, it is not left behind empty where the block ends by an error.

    FCLIB knows friction cones and contacts alone: worlds with another law are refused here, problems with joints,
    limits or motors at the first step that has one.
    """

    path: Path
    suffix: str

    def __init__(self, path: str | os.PathLike[str], world: World, form: str = "npz") -> None:
        if form not in SUFFIXES:
            raise ValueError(f"the format is {form!r}{suggest(form, SUFFIXES)}")
        self.path, self.suffix = Path(path), SUFFIXES[form]
        if form == "fclib":
            h5py.require()
            if world.grid() is not None:
                raise FileFormatError(f"{self.path}: FCLIB holds contacts, and a liquid has none; dump .npz")
            model = getattr(world, "model", "cone")
            if model != "cone":
                raise FileFormatError(
                    f"{self.path}: FCLIB means the friction cone, and this world has model={model!r}; "
                    f"choose the cone, or dump .npz"
                )
        older = sorted(self.path.glob("step_*"))
        if older:
            raise FileFormatError(f"{self.path}: problems of another run are here ({older[0].name}); name a new folder")
        self._made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        self.path.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> ProblemFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._remove_empty()

    def _remove_empty(self) -> None:
        """Folders that were made here and have nothing in them."""
        for folder in self._made:
            try:
                folder.rmdir()
            except OSError:  # it is not empty
                return

    def write(self, report: StepReport) -> None:
        save(report.problem, self.path / f"step_{report.step:06d}{self.suffix}", x=report.x)
