"""Where the frames of a run go."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from perp.recording.description import Description, package_versions
from perp.recording.frame_writer import FrameWriter
from perp.recording.liquid_writer import LiquidRecorder
from perp.recording.writer import Recorder
from perp.simulation.kinds import kind_of
from perp.simulation.settings import RunSettings
from perp.worlds.world import World


def record_run(
    path: str | os.PathLike[str], settings: RunSettings, method_options: Mapping[str, str] | None = None
) -> FrameWriter:
    """A recorder that also writes down what makes the run again; `method_options` as in `RunSettings.tell`.

    Of a scene that took steps before, and of a world, it does not know all of it.
    """
    scene, world, method = settings.scene, settings.world, settings.method_name
    run = {"run": settings.tell(method_options)}
    if scene is None or world.steps > 0:
        return open_recorder(path, world, settings.dt, options=run, method=method)
    options = dict(scene.options) | run
    return open_recorder(path, world, settings.dt, scene=scene.name, options=options, seed=scene.seed, method=method)


def open_recorder(
    path: str | os.PathLike[str],
    world: World,
    dt: float,
    *,
    scene: str = "",
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    method: str = "",
) -> FrameWriter:
    """A recorder for the frames that `simulate` makes of this world."""
    about = Description(dt, scene, dict(options or {}), seed, method, package_versions())
    statistics, grid = tuple(kind_of(world).statistics), world.grid()
    if grid is not None:
        return LiquidRecorder(path, grid, about=about, statistics=statistics)
    frame = world.frame()
    bodies = len(frame.position)
    return Recorder(path, world.shapes(), bodies=bodies, dimension=frame.dimension, about=about, statistics=statistics)
