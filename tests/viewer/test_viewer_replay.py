"""A recording behind the commands of the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perp.recording import Description, Recorder, Recording
from perp.scenes import kinds, make
from perp.simulation import simulate
from perp.simulation.run import open_recorder
from perp.solvers.roster import make_method
from perp.viewer.choices import Refusal
from perp.viewer.layout import Header
from perp.viewer.messages import (
    Build,
    ChooseCompare,
    ChooseMethod,
    Play,
    Reset,
    Save,
    Seek,
    Step,
    TellCode,
)
from perp.viewer.replay import Replay, load_recording, read_recipe, tell_lane
from tests.viewer_sessions import do, frames_of, header, take, words_of

pytest.importorskip("h5py")

LAST = 30
RUN = {
    "model": "cone",
    "warm_start": False,
    "islands": False,
    "tol": 1e-5,
    "max_iterations": 6,
    "method_options": {"relaxation": "0.8"},
}


def record(path: Path, scene: str, steps: int, run: dict[str, Any] | None, method: str, solver: Any) -> Path:
    kind = kinds()[scene]
    made = make(scene, seed=3, **kind.small)
    if run is not None:
        made.world.model, made.world.warm_start = run["model"], run["warm_start"]
    options = dict(made.options) | ({} if run is None else {"run": run})
    limits = {} if run is None else {"tol": run["tol"], "max_iterations": run["max_iterations"]}
    with open_recorder(path, made.world, 0.01, scene=scene, options=options, seed=3, method=method) as recorder:
        simulate(made.world, steps, dt=0.01, method=solver, record=recorder, **limits)
    return path


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recordings") / "pool.hdf5"
    return record(path, "pool1", LAST, RUN, "psor", make_method("psor", {"relaxation": 0.8}))


@pytest.fixture(scope="module")
def liquid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("recordings") / "dam.hdf5", "dam_break", 2, None, "auto", "auto")


@pytest.fixture
def replay(pool: Path) -> Replay:
    session = Replay(str(pool))
    do(session)
    return session


def places(said) -> list[int]:
    return [int(header(frame, Header.PLACE)) for frame in frames_of(said)]


def test_a_replay_opens_with_scene_method_and_first_frame(pool: Path):
    session = Replay(str(pool))
    scene, state = session.open()
    assert (scene["name"], scene["dt"], scene["seed"], scene["bodies"]) == ("pool1", 0.01, 3, 24)
    assert "run" not in scene["options"]
    assert (state["first"], state["last"], state["can_save"], state["suitable"]) == (0, LAST, False, None)
    assert state["lanes"] == [
        {"method": "psor", "options": {"relaxation": "0.8"}, "tol": 1e-5, "max_iterations": 6},
    ]
    assert places(do(session)) == [0]
    json.dumps([scene, state], allow_nan=False)


def test_steps_go_on_from_the_frame_that_is_shown(replay: Replay):
    assert places(take(replay, 2)) == [1, 2]
    assert places(do(replay, Seek(20), Seek(9))) == [9]
    assert places(take(replay, 1)) == [10]


def test_playing_goes_on_from_the_shown_frame_and_pauses_at_the_end(replay: Replay):
    do(replay, Seek(LAST - 2), Play())
    assert places(replay.advance()) == [LAST - 1]
    said = replay.advance()
    assert places(said) == [LAST]
    assert not words_of(said, "state")[0]["playing"]


def test_playing_after_the_end_begins_anew(replay: Replay):
    do(replay, Seek(LAST))
    replay.handle(Play())
    assert places(replay.advance() + replay.advance()) == [0, 1]


def test_a_step_beyond_the_end_shows_nothing(replay: Replay):
    do(replay, Seek(LAST))
    assert places(take(replay, 3)) == []
    assert not replay.is_urgent


def test_a_reset_goes_back_to_the_beginning(replay: Replay):
    do(replay, Seek(5), Play())
    assert places(do(replay, Reset())) == [0]
    assert not replay.playing


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (Save("npz", 3), "--dump-problems"),
        (Build("pool1"), "perp view SCENE"),
        (ChooseMethod(0, "pgs"), "perp view SCENE"),
        (ChooseCompare("own_ways"), "perp view SCENE"),
    ],
)
def test_what_a_recording_cannot_do_is_a_note_and_the_next_command_works(replay: Replay, command, words):
    [note] = words_of(replay.handle(command), "note")
    assert words in note["text"]
    assert places(take(replay, 1)) == [1]


def test_the_program_makes_a_recorded_frame_again(replay: Replay, pool: Path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [code] = replay.handle(TellCode(LAST))
    names: dict[str, Any] = {}
    exec(compile(code["text"], "reproduction", "exec"), names)
    with Recording(pool) as recording:
        assert recording[LAST].contacts.gap.size > 0
        assert np.array_equal(names["world"].frame().position, recording[LAST].position)


def test_the_program_reads_the_frame_where_nobody_knows_what_made_it(liquid: Path):
    [code] = Replay(str(liquid)).handle(TellCode(1))
    names: dict[str, Any] = {}
    exec(compile(code["text"], "reproduction", "exec"), names)
    assert names["frame"].step == 1


ABOUT = Description(0.01, "pool1", {"discs": 24, "run": RUN}, 3, "psor", {"perp": "1.0"})


@pytest.mark.parametrize(
    "about",
    [
        replace(ABOUT, scene="of one's own"),
        replace(ABOUT, dt=float("inf")),
        replace(ABOUT, options={"discs": 24}),
        replace(ABOUT, options={"discs": "24); import os #", "run": RUN}),
        replace(ABOUT, options={"discs=1); import os #": 24, "run": RUN}),
        replace(ABOUT, options={"run": RUN | {"model": "'); import os #"}}),
        replace(ABOUT, options={"run": RUN | {"warm_start": "os"}}),
        replace(ABOUT, options={"run": RUN | {"contact_compliance": "os"}}),
        replace(ABOUT, options={"run": RUN | {"contact_compliance": -1.0, "compliance_units": "si"}}),
        replace(ABOUT, options={"run": RUN | {"contact_compliance": 1.0, "compliance_units": "'); import os #"}}),
        replace(ABOUT, options={"run": RUN | {"tol": "os"}}),
        replace(ABOUT, options={"run": RUN | {"method_options": {"os": "1"}}}),
        replace(ABOUT, options={"run": "os"}),
        replace(ABOUT, method="os"),
        replace(ABOUT, seed=-1),
    ],
)
def test_descriptions_that_say_what_this_perp_has_not_make_no_program(about: Description):
    assert read_recipe(ABOUT) is not None
    assert read_recipe(about) is None
    json.dumps(tell_lane(about), allow_nan=False)


def test_the_compliance_of_a_recorded_run_belongs_to_its_recipe():
    soft = replace(ABOUT, options={"run": RUN | {"contact_compliance": 1e-4, "compliance_units": "by_load"}})
    rigid = replace(ABOUT, options={"run": RUN | {"contact_compliance": 0.0, "compliance_units": "by_inertia"}})
    assert read_recipe(soft).recipe.compliance == (1e-4, "by_load")
    assert read_recipe(rigid).recipe.compliance is None


@pytest.mark.parametrize(
    ("method", "words", "values"),
    [
        ("psor", {"relaxation": "1.5"}, {"relaxation": 1.5}),
        ("lemke", {"covering": "1,2"}, {"covering": (1.0, 2.0)}),  # an option of two kinds
        ("amgs", {"adaptive": "yes"}, {"adaptive": True}),
        ("auto", {}, {}),
    ],
)
def test_words_of_the_command_line_become_values_of_their_kinds(method, words, values):
    known = read_recipe(replace(ABOUT, method=method, options={"run": RUN | {"method_options": words}}))
    assert known is not None
    assert known.method.options == values


def test_a_whole_recording_becomes_a_recorded_run(pool: Path, liquid: Path):
    told: list[int] = []
    bodies, water = load_recording(str(pool), told.append), load_recording(str(liquid))
    assert places(bodies.frames) == list(range(LAST + 1))
    assert told[-1] == LAST + 1
    assert (water.scene["kind"], len(water.frames), water.welcome["mode"]) == ("liquid", 3, "replay")


def test_a_file_that_is_no_recording_is_refused(tmp_path: Path):
    strange, empty = tmp_path / "strange.hdf5", tmp_path / "empty.hdf5"
    strange.write_bytes(b"nothing of the kind")
    with Recorder(empty, make("pool1").world.shapes(), bodies=1, dimension=2, about=Description(0.01)):
        pass
    for path, words in ((strange, "strange"), (empty, "no frames"), (tmp_path / "missing.hdf5", "missing")):
        with pytest.raises(Refusal, match=words):
            Replay(str(path))


def test_a_frame_that_cannot_be_read_is_passed_over(replay: Replay, monkeypatch: pytest.MonkeyPatch):
    encode = Replay.encode

    def fail_once(session: Replay, place: int) -> bytes:
        if place == 1:
            raise Refusal("frame 1 is damaged")
        return encode(session, place)

    monkeypatch.setattr(Replay, "encode", fail_once)
    said = do(replay, Step(1), Step(1))
    assert "damaged" in words_of(said, "note")[0]["text"]
    assert places(take(replay, 1)) == [2]


def test_a_recording_whose_beginning_cannot_be_read_is_a_note_and_the_rest_is_shown(replay: Replay, monkeypatch):
    def fail(session: Replay) -> None:
        raise Refusal("the first frame is damaged")

    monkeypatch.setattr(Replay, "describe", fail)
    note, state = replay.begin()
    assert (note["text"], state["type"]) == ("the first frame is damaged", "state")
    assert places(do(replay, Seek(2))) == [2]
