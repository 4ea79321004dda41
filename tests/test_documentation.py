"""What the documentation shows is run: examples, the code of the README and of pages, the names they mention."""

from __future__ import annotations

import importlib.util
import re
import runpy
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import perp
from perp.problems.friction import MODELS
from perp.solvers.roster import BY_NAME, METHODS, options_of
from perp.vocabulary import ARGUMENTS

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BUILT = ROOT / "docs" / "_build"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if not page.is_relative_to(BUILT)),
]

JUDGED_BELOW = {
    "README.md",
    "CONTRIBUTING.md",
    *(f"docs/{name}.md" for name in ("assignments", "contact", "lab", "liquids", "newton", "pivoting", "worlds")),
}
"""Pages whose blocks have a test of their own here, which knows what they should print."""


def place(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def load_extension(name: str):
    """A file of docs/extensions, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "extensions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


shown_output = load_extension("shown_output")


def run_blocks(page: Path) -> int:
    """Run the page's blocks of Python, each by itself, and say how many there are."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    for block in blocks:
        exec(compile(block, page.name, "exec"), {})
    return len(blocks)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(example, capsys, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.delenv("DISPLAY", raising=False)
    runpy.run_path(str(example), run_name="__main__")
    assert len(capsys.readouterr().out) > 20


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```python" in page.read_text() and place(page) not in JUDGED_BELOW], ids=place
)
def test_a_page_shows_what_its_blocks_print(page, tmp_path, monkeypatch):
    """Any page with Python on it; those that show no output are at least run."""
    if page.stem == "reformulation":
        pytest.importorskip("piqp")
    monkeypatch.chdir(tmp_path)
    for printed, shown in shown_output.run_page(page):
        assert shown_output.is_as_shown(printed, shown or ""), f"shown:\n{shown}\nprinted:\n{printed}"


def test_pages_with_tests_of_their_own_have_blocks():
    assert all("```python" in (ROOT / name).read_text() for name in JUDGED_BELOW)


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("x = [0.25 0. ]", "x =  [0.25 0.]", True),
        ("x = 0.251", "x = 0.25", True),
        ("x = 0.27", "x = 0.25", False),
        ("residual 3e-17", "residual 5e-09", True),
        ("residual 3e-05", "residual 5e-09", False),
        ("101 sweeps", "98 sweeps", True),
        ("130 sweeps", "98 sweeps", False),
        ("3 pivots", "2 pivots", False),
        ("CONVERGED 0.1 s", "CONVERGED ...", True),
        ("STAGNATED 0.1 s", "CONVERGED ...", False),
        ("True", "True\nFalse", False),
        ("something", "", False),
    ],
)
def test_what_counts_as_the_same_output(printed, shown, same):
    assert shown_output.is_as_shown(printed, shown) is same


