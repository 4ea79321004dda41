"""Liquids that are recorded come back, to single precision, also from a file whose writer was killed."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_frames import make_frame
from made_liquids import assert_same_liquid, make_grid, make_liquid_frame

from perp.errors import FileFormatError
from perp.recording import Description, LiquidGrid, LiquidRecorder, Recorder, Recording

h5py = pytest.importorskip("h5py")

COLUMNS = ("residual", "particles")
ABOUT = Description(0.01, "dam_break", {"cells": 5}, 0, "multigrid", {"perp": "1"})


def record(path, frames, dimension=2, **others):
    with LiquidRecorder(path, make_grid(dimension), about=ABOUT, statistics=COLUMNS, **others) as recorder:
        for frame in frames:
            recorder.write(frame)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("flush_seconds", [0.0, 1e9])
def test_frames_of_a_liquid_come_back(tmp_path, dimension, flush_seconds):
    frames = [make_liquid_frame(step, dimension) for step in range(12)]
    record(tmp_path / "run.h5", frames, dimension, flush_seconds=flush_seconds)
    grid = make_grid(dimension)
    with Recording(tmp_path / "run.h5") as recording:
        assert (len(recording), recording.dimension, recording.bodies, recording.shapes) == (12, dimension, 0, ())
        assert (recording.grid.cells, recording.grid.spacing) == (grid.cells, grid.spacing)
        assert recording.grid.origin.tobytes() == grid.origin.tobytes()
        assert recording.grid.solid.tobytes() == grid.solid.tobytes()
        for wanted, found in zip(frames, recording, strict=True):
            assert_same_liquid(wanted, found)
        assert recording.description == ABOUT
        np.testing.assert_array_equal(recording.statistics["particles"][1:], [f.position.shape[0] for f in frames[1:]])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(counts=st.lists(st.integers(0, 40_000), min_size=1, max_size=5), flushed=st.booleans())
def test_any_number_of_particles_in_any_frame_comes_back(tmp_path, counts, flushed):
    frames = [make_liquid_frame(step, 2, particles) for step, particles in enumerate(counts)]
    record(tmp_path / "run.h5", frames, flush_seconds=0.0 if flushed else 1e9)
    with Recording(tmp_path / "run.h5") as recording:
        for wanted, found in zip(frames, recording, strict=True):
            assert_same_liquid(wanted, found)


def test_numbers_are_rounded_to_single_precision(tmp_path):
    frame = make_liquid_frame(1, 2, 4)
    third = replace(frame, position=np.full((4, 2), 1.0 / 3.0), pressure=np.full((5, 4), 1e-60))
    record(tmp_path / "run.h5", [third])
    with Recording(tmp_path / "run.h5") as recording:
        np.testing.assert_array_equal(recording[0].position, np.float64(np.float32(1.0 / 3.0)))
        assert not recording[0].pressure.any()


def test_what_a_recording_is_of_is_told(tmp_path):
    record(tmp_path / "run.h5", [make_liquid_frame(1)])
    with Recording(tmp_path / "run.h5") as recording:
        assert repr(recording) == "<Recording of dam_break: 1 frames of a liquid in 5 x 4 cells>"
        assert repr(recording.grid) == "<LiquidGrid: 5 x 4 cells of 0.125 m>"
        told = "<LiquidFrame: step 1, t = 0.01 s, 7 particles in 2 dimensions, "
        assert repr(recording[0]).startswith(told)
        assert (recording[0].dimension, recording.grid.dimension) == (2, 2)


def test_a_frame_of_another_kind_is_refused(tmp_path):
    with (
        LiquidRecorder(tmp_path / "run.h5", make_grid(), about=ABOUT) as recorder,
        pytest.raises(TypeError, match="the frame is a Frame; this recording is of a liquid"),
    ):
        recorder.write(make_frame(0))
    with (
        Recorder(tmp_path / "run.h5", (), bodies=2, dimension=2, about=ABOUT) as recorder,
        pytest.raises(TypeError, match="the frame is a LiquidFrame; this recording is of bodies"),
    ):
        recorder.write(make_liquid_frame(0))


GRID = make_grid()


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (replace(GRID, cells=(5,)), "grid.cells has 1 numbers"),
        (replace(GRID, cells=(5, 0)), r"grid.cells\[1\] is 0"),
        (replace(GRID, spacing=0.0), "grid.spacing is 0.0"),
        (replace(GRID, origin=np.zeros(3)), r"grid.origin has the shape \(3,\); \(2,\) is needed"),
        (replace(GRID, solid=np.zeros((5, 4))), r"grid.solid has the shape \(5, 4\); \(6, 5\) is needed"),
        (replace(GRID, solid=np.full((6, 5), np.inf)), "grid.solid: a number is not finite"),
    ],
    ids=["one axis", "no cells", "no length", "origin", "nodes", "infinite"],
)
def test_a_grid_that_makes_no_sense_is_refused_before_the_file_is_touched(tmp_path, grid, message):
    path = tmp_path / "run.h5"
    path.write_bytes(b"older")
    with pytest.raises(ValueError, match=message):
        LiquidRecorder(path, grid, about=ABOUT)
    assert path.read_bytes() == b"older"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"velocity": np.full((3, 2), np.nan)}, r"velocity\[0, 0\] of step 2 is nan"),
        ({"position": np.full((3, 2), 1e60)}, r"position\[0, 0\] of step 2 is 1e\+60"),
        ({"velocity": np.zeros((4, 2))}, r"velocity of step 2 has the shape \(4, 2\); \(3, 2\) is needed"),
        ({"pressure": np.zeros((4, 5))}, r"pressure of step 2 has the shape \(4, 5\)"),
        ({"liquid": np.zeros(20, dtype=bool)}, r"liquid of step 2 has the shape \(20,\)"),
        ({"statistics": {"residual": 1.0}}, "lacks the statistic 'particles'"),
    ],
    ids=["no number", "too large", "velocities", "pressure", "liquid", "statistics"],
)
def test_frames_that_do_not_fit_are_refused_and_the_others_stay(tmp_path, change, message):
    with LiquidRecorder(tmp_path / "run.h5", make_grid(), about=ABOUT, statistics=COLUMNS) as recorder:
        recorder.write(make_liquid_frame(1))
        with pytest.raises(ValueError, match=message):
            recorder.write(replace(make_liquid_frame(2, 2, 3), **change))
    with Recording(tmp_path / "run.h5") as recording:
        assert len(recording) == 1


def put(name, place, value):
    def change(file):
        file[name][place] = value

    return change


def swap(name, values):
    def change(file):
        del file[name]
        file.create_dataset(name, data=values)

    return change


def unwritten(name, shape):
    def change(file):
        kind = file[name].dtype
        del file[name]
        file.create_dataset(name, shape, kind, chunks=tuple(min(size, 64) for size in shape))

    return change


def spaced(value):
    def change(file):
        file.attrs["spacing"] = np.float64(value)

    return change


LIES = {
    "particles that end before they begin": (put("particles/end", 1, -2), "particles/end: frame 1 ends before"),
    "particles beyond the end": (put("particles/end", 3, 10**6), "particles/position"),
    "particles nobody wrote": (unwritten("particles/velocity", (10**12, 2)), "particles/velocity: the file declares"),
    "wide particles": (swap("particles/position", np.zeros((42, 2))), "particles/position: the type is float64"),
    "a particle nowhere": (put("particles/position", (0, 0), np.nan), "position of frame 1: a number is not finite"),
    "an infinite pressure": (put("cells/pressure", (2, 1, 1), np.inf), "pressure of frame 2: a number"),
    "a strange state": (put("cells/state", (2, 1, 1), 9), "cells/state of frame 2: there is no state 9"),
    "other cells": (swap("cells/state", np.zeros((4, 5, 5), dtype="u1")), "cells/state: the shape is (4, 5, 5)"),
    "no cells": (put("grid/cells", 0, 0), "grid/cells: 2 counts of at least 1"),
    "cells beyond measure": (put("grid/cells", 0, 2**62), "grid/solid: 6 rows of nodes"),
    "three axes": (swap("grid/cells", np.ones(3, dtype="i8")), "grid/cells: 2 counts"),
    "an origin nowhere": (put("grid/origin", 0, np.nan), "grid/origin: 2 finite numbers"),
    "a solid without numbers": (put("grid/solid", (0, 0), np.nan), "grid/solid: a number is not finite"),
    "fewer nodes": (swap("grid/solid", np.zeros((6, 4))), "grid/solid: the shape is"),
    "no length": (spaced(0.0), "attribute spacing: a length above 0"),
    "no grid": (lambda file: file.__delitem__("grid"), "grid: missing"),
    "more frames than there are": (put("frames", 0, 5), "step: 4 rows are there; 5 are needed"),
}


@pytest.fixture
def path(tmp_path):
    record(tmp_path / "run.h5", [make_liquid_frame(step) for step in range(4)])
    return tmp_path / "run.h5"


@pytest.mark.parametrize("lie", LIES)
def test_a_liquid_that_lies_is_refused_with_the_place(path, lie):
    change, message = LIES[lie]
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(FileFormatError) as caught, Recording(path) as recording:
        list(recording)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_bodies_are_not_read_as_a_liquid_nor_a_liquid_as_bodies(path):
    with h5py.File(path, "r+") as file:
        file.attrs["format"] = np.int64(1)
    with pytest.raises(FileFormatError, match="attribute bodies: missing"):
        Recording(path)


def test_the_limit_of_bytes_holds_for_a_frame(path):
    with Recording(path, max_bytes=800) as recording, pytest.raises(FileFormatError, match="frame 3: the file"):
        recording[3]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=st.data())
def test_changed_bytes_of_a_liquid_are_a_format_error_or_other_numbers(path, data):
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, min(len(content), 8000) - 1))] = data.draw(st.integers(0, 255))
    damaged = path.with_name("damaged.h5")
    damaged.write_bytes(content)
    with contextlib.suppress(FileFormatError), Recording(damaged) as recording:
        assert len(list(recording)) == len(recording)


WRITING = """
import sys
sys.path.insert(0, sys.argv[2])
from made_liquids import make_grid, make_liquid_frame
from perp.recording import Description, LiquidRecorder

