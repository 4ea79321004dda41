"""The line that says why a first solve takes long."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time

import pytest

from perp.kernels.notice import TEXT, Notice


def compile_for(notice, seconds):
    notice.on_start(None)
    notice.on_start(None)  # something that it needs
    time.sleep(seconds)
    notice.on_end(None)
    notice.on_end(None)


def test_short_compilations_are_silent(caplog):
    notice = Notice(patience=60.0)
    with caplog.at_level(logging.INFO, "perp"):
        for _ in range(3):
            compile_for(notice, 0.0)
    assert not caplog.records
    assert not notice.is_told


def test_a_long_one_is_told_once_to_the_log(caplog):
    notice = Notice(patience=0.0)
    with caplog.at_level(logging.INFO, "perp"):
        for _ in range(3):
            compile_for(notice, 0.2)
    assert [record.getMessage() for record in caplog.records] == [TEXT]


def test_many_short_ones_add_up(caplog):
    notice = Notice(patience=0.15)
    with caplog.at_level(logging.INFO, "perp"):
        for _ in range(8):
            compile_for(notice, 0.05)
    assert notice.is_told


def test_on_a_terminal_it_is_a_line_on_stderr(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    Notice().tell()
    assert capsys.readouterr().err == f"perp: {TEXT}\n"


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_a_process_without_compiled_kernels_tells_it(tmp_path):
    code = (
        "import logging; logging.basicConfig(level=logging.INFO, format='%(message)s'); "
        "from perp.kernels import notice; notice.PATIENCE = 0.0; notice.Notice.__init__.__defaults__ = (0.0,); "
        "import perp; perp.solve(perp.LCP([[2.0]], [-1.0]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.count(TEXT) == 1
