"""What is recorded comes back bit by bit."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_frames import assert_same_frame, make_frame, make_shapes

from perp.errors import MissingExtra
from perp.recording import Description, Recorder, Recording, Shape

h5py = pytest.importorskip("h5py")

COLUMNS = ("residual", "iterations")
ABOUT = Description(0.01, "pool1", {"discs": 5, "model": "cone", "gap": None}, 2**70, "pgs", {"perp": "1"})


def record(path, frames, dimension=3, bodies=5, shapes=(), **others):
    with Recorder(
        path, shapes, bodies=bodies, dimension=dimension, about=ABOUT, statistics=COLUMNS, **others
    ) as recorder:
        for frame in frames:
            recorder.write(frame)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("flush_seconds", [0.0, 1e9])
def test_frames_come_back_bit_by_bit(tmp_path, dimension, flush_seconds):
    frames = [make_frame(step, dimension=dimension) for step in range(20)]
    record(tmp_path / "run.hdf5", frames, dimension, flush_seconds=flush_seconds)
    with Recording(tmp_path / "run.hdf5") as recording:
        assert len(recording) == 20
        for wanted, found in zip(frames, recording, strict=True):
            assert_same_frame(wanted, found)
        assert_same_frame(recording[-1], frames[-1])
        np.testing.assert_array_equal(recording.step, np.arange(20))
        np.testing.assert_array_equal(recording.time, 0.01 * np.arange(20))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(counts=st.lists(st.integers(0, 9000), min_size=1, max_size=6), flushed=st.booleans())
def test_any_number_of_contacts_in_any_frame_comes_back(tmp_path, counts, flushed):
    frames = [make_frame(step, 3, 2, contacts) for step, contacts in enumerate(counts)]
    record(tmp_path / "run.hdf5", frames, 2, 3, flush_seconds=0.0 if flushed else 1e9)
    with Recording(tmp_path / "run.hdf5") as recording:
        for wanted, found in zip(frames, recording, strict=True):
            assert_same_frame(wanted, found)


def test_the_description_and_the_columns_come_back(tmp_path):
    record(tmp_path / "run.hdf5", [make_frame(step) for step in range(4)])
    with Recording(tmp_path / "run.hdf5") as recording:
        assert recording.description == ABOUT
        assert (recording.scene, recording.seed, recording.dt, recording.method) == ("pool1", 2**70, 0.01, "pgs")
        assert recording.options == ABOUT.options
        assert set(recording.statistics) == set(COLUMNS)
        assert np.isnan(recording.statistics["residual"][0])
        np.testing.assert_array_equal(recording.statistics["iterations"][1:], [1.0, 2.0, 3.0])
        assert repr(recording) == "<Recording of pool1: 4 frames of 5 bodies>"


@pytest.mark.parametrize("dimension", [2, 3])
def test_shapes_come_back(tmp_path, dimension):
    shapes = make_shapes(dimension)
    record(tmp_path / "run.hdf5", [make_frame(0, dimension=dimension)], dimension, shapes=shapes)
    with Recording(tmp_path / "run.hdf5") as recording:
        assert len(recording.shapes) == len(shapes)
        for wanted, found in zip(shapes, recording.shapes, strict=True):
            assert (wanted.form, wanted.body, wanted.size) == (found.form, found.body, found.size)
            assert (wanted.color, wanted.name) == (found.color, found.name)
            for name in ("position", "orientation", "faces"):
                np.testing.assert_array_equal(getattr(wanted, name), getattr(found, name))
            assert wanted.vertices.tobytes() == found.vertices.tobytes()


def test_frames_are_found_by_number_as_in_a_list(tmp_path):
    record(tmp_path / "run.hdf5", [make_frame(step) for step in range(3)])
    with Recording(tmp_path / "run.hdf5") as recording:
        assert recording[-3].step == recording[0].step == 0
        assert recording[np.int64(2)].step == 2
        for wrong in (3, -4):
            with pytest.raises(IndexError, match=f"frame {wrong} of 3"):
                recording[wrong]
        with pytest.raises(TypeError):
            recording[1.5]


def test_what_a_world_changes_afterwards_is_not_recorded(tmp_path):
    frame = make_frame(3)
    before = make_frame(3)
    with Recorder(tmp_path / "run.hdf5", (), bodies=5, dimension=3, about=ABOUT, statistics=COLUMNS) as recorder:
        recorder.write(frame)
        frame.position[:] = 7.0
        frame.contacts.impulse[:] = 7.0
    with Recording(tmp_path / "run.hdf5") as recording:
        assert_same_frame(recording[0], before)


def test_a_recording_replaces_an_older_one_and_may_be_empty(tmp_path):
    record(tmp_path / "run.hdf5", [make_frame(step) for step in range(9)])
    record(tmp_path / "run.hdf5", [])
    with Recording(tmp_path / "run.hdf5") as recording:
        assert len(recording) == 0
        assert list(recording) == []


def test_an_error_inside_the_block_keeps_the_frames(tmp_path):
    def frames():
        yield make_frame(1)
        yield make_frame(2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        record(tmp_path / "run.hdf5", frames())
    with Recording(tmp_path / "run.hdf5") as recording:
        assert len(recording) == 2


def test_nothing_can_be_written_after_the_end(tmp_path):
    with Recorder(tmp_path / "run.hdf5", (), bodies=5, dimension=3, about=ABOUT) as recorder:
        pass
    recorder.close()
    with pytest.raises(ValueError, match="closed"):
        recorder.write(make_frame(3))


def test_a_flush_that_is_interrupted_is_done_again(tmp_path, monkeypatch):
    frames = [make_frame(step) for step in range(6)]
    with Recorder(
        tmp_path / "run.hdf5", (), bodies=5, dimension=3, about=ABOUT, statistics=COLUMNS, flush_seconds=1e9
    ) as recorder:
        for frame in frames[:4]:
            recorder.write(frame)
        flush, calls = recorder._file.flush, []

        def press():
            calls.append(None)
            if len(calls) == 1:
                raise KeyboardInterrupt
            flush()

        monkeypatch.setattr(recorder._file, "flush", press)
        with pytest.raises(KeyboardInterrupt):
            recorder.flush()
        for frame in frames[4:]:
            recorder.write(frame)
    assert len(calls) == 2
    with Recording(tmp_path / "run.hdf5") as recording:
        for wanted, found in zip(frames, recording, strict=True):
            assert_same_frame(wanted, found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bodies": 0}, "bodies is 0"),
        ({"dimension": 4}, "dimension is 4"),
        ({"about": Description(0.0)}, "dt is 0.0"),
        ({"about": Description(0.1, options={"x": object()})}, "cannot be written as JSON"),
        ({"shapes": [Shape("ball", 0)]}, r"shapes\[0\].form is 'ball'"),
        ({"shapes": [Shape("segment", 0, vertices=np.zeros((2, 2)))]}, r"shapes\[0\].vertices has the shape \(2, 2\)"),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_file_is_touched(tmp_path, change, message):
    path = tmp_path / "run.hdf5"
    path.write_bytes(b"older")
    words = {"shapes": (), "bodies": 5, "dimension": 3, "about": ABOUT} | change
    with pytest.raises(ValueError, match=message):
        Recorder(path, words.pop("shapes"), **words)
    assert path.read_bytes() == b"older"


def test_frames_that_do_not_fit_are_refused_and_the_others_stay(tmp_path):
    broken = make_frame(2)
    broken.velocity[3, 1] = np.nan
    with Recorder(tmp_path / "run.hdf5", (), bodies=5, dimension=3, about=ABOUT, statistics=COLUMNS) as recorder:
        recorder.write(make_frame(1))
        with pytest.raises(ValueError, match=r"velocity\[3, 1\] of step 2 is nan"):
            recorder.write(broken)
        with pytest.raises(ValueError, match=r"position of step 2 has the shape \(6, 3\)"):
            recorder.write(make_frame(2, bodies=6))
    with Recording(tmp_path / "run.hdf5") as recording:
        assert len(recording) == 1
    with (
        Recorder(tmp_path / "other.hdf5", (), bodies=5, dimension=3, about=ABOUT) as recorder,
        pytest.raises(ValueError, match="no column 'residual'"),
    ):
        recorder.write(make_frame(1))


def test_a_place_that_cannot_be_written_is_told_as_open_tells_it(tmp_path):
    for path, kind in ((tmp_path / "nowhere" / "run.hdf5", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(kind) as caught:
            Recorder(path, (), bodies=5, dimension=3, about=ABOUT)
        assert caught.value.filename == str(path)


def test_without_h5py_the_remedy_is_told(tmp_path, monkeypatch):
    record(tmp_path / "run.hdf5", [])
    monkeypatch.setitem(sys.modules, "h5py", None)
    for attempt in (lambda: record(tmp_path / "run.hdf5", []), lambda: Recording(tmp_path / "run.hdf5")):
        with pytest.raises(MissingExtra, match=r"a recording.* needs h5py"):
            attempt()