with LiquidRecorder(sys.argv[1], make_grid(3), about=Description(0.01), flush_seconds=0.0,
                    statistics=("residual", "particles")) as recorder:
    for step in range(100_000):
        recorder.write(make_liquid_frame(step, 3))
        print(recorder.frames, flush=True)
"""


def test_a_killed_process_leaves_every_flushed_frame_of_a_liquid(tmp_path):
    path = tmp_path / "run.h5"
    words = [sys.executable, "-c", WRITING, str(path), str(Path(__file__).parent)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as writer:
        written = 0
        while written < 100:
            written = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        written = max([written, *(int(line) for line in writer.stdout.read().split("\n")[:-1])])
    assert writer.returncode == -signal.SIGKILL
    with Recording(path) as recording:
        assert len(recording) >= written
        for step in (0, 1, written // 2, written - 1):
            assert_same_liquid(recording[step], make_liquid_frame(step, 3))


def test_a_large_grid_is_one_chunk_a_frame(tmp_path):
    cells = (300, 300)
    with LiquidRecorder(
        tmp_path / "run.h5", LiquidGrid(cells, 1.0, np.zeros(2), np.ones((301, 301))), about=ABOUT
    ) as recorder:
        recorder.flush()
        assert recorder._datasets["cells/pressure"].chunks == (1, 300, 300)