def test_outputs_are_written_into_a_page_where_it_shows_any(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(6 * 7)\n```\n\n```text\n41.0\n```\n\n```python\nquiet = 1\n```\n")
    shown_output.write_outputs(page)
    assert page.read_text() == ("```python\nprint(6 * 7)\n```\n\n```text\n42\n```\n\n```python\nquiet = 1\n```\n")


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
    assert run_blocks(ROOT / "docs" / "worlds.md") == 4
    problem, error, *table, numbers, seesaw, _ = capsys.readouterr().out.splitlines()
    assert problem.startswith("10 <ContactProblem with 10 contacts")
    assert float(error.split()[0]) < 1e-9
    assert any(line.strip().startswith("ended  DONE: every step was taken (60 of 60") for line in table)
    contacts, residual, time = map(float, numbers.split())
    assert (contacts, time) == (10.0, pytest.approx(60 * perp.scenes.make("stacking").dt))
    assert residual < 1e-6
    assert seesaw == "the seesaw stands at 0.30 rad"
    assert (tmp_path / "step.npz").is_file()


def test_the_page_on_liquids_shows_what_really_happens(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert run_blocks(ROOT / "docs" / "liquids.md") == 4
    height, divergence, *tank = capsys.readouterr().out.splitlines()
    tank, methods = tank[:-3], tank[-3:]
    assert "CONVERGED" in tank[0]
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
    from perp.lab.runs.process import perform
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
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    assert run_blocks(ROOT / "docs" / "contact.md") == 5
    printed = capsys.readouterr().out.splitlines()
    assert [line.split("[")[0].strip() for line in printed[:5]] == ["cone", "box", "convex", "K = 4", "K = 16"]
    assert "opens by 0.360 m/s" in printed[2]
    assert printed[5] == "torsion 0.0: slides at 0.9706 m/s, spins at 50.000 rad/s"
    assert printed[6] == "torsion 0.01: slides at 0.9854 m/s, spins at 49.787 rad/s"
    assert "0.54019" in printed[7]
    made, rests, residuals = printed[8:11]
    assert made.startswith("C = 4.00e-04 (m/s)/(N s), x = 0.0409 N s")
    assert rests == "rests 0.00136 mm deep, h C x / Γ = 0.00136 mm"
    assert residuals == "residual of the compliant law below 1e-8: True, of the rigid law 1.6e-05"
    assert [float(line.split()[-2]) < 1e-10 for line in printed[11:]] == [False, True, True]  # who sticks


def test_the_commands_of_the_readme_work(tmp_path):
    text = (ROOT / "README.md").read_text()
    commands = re.findall(r"^perp (generate|solve|methods|classify)(.*?)(?:#.*)?$", text, re.MULTILINE)
    assert [name for name, _ in commands] == ["methods", "generate", "solve", "solve", "classify"]
    for name, rest in commands:
        command = [sys.executable, "-m", "perp", name, *rest.split()]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("page", PAGES, ids=place)
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


def test_every_method_has_its_place_on_one_page_of_a_family():
    pages = (ROOT / "docs" / "methods").glob("*.md")
    listed = [
        name for page in pages for line in re.findall(r"{roster} (.*)", page.read_text()) for name in line.split()
    ]
    assert sorted(listed) == sorted(method.name for method in METHODS)


def test_the_overview_of_families_names_every_method():
    text = (ROOT / "docs" / "methods" / "index.md").read_text()
    assert [method.name for method in METHODS if f"`{method.name}`" not in text] == []


def test_every_public_name_is_in_the_reference():
    """As a class, a function or a module; methods are listed by the pages of their families."""
    pages = [*(ROOT / "docs" / "reference").glob("*.md"), ROOT / "docs" / "methods" / "wrappers.md"]
    listed = {name for page in pages for name in re.findall(r":: perp\.(\w+)$", page.read_text(), re.MULTILINE)}
    methods = {method.__name__ for method in METHODS}
    assert sorted(set(perp.__all__) - listed - methods - {"__version__"}) == []


def test_every_name_of_perp_in_the_glossary_exists():
    """In the last column of the tables of words and solvers, and in the first one of that of options."""
    page = (ROOT / "docs" / "glossary.md").read_text()
    tables = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    columns = (("Words", -2), ("Solvers of engines", -2), ("Options of engines", 1))
    cells = [
        row.split(" | " if place < 0 else "|")[place if place > 0 else -1]
        for title, place in columns
        for row in re.findall(r"^\| (?!word|library|here).*", tables[title], re.MULTILINE)
    ]
    names = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    assert len(names) > 90
    residuals = {each.name for each in fields(perp.Residuals)}
    known = {*BY_NAME, *options_of(), *ARGUMENTS, *residuals, "m_sor"}
    for name in names:
        word, _, value = name.partition("=")
        if word.startswith("perp."):
            assert hasattr(perp, word.removeprefix("perp.")), name
        else:
            assert word in known, name
        assert not value or value.strip('"') in MODELS, name


def test_solvers_of_engines_stand_beside_the_methods_that_have_them_as_synonyms():
    page = (ROOT / "docs" / "glossary.md").read_text()
    rows = re.findall(r"^\| (?:\w+) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    known = {word: method.name for method in METHODS for word in method.synonyms}
    named = [(word, here) for there, here in rows for word in re.findall(r"`([^`]+)`", there) if word in known]
    assert len(named) > 12
    for word, here in named:
        assert f"`{known[word]}`" in here, word


def test_the_table_of_synonyms_has_all_of_them():
    pytest.importorskip("sphinx")
    table = load_extension("roster").list_synonyms()
    for method in METHODS:
        for word in method.synonyms:
            assert re.search(rf"^\| {re.escape(word)} \| .*`{method.name}`", table, re.MULTILINE)


def test_docstrings_are_turned_into_restructured_text():
    translate = load_extension("plain_docstrings").translate
    made = translate(["The norm |x_t| of `x_t`s.", "", "    |x| <= a_", "", "* one: 2 * 3"])
    assert made == ["The norm \\|x\\_t\\| of ``x_t``\\ s.", "", "::", "", "        |x| <= a_", "", "* one: 2 \\* 3"]
    section = ["Do it.", "", "Parameters", "----------", "x_0", "    Where |x| is."]
    assert translate(section) == ["Do it.", "", "Parameters", "----------", "x\\_0", "    Where \\|x\\| is."]


def test_links_that_leave_the_pages_lead_to_pages():
    pytest.importorskip("sphinx")
    rewrite = load_extension("page_links").rewrite
    docs = ROOT / "docs"
    assert rewrite("[a](../examples/two_bodies.py)", docs) == "[a](/auto_examples/two_bodies.rst)"
    assert rewrite("[a](../../README.md#set-up)", docs / "methods") == "[a](/index.md#set-up)"
    assert rewrite("[a](docs/lab.md), [b](https://x.org/a.md)", ROOT) == "[a](/lab.md), [b](https://x.org/a.md)"


def test_formulas_become_mathml_or_say_what_is_unknown():
    pytest.importorskip("latex2mathml")
    pytest.importorskip("sphinx")
    to_mathml = load_extension("mathml").to_mathml
    assert "<mo>⟂</mo>" in to_mathml(r"0 \le x \perp y", "inline")
    assert "<mtd" in to_mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "block")
    with pytest.raises(ValueError, match="not understood"):
        to_mathml(r"a & b", "inline")


@pytest.mark.slow
def test_the_site_is_built_without_warnings_and_asks_nobody_for_anything(tmp_path):
    """`make docs`: formulas, fonts, scripts, search: all of it stands in the folder."""
    for package in ("sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_gallery", "latex2mathml", "mujoco"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", str(ROOT / "docs"), str(tmp_path)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 40
    loading = re.compile(
        r"""<(?:script|img|iframe|source)[^>]*\ssrc(?:set)?=["']?(?:https?:)?//[^>]*>|"""
        r"""<link(?![^>]*rel="(?:canonical|license)")[^>]*href=["']?(?:https?:)?//[^>]*>"""
    )
    assert [found for page in pages for found in loading.findall(page.read_text())] == []
    sheets = [sheet.read_text() for sheet in tmp_path.rglob("*.css")]
    assert [
        found for sheet in sheets for found in re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^)]*", sheet)
    ] == []
    assert (tmp_path / "searchindex.js").stat().st_size > 10_000


def test_public_names_exist_and_are_documented():
    for name in perp.__all__:
        assert getattr(perp, name) is not None
        if name not in ("__version__",):
            assert getattr(perp, name).__doc__, name


def test_importing_perp_does_not_import_numba_and_neither_does_listing_the_methods():
    for code in ("import perp", "import perp; from perp.solvers.roster import default_methods; default_methods()"):
        check = f"{code}; import sys; sys.exit('numba' in sys.modules or 'matplotlib' in sys.modules)"
        subprocess.run([sys.executable, "-c", check], check=True)
