"""`--contact-compliance` of solve, verify and simulate: contacts that give way, and how far that is from the law."""

from __future__ import annotations

import json

import numpy as np
import pytest
from small_worlds import pucks

import perp
from perp.problems.files import load
from perp.recording import Recording
from perp.scenes import catalogue

WALL = {"n": 96, "model": "cone"}


@pytest.fixture(autouse=True)
def pucks_scene(monkeypatch):
    monkeypatch.setattr(catalogue, "_CATALOGUE", dict(catalogue._CATALOGUE))
    catalogue.scene("a test", dt=0.01, method="pgs", iterations=40)(pucks)


@pytest.fixture
def wall(tmp_path):
    """A wall with a solution of the rigid law."""
    path = tmp_path / "wall.npz"
    example = perp.gallery.make("box_stack", **WALL)
    perp.save(example.problem, path, x=example.x)
    return path


@pytest.mark.parametrize(("words", "units"), [((), "by_inertia"), (("--compliance-units", "by_load"), "by_load")])
def test_solve_answers_the_compliant_law_and_tells_both_residuals(perp_command, wall, tmp_path, words, units):
    out = tmp_path / "x.npz"
    answer = perp_command("solve", wall, "--contact-compliance", 1e-3, *words, "--json", "--out", out)
    assert answer.code == 0
    told = json.loads(answer.out)
    assert told["residuals"]["residual"] <= 1e-8 < 1e-6 < told["residuals"]["rigid_residual"]
    assert told["distance_to_known_solution"] is None  # the stored x is that of another law
    rigid = load(wall)
    soft = rigid.with_compliance(perp.contact_compliance(rigid, 1e-3, units))
    with np.load(out) as saved:
        found = perp.verify(soft, saved["x"])
    assert found.residual == pytest.approx(told["residuals"]["residual"], abs=1e-12)
    assert found.compliance_speed == pytest.approx(told["residuals"]["compliance_speed"])


def test_tables_show_the_rigid_residual_only_where_there_is_a_compliance(perp_command, wall):
    assert "rigid residual" in perp_command("solve", wall, "--contact-compliance", 1e-3).out
    assert "rigid residual" not in perp_command("solve", wall).out
    assert "compliance speed" in perp_command("verify", wall, "--contact-compliance", 1e-3).out
    assert "compliance speed" not in perp_command("verify", wall).out


def test_verify_judges_by_the_compliant_law(perp_command, wall, tmp_path):
    out = tmp_path / "x.npz"
    perp_command("solve", wall, "--contact-compliance", 1e-3, "--out", out)
    assert perp_command("verify", wall, out, "--contact-compliance", 1e-3).code == 0
    assert perp_command("verify", wall, out).code == 1


def test_a_file_of_a_compliant_problem_can_be_solved_as_the_rigid_one(perp_command, tmp_path):
    rigid = perp.ContactProblem(np.eye(3), [-1.0, 0.0, 0.0], 0.5, "cone")
    path = tmp_path / "soft.npz"
    perp.save(rigid.with_compliance(1.0), path)
    soft, hard = tmp_path / "soft_x.npz", tmp_path / "hard_x.npz"
    assert perp_command("solve", path, "--out", soft).code == 0
    assert perp_command("solve", path, "--contact-compliance", 0, "--out", hard).code == 0
    with np.load(soft) as given, np.load(hard) as taken_away:
        assert given["x"][0] == pytest.approx(0.5)
        assert taken_away["x"][0] == pytest.approx(1.0)


def test_simulate_steps_a_compliant_world_and_says_so(perp_command, tmp_path):
    folder = tmp_path / "steps"
    words = ("--steps", 3, "--contact-compliance", 0.25, "--compliance-units", "si", "--dump-problems", folder)
    answer = perp_command("simulate", "pucks", *words)
    assert answer.code == 0
    assert "compliance 0.25 si" in answer.out
    problem = load(sorted(folder.glob("*.npz"))[-1])
    assert problem.contact_compliance == pytest.approx(np.full(problem.contacts, 0.25))
    assert "compliance" not in perp_command("simulate", "pucks", "--steps", 1).out


def test_a_recording_knows_the_compliance(perp_command, tmp_path):
    path = tmp_path / "run.hdf5"
    words = ("--steps", 2, "--contact-compliance", 1e-4, "--record", path, "--json")
    told = json.loads(perp_command("simulate", "pucks", *words).out)
    with Recording(path) as recording:
        run = recording.description.options["run"]
    for settings in (told["run"], run):
        assert (settings["contact_compliance"], settings["compliance_units"]) == (1e-4, "by_inertia")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--contact-compliance", -1), "--contact-compliance is -1"),
        (("--contact-compliance", "nan"), "--contact-compliance is nan"),
        (("--contact-compliance", 1, "--compliance-units", "by_lod"), "did you mean 'by_load'"),
        (("--compliance-units", "si"), "add --contact-compliance VALUE"),
    ],
)
def test_what_is_no_compliance_is_one_line(perp_command, wall, words, part):
    for command in (("solve", wall), ("verify", wall), ("simulate", "pucks")):
        answer = perp_command(*command, *words)
        assert answer.code == 2
        assert answer.err.startswith("perp: error: ")
        assert part in answer.err


def test_what_has_no_contacts_cannot_give_way(perp_command, fluid_file):
    assert "holds no contacts" in perp_command("solve", fluid_file, "--contact-compliance", 1e-4).err
    answer = perp_command("simulate", "dam_break", "--cells", 16, "--contact-compliance", 1e-4)
    assert (answer.code, answer.out) == (2, "")
    assert "dam_break has no contacts" in answer.err
