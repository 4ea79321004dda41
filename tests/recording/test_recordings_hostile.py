"""Files that lie: every fault is one FileFormatError that names the place (hard inputs, rows 85 and 86)."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_frames import assert_same_frame, make_frame, make_shapes

from perp.errors import FileFormatError
from perp.recording import Description, Recorder, Recording
from perp.recording.guarded_columns import is_unfinished, lookup3

h5py = pytest.importorskip("h5py")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "run.hdf5"
    about = Description(0.01, "pool1", {"discs": 5}, 3, "pgs")
    columns = ("residual", "iterations")
    with Recorder(file, make_shapes(3), bodies=5, dimension=3, about=about, statistics=columns) as recorder:
        for step in range(4):
            recorder.write(make_frame(step))
    return file


def read_all(path, **words):
    with Recording(path, **words) as recording:
        return list(recording), recording.shapes, recording.statistics


def replace(file, name, values, **words):
    del file[name]
    file.create_dataset(name, data=values, **words)


def grow(file, name, shape):
    kind = file[name].dtype
    del file[name]
    file.create_dataset(name, shape, kind, chunks=tuple(min(size, 64) for size in shape))


def link_away(file):
    del file["position"]
    file["position"] = h5py.ExternalLink("/etc/passwd", "/position")


def link_softly(file):
    del file["position"]
    file["position"] = h5py.SoftLink("/velocity")


def make_virtual(file):
    layout = h5py.VirtualLayout((4, 5, 3), "f8")
    layout[:] = h5py.VirtualSource("elsewhere.hdf5", "position", (4, 5, 3))
    del file["position"]
    file.create_virtual_dataset("position", layout)


def compress(file):
    replace(file, "position", file["position"][()], compression="gzip", chunks=(1, 5, 3))


def set_attribute(name, value):
    def change(file):
        del file.attrs[name]
        file.attrs[name] = value

    return change


def put(name, place, value):
    def change(file):
        file[name][place] = value

    return change


LIES = {
    "an external link": (link_away, "position: a soft or external link"),
    "a soft link": (link_softly, "position: a soft or external link"),
    "a virtual dataset": (make_virtual, "position: its numbers lie in another file"),
    "compressed numbers": (compress, "position: compressed"),
    "more frames than there are": (put("frames", 0, 5), "step: 4 rows are there; 5 are needed"),
    "a billion frames": (put("frames", 0, 10**9), "step: 4 rows"),
    "steps of no length": (set_attribute("dt", np.float64(0.0)), "dt: the length of a step is 0.0"),
    "steps whose length is no number": (set_attribute("dt", np.float64("nan")), "dt: the length of a step is nan"),
    "a negative count": (put("frames", 0, -1), "frames: one count"),
    "rows that were never written": (lambda f: grow(f, "position", (4, 5, 3)), "declares 480 bytes and holds only 0"),
    "terabytes": (lambda f: grow(f, "contacts/point", (10**12, 3)), "contacts/point: the file declares"),
    "another shape": (lambda f: replace(f, "position", np.zeros((4, 6, 3))), "position: the shape is"),
    "another type": (lambda f: replace(f, "time", np.zeros(4, dtype="f4")), "time: the type is float32"),
    "a missing column": (lambda f: f.__delitem__("contacts/gap"), "contacts/gap: missing"),
    "a group for a column": (lambda f: (f.__delitem__("spin"), f.create_group("spin")), "spin: a dataset must stand"),
    "contacts that end before they begin": (put("contacts/end", 1, -2), "frame 1 ends before it begins"),
    "contacts beyond the end": (put("contacts/end", 3, 10**6), "contacts/bodies"),
    "a contact of no body": (put("contacts/bodies", 0, 99), "there is no body 99"),
    "a position that is no number": (put("position", (2, 1, 1), np.nan), "position of frame 2: a number"),
    "a shape of no form": (put("shapes/form", 0, 77), "form: entry 0 is 77"),
    "a shape of no body": (put("shapes/body", 1, 12), "body: entry 1 is 12"),
    "a face without vertices": (put("shapes/faces", (0, 0), 9), "faces of shape 1"),
    "vertices that end nowhere": (put("shapes/vertex_end", 0, 99), "vertex_end"),
    "fewer bodies of shapes": (lambda f: replace(f, "shapes/body", np.zeros(2, dtype="i4")), "shapes/body: 2 rows"),
    "another layout": (set_attribute("format", 3), "the layout is number 3; this perp reads numbers 1 and 2"),
    "no dimension": (set_attribute("dimension", 7), "frames in 7 dimensions"),
    "options that are no JSON": (set_attribute("options", np.bytes_("{")), "attribute options: no JSON"),
    "options that are a list": (set_attribute("options", np.bytes_("[]")), "attribute options: a dict is needed"),
    "options without end": (set_attribute("options", np.bytes_("[" * 60_000)), "attribute options: no JSON"),
    "text that lies elsewhere": (set_attribute("scene", "variable length"), "attribute scene"),
    "numbers for text": (set_attribute("scene", np.arange(9)), "attribute scene"),
    "no seed": (lambda f: f.attrs.__delitem__("seed"), "attribute seed: missing"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_lies_is_refused_with_the_place(path, lie):
    change, message = LIES[lie]
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(FileFormatError) as caught:
        read_all(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_the_limit_of_bytes_holds_for_columns_and_for_frames(path):
    read_all(path, max_bytes=4096)
    with pytest.raises(FileFormatError, match="max_bytes=40 allows no more"):
        read_all(path, max_bytes=40)
    with (
        Recording(path, max_bytes=200) as recording,
        pytest.raises(FileFormatError, match="frame 3: the file declares"),
    ):
        recording[3]


@pytest.mark.parametrize(
    "content", [b"", b"no HDF5 at all, but a text that goes on for a while", b"\x89HDF\r\n\x1a\n" * 9]
)
def test_what_is_no_hdf5_is_refused(tmp_path, content):
    file = tmp_path / "run.hdf5"
    file.write_bytes(content)
    with pytest.raises(FileFormatError):
        Recording(file)


def test_hdf5_that_is_no_recording_is_refused(tmp_path):
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["x"] = np.zeros(3)
    with pytest.raises(FileFormatError, match="attribute format: missing"):
        Recording(tmp_path / "other.hdf5")


def test_a_missing_file_is_told_as_open_tells_it(tmp_path):
    with pytest.raises(FileNotFoundError):
        Recording(tmp_path / "nothing.hdf5")


def test_the_layout_is_plain_hdf5_for_anybody_else(path):
    with h5py.File(path, "r") as file:  # closed well: no special mode is needed
        assert file["position"].shape == (4, 5, 3)
        assert json.loads(file.attrs["options"]) == {"discs": 5}
        assert file["contacts/end"][-1] == len(file["contacts/gap"])


@pytest.fixture
def unfinished(path):
    """The same file as a killed process would have left it."""
    with Recording(path) as recording:
        shapes, frames = recording.shapes, list(recording)
    growing, left = path.with_name("growing.hdf5"), path.with_name("left.hdf5")
    columns = ("residual", "iterations")
    with Recorder(growing, shapes, bodies=5, dimension=3, about=Description(0.01), statistics=columns) as recorder:
        for frame in frames:
            recorder.write(frame)
        recorder.flush()
        left.write_bytes(growing.read_bytes())
    return left


def test_a_file_that_was_never_closed_is_read_as_one_that_was(path, unfinished):
    assert is_unfinished(unfinished)
    assert not is_unfinished(path)
    with pytest.raises(OSError, match="already open for write"):
        h5py.File(unfinished, "r")
    for one, other in zip(read_all(path)[0], read_all(unfinished)[0], strict=True):
        assert_same_frame(one, other)


def test_a_superblock_that_is_damaged_as_well_is_refused(unfinished):
    content = bytearray(unfinished.read_bytes())
    content[40] ^= 1
    unfinished.write_bytes(content)
    with pytest.raises(FileFormatError, match="the superblock is damaged"):
        Recording(unfinished)


def test_the_checksum_is_that_of_jenkins():
    assert lookup3(b"Four score and seven years ago") == 0x17770551  # his own example


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=st.data())
@pytest.mark.parametrize("which", ["path", "unfinished"])
def test_changed_bytes_are_a_format_error_or_other_numbers_but_nothing_else(request, which, data):
    source = request.getfixturevalue(which)
    content = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, min(len(content), 6000) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(1, len(content)))]
    damaged = source.with_name("damaged.hdf5")
    damaged.write_bytes(content)
    lengths = [0]
    with contextlib.suppress(FileFormatError):
        frames, _, statistics = read_all(damaged)
        lengths = [len(frames), *map(len, statistics.values())]
    assert len(set(lengths)) == 1
