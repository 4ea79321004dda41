"""What the documentation shows is run: examples, the code of the README and of pages, the names they mention."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import perp
from perp.solvers.roster import METHODS

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def run_blocks(page: Path) -> int:
    """Run the page's blocks of Python, each by itself, and say how many there are."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    for block in blocks:
        exec(compile(block, page.name, "exec"), {})
    return len(blocks)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    assert len(capsys.readouterr().out) > 20


def test_the_readme_shows_what_really_happens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_blocks(ROOT / "README.md") == 2
    printed = capsys.readouterr().out
    assert "[0.75 0.   0.25]\n" in printed
    assert "Status.CONVERGED" in printed
    assert "[ 1. -1.]" in printed


def test_the_page_on_pivoting_shows_what_really_happens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_blocks(ROOT / "docs" / "pivoting.md") == 2
    cold, warm, *_, proved = capsys.readouterr().out.splitlines()
    assert cold.startswith("Status.CONVERGED")
    assert warm.startswith("Status.CONVERGED")
    assert 1 <= float(warm.split()[1]) < float(cold.split()[1])
    assert proved == "proved: True"


def test_the_page_on_worlds_shows_what_really_happens(tmp_path, monkeypatch, capsys):
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    assert run_blocks(ROOT / "docs" / "worlds.md") == 3
    problem, error, seesaw, _ = capsys.readouterr().out.splitlines()
    assert problem.startswith("10 <ContactProblem with 10 contacts")
    assert float(error.split()[0]) < 1e-9
    assert seesaw == "the seesaw stands at 0.30 rad"
    assert (tmp_path / "step.npz").is_file()


def test_the_page_on_liquids_shows_what_really_happens(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert run_blocks(ROOT / "docs" / "liquids.md") == 4
    height, divergence, tank, *methods = capsys.readouterr().out.splitlines()
    assert "CONVERGED" in tank
    assert 0.2 < float(height.split()[3]) < 0.45  # it came down from the ceiling
    assert float(divergence.split()[1]) < 1e-5
    assert [line.split()[1] for line in methods] == ["CONVERGED"] * 3
    assert int(methods[0].split()[2]) < 0.1 * int(methods[2].split()[2])
    assert (tmp_path / "ceiling.png").is_file()
    assert (tmp_path / "rocks.png").is_file()


def test_the_scene_of_the_guide_for_contributors_works():
    """In a process of its own, as it adds a scene to the list."""
    block = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[0]
    run = subprocess.run([sys.executable, "-c", block], check=True, capture_output=True, text=True)
    assert float(run.stdout) == pytest.approx(3 * 9.80665 * 0.1)


def test_the_experiment_of_the_guide_for_contributors_works(capsys):
    block = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
    exec(compile(block, "CONTRIBUTING.md", "exec"), {})
    assert capsys.readouterr().out.startswith("holds: here 0.")


def test_the_page_on_worlds_names_every_scene():
    text = (ROOT / "docs" / "worlds.md").read_text()
    assert [name for name in perp.scenes.kinds() if f"`{name}`" not in text] == []


def test_the_page_on_assignments_shows_what_really_happens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_blocks(ROOT / "docs" / "assignments.md") == 3
    printed = capsys.readouterr().out.splitlines()
    definite = [line for line in printed if line.startswith("definite")]
    assert len(definite) == 4
    assert all("10 of 10 solved" in line for line in definite)
    assert next(line for line in printed if line.startswith("solutions of ten")).endswith("RAY")
    assert float(next(line for line in printed if "differ by" in line).split()[-1]) < 1e-12
    assert float(next(line for line in printed if line.startswith("the QP")).split()[-1]) < 1e-10
    pivoting = [line for line in printed if line.startswith("lemke")]
    assert len(pivoting) == 2
    assert all("60 of 60" in line for line in pivoting)


def test_the_page_on_the_lab_shows_what_really_happens(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    from perp.lab.runs.perform import perform
    from perp.lab.runs.store import RowStore
    from perp.lab.work.recipes import gallery
    from perp.lab.work.solve import solve_task

    monkeypatch.chdir(tmp_path)
    RowStore(tmp_path / "perp-lab").write(perform(solve_task(gallery("fluid_like", 27), "pgs", {"tol": 1e-6})))
    assert run_blocks(ROOT / "docs" / "lab.md") == 1


def test_the_page_on_newton_shows_what_really_happens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_blocks(ROOT / "docs" / "newton.md") == 2
    pile, fischer, notes_own, plain, jacobi, ic0 = capsys.readouterr().out.splitlines()
    assert pile == "Status.CONVERGED 13.0 1.0"
    assert fischer == "Status.CONVERGED"
    assert notes_own == "Status.BREAKDOWN"
    assert all(" CONVERGED " in line for line in (plain, jacobi, ic0))
    assert int(ic0.split()[2]) < 0.5 * int(jacobi.split()[2])


def test_the_page_on_contact_shows_what_really_happens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_blocks(ROOT / "docs" / "contact.md") == 3
    printed = capsys.readouterr().out.splitlines()
    assert [line.split("[")[0].strip() for line in printed[:5]] == ["cone", "box", "convex", "K = 4", "K = 16"]
    assert "opens by 0.360 m/s" in printed[2]
    assert "0.54019" in printed[5]
    assert [float(line.split()[-2]) < 1e-10 for line in printed[6:]] == [False, True, True]  # who sticks


def test_the_commands_of_the_readme_work(tmp_path):
    text = (ROOT / "README.md").read_text()
    commands = re.findall(r"^perp (generate|solve|methods)(.*?)(?:#.*)?$", text, re.MULTILINE)
    assert [name for name, _ in commands] == ["methods", "generate", "solve"]
    for name, rest in commands:
        command = [sys.executable, "-m", "perp", name, *rest.split()]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_and_named_files_exist(page):
    text = page.read_text()
    for target in re.findall(r"\]\((?!http)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    for path in re.findall(r"`((?:src|tests|docs|examples)/[\w/.]+\.\w+)`", text):
        if "my_method" not in path:
            assert (ROOT / path).exists(), path


def test_the_readme_names_every_method():
    text = (ROOT / "README.md").read_text()
    for method in METHODS:
        assert f"`{method.name}`" in text


def test_public_names_exist_and_are_documented():
    for name in perp.__all__:
        assert getattr(perp, name) is not None
        if name not in ("__version__",):
            assert getattr(perp, name).__doc__, name


def test_importing_perp_does_not_import_numba_and_neither_does_listing_the_methods():
    for code in ("import perp", "import perp; from perp.solvers.roster import default_methods; default_methods()"):
        check = f"{code}; import sys; sys.exit('numba' in sys.modules or 'matplotlib' in sys.modules)"
        subprocess.run([sys.executable, "-c", check], check=True)
