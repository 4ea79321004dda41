"""`perp simulate` runs liquids as it runs bodies, tells what belongs to them, and refuses what does not."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from perp.cli import progress
from perp.recording import LiquidFrame, Recording

SMALL = ("--cells", "16", "--steps", "6")


def test_a_summary_tells_of_the_liquid_and_not_of_contacts(perp_command):
    answer = perp_command("simulate", "dam_break", *SMALL)
    assert (answer.code, answer.err) == (0, "")
    for part in (
        "dam_break, dim=2, cells=16, separation=walls",
        "particles in 16 x 12 cells of 0.0625 m",
        "6 of 6 steps within tol",
        "started from the last pressures",
        "separating",
        "particles to grid",
        "divergence",
        "1/s max",
        "volume",
        "the mean of the particles",
    ):
        assert part in answer.out
    assert not any(word in answer.out for word in ("contacts", "penetration", "impulses", "collisions", "bodies"))


def test_json_has_the_figures_of_a_liquid(perp_command):
    words = (*SMALL, "--dim", 3, "--separation", "none", "--dt", 0.01)
    told = json.loads(perp_command("simulate", "dam_break", *words, "--json").out)
    assert (told["scene"], told["options"]["dim"], told["steps"], told["success"]) == ("dam_break", 3, 6, True)
    assert told["particles"] > 0
    assert abs(told["volume_drift"]) < 0.2
    assert told["divergence_max"] <= 1e-8 / 0.01  # without bounds the residual is the divergence times the step
    assert told["run"]["model"] is None
    assert not {"bodies", "contacts_max", "penetration_max"} & set(told)


def test_the_command_of_the_manual_records_and_draws(perp_command, tmp_path):
    pytest.importorskip("h5py")
    pytest.importorskip("matplotlib")
    record, picture = tmp_path / "run.h5", tmp_path / "dam.png"
    files = ("--record", record, "--plot", picture)
    answer = perp_command("simulate", "dam_break", "--dim", 2, *SMALL, "--method", "mprgp", *files)
    assert answer.code == 0, answer.err
    assert f"wrote {record} (7 frames)" in answer.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    with Recording(record) as recording:
        assert (recording.scene, recording.method, len(recording)) == ("dam_break", "mprgp", 7)
        assert recording.options["cells"] == 16
        assert recording.options["run"]["warm_start"] is True
        assert isinstance(recording[-1], LiquidFrame)
        assert recording.statistics["liquid_cells"][1] == recording[1].liquid.sum()


def test_dumped_pressure_problems_solve_again(perp_command, tmp_path):
    assert perp_command("simulate", "ceiling_drop", *SMALL, "--dump-problems", tmp_path / "steps").code == 0
    solved = perp_command("solve", tmp_path / "steps" / "step_000006.npz", "--method", "mprgp")
    assert solved.code == 0
    assert "CONVERGED" in solved.out
    assert "away, at most, from the x stored in the file" in solved.out


def test_a_cold_start_is_cold(perp_command):
    def warm(*words):
        return json.loads(perp_command("simulate", "dam_break", *SMALL, "--json", *words).out)["warm"]

    assert warm("--cold") == 0 < warm()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--model", "cone"), "--model cone: dam_break has no contacts, and so no law of friction"),
        (("--islands",), "--islands: dam_break is a liquid, which has no heaps of bodies"),
        (("--dump-problems", "steps", "--dump-format", "fclib"), "FCLIB holds contacts, and dam_break is a liquid"),
        (("--separation", "wall"), "did you mean 'walls'"),
        (("--dim", "4"), "dim is '4'"),
        (("--cell", "4"), "did you mean '--cells'"),
        (("--cells", "16"), "--cells is given twice"),
    ],
)
def test_what_means_nothing_for_a_liquid_is_refused(perp_command, tmp_path, monkeypatch, words, part):
    pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    answer = perp_command("simulate", "dam_break", *SMALL, *words)
    assert (answer.code, answer.out) == (2, "")
    assert part in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_seed_that_changes_nothing_is_noted(perp_command):
    answer = perp_command("simulate", "dam_break", *SMALL, "--seed", 3)
    assert answer.err == "perp: note: dam_break has no random numbers; --seed changes nothing\n"


def test_on_a_terminal_the_bar_counts_liquid_cells(perp_command, monkeypatch):
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=160)
    monkeypatch.setattr(progress, "Console", lambda stderr: console)
    assert perp_command("simulate", "dam_break", *SMALL).code == 0
    assert "liquid cells" in text.getvalue()
    assert "contacts" not in text.getvalue()


def test_a_scene_of_liquid_is_listed_with_its_options(perp_command):
    assert "dam_break" in perp_command("scenes").out
    card = perp_command("scenes", "dam_break").out
    for part in ("(NOTES 4.2)", "dim=2", "cells=", "separation=walls", "(none, walls,"):
        assert part in card
