"""What the tests of the command line share: a way to call it, and small problems in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from perp.cli.main import app
from perp.gallery import make
from perp.problems.files import save


class Answer:
    """Exit code, stdout and stderr of one call, and what it raised, if it was neither an exit nor nothing."""

    def __init__(self, words: tuple[str, ...]) -> None:
        outcome = CliRunner().invoke(app, list(words), prog_name="perp")
        if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
            raise outcome.exception
        self.code, self.out, self.err = outcome.exit_code, outcome.stdout, outcome.stderr


@pytest.fixture
def perp_command() -> Callable[..., Answer]:
    """`perp_command("solve", file)` is `perp solve file`."""
    return lambda *words: Answer(tuple(map(str, words)))


@pytest.fixture(scope="session")
def fluid_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An LCP of 27 rows with its solution."""
    path = tmp_path_factory.mktemp("problems") / "fluid.npz"
    example = make("fluid_like", n=27)
    save(example.problem, path, x=example.x)
    return path


@pytest.fixture(scope="session")
def stack_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Contacts whose solution nobody knows; sweeping takes its time here."""
    path = tmp_path_factory.mktemp("problems") / "stack.npz"
    save(make("box_stack", n=100, load="gravity").problem, path)
    return path
