"""Recordings whose writer was killed, still writes, or ran out of room: every flushed frame can be read."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from made_frames import assert_same_frame, make_frame

from perp.recording import Recording

h5py = pytest.importorskip("h5py")

WRITING = """
import sys
sys.path.insert(0, sys.argv[2])
from made_frames import make_frame
from perp.recording import Description, Recorder

if sys.argv[3:]:
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
with Recorder(sys.argv[1], (), bodies=50, dimension=3, about=Description(0.01), flush_seconds=0.0,
              statistics=("residual", "iterations")) as recorder:
    for step in range(100_000):
        recorder.write(make_frame(step, 50))
        print(recorder.frames, flush=True)
"""


def start(path, *more):
    words = [sys.executable, "-c", WRITING, str(path), str(Path(__file__).parent), *map(str, more)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def assert_holds(path, at_least):
    with Recording(path) as recording:
        assert len(recording) >= at_least
        for step in {0, at_least // 2, at_least - 1, len(recording) - 1}:
            assert_same_frame(recording[step], make_frame(step, 50))
        assert len(recording.statistics["residual"]) == len(recording)


@pytest.mark.parametrize("frames", [1, 300])
def test_a_killed_process_leaves_every_flushed_frame(tmp_path, frames):
    path = tmp_path / "run.hdf5"
    with start(path) as writer:
        written = 0
        while written < frames:
            written = int(writer.stdout.readline())
        assert_holds(path, written)  # while it is being written
        writer.send_signal(signal.SIGKILL)
        said = [int(line) for line in writer.stdout.read().split("\n")[:-1]]
        written = max([written, *said])
    assert writer.returncode == -signal.SIGKILL
    assert_holds(path, written)


def test_a_full_disk_is_an_error_that_leaves_what_was_written(tmp_path):
    pytest.importorskip("resource")
    path = tmp_path / "run.hdf5"
    with start(path, 1_500_000) as writer:
        out, err = writer.communicate()
    assert writer.returncode == 1, (writer.returncode, err)  # an exception, not a crash of the HDF5 library
    assert "OSError: [Errno 27]" in err
    assert_holds(path, int(out.split()[-1]))
