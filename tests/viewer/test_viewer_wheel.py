"""The build hook: a wheel gets a page that is as new as its sources, or a warning."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from subprocess import CalledProcessError
from types import ModuleType, SimpleNamespace

import pytest

FILE = Path(__file__).resolve().parents[2] / "hatch_build.py"


@pytest.fixture
def hook_file(monkeypatch) -> ModuleType:
    """hatch_build.py, whose base class is there only while a wheel is built."""
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location("hatch_build", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def build(hook_file, tmp_path, monkeypatch):
    """Run the hook in a small repository: what npm was told to do, and warnings."""
    (tmp_path / "viewer" / "src" / "shell").mkdir(parents=True)
    (tmp_path / "src" / "perp" / "viewer" / "page").mkdir(parents=True)
    (tmp_path / "viewer" / "src" / "shell" / "page.ts").touch()

    def run(version="standard", target="wheel", npm="npm", fails=False):
        commands, warnings = [], []

        def call(words, *, cwd, check):
            assert (cwd, check) == (tmp_path / "viewer", True)
            commands.append(words[1])
            if fails:
                raise CalledProcessError(1, words)

        monkeypatch.setattr(hook_file.shutil, "which", lambda name: npm)
        monkeypatch.setattr(hook_file.subprocess, "run", call)
        hook = hook_file.ViewerPage()
        hook.root, hook.target_name = str(tmp_path), target
        hook.app = SimpleNamespace(display_warning=warnings.append)
        hook.initialize(version, {})
        return commands, warnings

    return run


def set_page(root: Path, age: float) -> None:
    """A page that was built so many seconds after its source was changed."""
    page = root / "src" / "perp" / "viewer" / "page" / "viewer.js"
    page.touch()
    changed = (root / "viewer" / "src" / "shell" / "page.ts").stat().st_mtime
    os.utime(page, (changed + age, changed + age))


def test_a_missing_page_is_built(build):
    assert build() == (["ci", "run"], [])


def test_a_page_is_built_anew_only_where_a_source_is_younger(build, tmp_path):
    set_page(tmp_path, 0.0)  # as in an archive, where all files have one date
    assert build() == ([], [])
    set_page(tmp_path, -10.0)
    assert build() == (["ci", "run"], [])


def test_without_npm_a_warning_says_what_the_wheel_has(build, tmp_path):
    (warning,) = build(npm=None)[1]
    assert "has no page for 'perp view'" in warning
    set_page(tmp_path, -10.0)
    (warning,) = build(npm=None)[1]
    assert "older than its sources" in warning


def test_a_page_that_cannot_be_built_leaves_a_wheel_without_it(build):
    commands, (warning,) = build(fails=True)
    assert commands == ["ci"]
    assert "could not be built" in warning


@pytest.mark.parametrize("kind", [{"version": "editable"}, {"target": "sdist"}])
def test_other_builds_leave_the_page_alone(build, kind):
    assert build(**kind) == ([], [])
