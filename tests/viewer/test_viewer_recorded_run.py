"""A whole run for a page without a server."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from perp.viewer import simulation
from perp.viewer.choices import MethodChoice, Refusal
from perp.viewer.layout import Header
from perp.viewer.simulation import run_steps
from tests.viewer_sessions import header, small_start


def test_a_run_has_a_frame_a_step_and_one_before_them():
    told: list[int] = []
    recorded = run_steps(small_start(), 5, told.append)
    assert [header(frame, Header.PLACE) for frame in recorded.frames] == [0, 1, 2, 3, 4, 5]
    assert told == [1, 2, 3, 4, 5]
    assert (recorded.state["first"], recorded.state["last"], recorded.state["can_save"]) == (0, 5, False)
    assert "range(5)" in recorded.code
    assert recorded.note is None
    json.dumps([recorded.welcome, recorded.scene, recorded.state], allow_nan=False)


def test_the_box_of_the_scene_is_that_of_the_first_frame():
    assert run_steps(small_start(), 40).scene == run_steps(small_start(), 0).scene


def test_a_run_that_becomes_infinite_ends_with_what_there_is(monkeypatch: pytest.MonkeyPatch):
    def choose(start, recipe) -> MethodChoice:
        return replace(chosen(start, recipe), solve=diverge)

    def diverge(problem, x0):
        steps.append(problem)
        return SimpleNamespace(x=np.full(problem.n, 0.0 if len(steps) <= 2 else np.inf))

    steps: list[object] = []
    chosen = simulation.first_method
    monkeypatch.setattr(simulation, "first_method", choose)
    recorded = run_steps(small_start(), 9)
    assert len(recorded.frames) == 3
    assert recorded.state["last"] == 2
    assert recorded.note is not None
    assert "2 of 9 steps" in recorded.note


def test_a_method_that_refuses_is_no_recording():
    with pytest.raises(Refusal, match="methods that would work"):
        run_steps(small_start(method="lemke"), 40)
