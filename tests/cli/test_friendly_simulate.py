"""`perp simulate` says what was reached, what would help, and leaves nothing behind that it refused to fill."""

from __future__ import annotations

import json

import pytest
from small_worlds import Pucks, pucks

from perp.scenes import catalogue
from perp.simulation.result import _time


def still_pucks() -> Pucks:
    """Discs without random numbers."""
    return Pucks(2)


@pytest.fixture(autouse=True)
def scenes_of_pucks(monkeypatch):
    monkeypatch.setattr(catalogue, "_CATALOGUE", dict(catalogue._CATALOGUE))
    catalogue.scene("a test", dt=0.01, method="pgs")(pucks)
    catalogue.scene("a test", dt=0.01, method="pgs")(still_pucks)


def line_of(answer, name):
    return next(line.strip() for line in answer.out.splitlines() if line.strip().startswith(f"{name}  "))


def test_converged_steps_are_counted_out_of_all_with_tolerance_and_limit(perp_command):
    def converged(*words):
        return line_of(perp_command("simulate", "stacking", "--steps", 5, *words), "converged")

    assert " of 5 steps within tol 1e-08 (limit 200 iterations a step, the scene's own); " in converged()
    assert " of 5 steps within tol 1e-08 (limit 3 iterations a step); " in converged("--max-iterations", 3)
    enough = converged("--max-iterations", 5000, "--tol", 1e-3)
    assert enough.startswith("converged  5 of 5 steps within tol 0.001; ")


def test_energy_changes_and_the_final_state_has_a_fingerprint(perp_command):
    answer = perp_command("simulate", "pucks", "--steps", 5)
    assert "change" in line_of(answer, "energy")
    assert "drift" not in answer.out
    told = json.loads(perp_command("simulate", "pucks", "--steps", 5, "--json").out)["fingerprint"]
    assert line_of(answer, "fingerprint") == f"fingerprint  {told[:16]} of the final state"


def test_long_times_are_in_seconds():
    assert (_time(0.0123), _time(0.9), _time(1.5), _time(83.0)) == ("12.3 ms", "900 ms", "1.5 s", "83 s")


def test_a_method_that_refuses_is_answered_with_what_to_add(perp_command, tmp_path):
    catalogue.scene("a test", dt=0.01, method="lemke")(pucks)
    folder = tmp_path / "new" / "steps"
    answer = perp_command("simulate", "pucks", "--model", "cone", "--steps", 40, "--dump-problems", folder)
    assert answer.code == 2
    assert "block_gauss_seidel" in answer.err
    assert answer.err.rstrip().endswith(": add --method NAME")
    named = perp_command("simulate", "pucks", "--model", "cone", "--steps", 40, "--method", "lemke")
    assert named.err.rstrip().endswith(": choose another --method NAME")
    assert list(tmp_path.iterdir()) == []


def test_rows_that_fclib_cannot_hold_leave_no_folder(perp_command, tmp_path):
    pytest.importorskip("h5py")
    words = ("--size", "limits=1", "--model", "cone", "--method", "auto", "--dump-format", "fclib")
    assert perp_command("simulate", "pucks", *words, "--dump-problems", tmp_path / "steps").code == 2
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").mkdir()
    assert perp_command("simulate", "pucks", *words, "--dump-problems", tmp_path / "mine").code == 2
    assert (tmp_path / "mine").is_dir()  # it was there before


def test_problems_do_not_go_into_a_file(perp_command, tmp_path):
    (tmp_path / "file").write_text("mine")
    answer = perp_command("simulate", "pucks", "--dump-problems", tmp_path / "file")
    assert (answer.code, "that is a file; the name of a folder is needed" in answer.err) == (2, True)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_seed_that_changes_nothing_is_noted(perp_command):
    answer = perp_command("simulate", "still_pucks", "--steps", 2, "--seed", 3, "--json")
    assert answer.code == 0
    assert answer.err == "perp: note: still_pucks has no random numbers; --seed changes nothing\n"
    assert json.loads(answer.out)["seed"] == 0
    assert perp_command("simulate", "pucks", "--steps", 2, "--seed", 3).err == ""
    assert perp_command("simulate", "still_pucks", "--steps", 2).err == ""


def test_two_laws_at_once_are_refused(perp_command):
    pytest.importorskip("mujoco")
    answer = perp_command("simulate", "incline", "--size", "model=box", "--model", "cone")
    assert answer.code == 2
    assert "--size model=box and --model cone contradict one another" in answer.err
    assert perp_command("simulate", "incline", "--size", "model=box", "--model", "box", "--steps", 0).code == 0


def test_a_recording_is_not_solved_and_a_stored_x_is_no_solution(perp_command, tmp_path):
    pytest.importorskip("h5py")
    record, folder = tmp_path / "run.hdf5", tmp_path / "steps"
    perp_command("simulate", "pucks", "--steps", 5, "--record", record, "--dump-problems", folder)
    answer = perp_command("solve", record)
    assert (answer.code, "this is a recording of a simulation, not a problem" in answer.err) == (2, True)
    solved = perp_command("solve", folder / "step_000005.npz")
    assert solved.code == 0
    assert "away, at most, from the x stored in the file" in line_of(solved, "stored x")
