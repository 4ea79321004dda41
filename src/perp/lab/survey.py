"""A survey: every applicable method on every problem of a folder, a row each, and the rows as files.

Problems are read one at a time and rows come one at a time, so that whoever asks may show them, keep them and stop. A
CSV file keeps them (`runs.row_file`); a picture shows the profiles of the methods.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf, nan
from pathlib import Path
from time import perf_counter
from typing import Any

from perp.errors import FileFormatError, InvalidProblem, MissingExtra
from perp.lab.analysis.profiles import draw_profile, find_profile
from perp.lab.plots import new_figure
from perp.lab.relative_error import problem_size, relative_error
from perp.lab.runs.process import FAILURES
from perp.lab.runs.row import FAILED
from perp.lab.runs.row_file import Record
from perp.lab.runs.runner import Here, Reporter, Runner
from perp.lab.runs.task import Task
from perp.lab.work.solve import Trial
from perp.problems.files import SUFFIXES, load
from perp.problems.files.guard import replacing
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.method import Method, misfit
from perp.solvers.results import Status
from perp.solvers.roster import suitable_methods

NOT_READ = "NOT_READ"
"""The status of the one row of a file that is no problem."""

NO_METHOD = "NO_METHOD"
"""The status of the one row of a problem that none of the methods fits."""

UNREADABLE = (FileFormatError, InvalidProblem, MissingExtra, OSError, MemoryError)
"""What a file that is no problem, or a damaged one, raises."""

AUTO = "auto"

DECIDED = (Status.CONVERGED.name, Status.INFEASIBLE.name)

PICTURES = (".svg", ".png", ".pdf")

PROFILE_PANEL = (7.5, 4.2)


@dataclass(frozen=True)
class Candidate:
    """A problem that has a name and is read when its turn comes."""

    name: str
    read: Callable[[], Problem]

    @property
    def has_known_suffix(self) -> bool:
        return Path(self.name).suffix.lower() in SUFFIXES


@dataclass(frozen=True)
class SurveyRow(Record):
    """One method on one problem. Numbers that do not exist are nan."""

    WHAT = "a survey"

    problem: str
    kind: str = ""
    n: int = 0
    method: str = ""
    status: str = NOT_READ
    """The name of a `Status`, FAILED for a method that raised, NOT_READ or NO_METHOD."""
    residual: float = nan
    relative: float = nan
    """`relative_error` of the answer."""
    iterations: int = 0
    seconds: float = nan
    setup_seconds: float = nan
    tol: float = nan
    """The absolute tolerance of the run."""
    message: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.problem, self.method

    @property
    def is_decided(self) -> bool:
        """Solved, or proved to have no solution."""
        return self.status in DECIDED

    @property
    def success(self) -> bool:
        return self.is_decided

    @property
    def total_seconds(self) -> float:
        return self.setup_seconds + self.seconds


Finished = Mapping[Any, SurveyRow]
"""Rows of an earlier survey by their keys: problem and method."""


@dataclass(frozen=True)
class Survey:
    """What is asked of each problem: which methods are run, and when they stop.

    A run stops when its residual is at most `tol` times the size of the problem (`relative_error.problem_size`), or
    after `seconds` seconds of wall clock.
    """

    tol: float = 1e-8
    seconds: float = 10.0
    methods: Collection[str | Method] | None = None
    """Names, "auto" among them, and method objects, which need not be on the roster; None means all that fit."""
    model: str | None = None
    """The law of friction that contacts are given in place of their own."""

    def run(
        self,
        candidate: Candidate,
        finished: Finished | None = None,
        reporter: Reporter[SurveyRow] | None = None,
    ) -> Iterator[SurveyRow]:
        """The rows of one problem; those that are `finished` already, with the same tolerance, are not run again."""
        try:
            problem = with_law(candidate.read(), self.model)
        except UNREADABLE as error:
            yield unread_row(candidate.name, error)
            return
        tol = self.tol * problem_size(problem)
        methods = self.contenders(problem)
        if not methods:
            told = f"none of the methods takes this {problem.kind} problem"
            yield SurveyRow(candidate.name, problem.kind, problem.n, status=NO_METHOD, tol=tol, message=told)
        recipe, stop = {"file": candidate.name, "kind": problem.kind}, {"tol": tol, "max_seconds": self.seconds}
        tasks = [
            Trial("survey", recipe, label_of(one), stop=stop, group=candidate.name, problem=problem, solver=one)
            for one in methods
        ]
        yield from _SurveyRunner(finished or {}, reporter).run(tasks)

    def contenders(self, problem: Problem) -> list[str | Method]:
        """The methods that take the problem: those of the roster in its order, then "auto", then others as given."""
        chosen = self.methods
        found: list[str | Method] = [one for one in suitable_methods(problem) if chosen is None or one.name in chosen]
        if chosen is not None:
            found += [AUTO] * (AUTO in chosen)
            found += [one for one in chosen if isinstance(one, Method) and misfit(one, problem) is None]
        return found


class _SurveyRunner(Runner[SurveyRow]):
    def __init__(self, finished: Finished, reporter: Reporter[SurveyRow] | None) -> None:
        super().__init__(lambda: Here(run_trial), reporter)
        self.finished = finished

    def find(self, task: Task) -> SurveyRow | None:
        former = self.finished.get((task.group, task.method))
        wanted = task.instance["kind"], task.stop["tol"]
        return former if former is not None and (former.kind, former.tol) == wanted else None


def label_of(method: str | Method) -> str:
    return method if isinstance(method, str) else method.label


def run_trial(trial: Trial) -> SurveyRow:
    """Solve and measure; a method that raises is a row too. The time is that of the whole call, for every method."""
    problem, stop = trial.problem, trial.stopping
    row = SurveyRow(trial.group, problem.kind, problem.n, trial.method, FAILED, tol=stop.tol)
    begun = perf_counter()
    try:
        result = solve(problem, trial.solver, stop=stop)
    except FAILURES as failure:
        return replace(row, message=_one_line(f"{type(failure).__name__}: {failure}"))
    whole = perf_counter() - begun
    return replace(
        row,
        status=result.status.name,
        residual=result.residual,
        relative=relative_error(problem, result.x),
        iterations=result.iterations,
        seconds=whole - result.setup_seconds,
        setup_seconds=result.setup_seconds,
        message=_one_line(result.message),
    )


def unread_row(name: str, error: Exception) -> SurveyRow:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return SurveyRow(name, message=_one_line(reason))


def with_law(problem: Problem, model: str | None) -> Problem:
    """Contacts under another law of friction; fixed discs have no coefficient that another law could use."""
    contacts = problem.frictional
    if model is None or contacts is None or contacts.model in (model, "disc"):
        return problem
    return contacts.with_model(model)


def find_candidates(folder: Path) -> list[Candidate]:
    """All files below a folder, in order, but hidden ones and those that belong to another (vectors beside a .mtx)."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    visible = [path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    matrices = {path for path in visible if path.suffix.lower() == ".mtx"}
    return [
        Candidate(_printable(path.relative_to(folder).as_posix()), partial(_read, path))
        for path in visible
        if not (path in matrices and path.with_name(Path(path.stem).stem + path.suffix) in matrices - {path})
    ]


def undecided(rows: Iterable[SurveyRow]) -> list[str]:
    """The problems that no method has solved, or proved to have no solution."""
    decided: dict[str, bool] = {}
    for row in rows:
        if row.status != NOT_READ:
            decided[row.problem] = decided.get(row.problem, False) or row.is_decided
    return [name for name, is_decided in decided.items() if not is_decided]


def _read(path: Path) -> Problem:
    """The problem of a file; what is wrong with it is told without its path, which the row has already."""
    if path.suffix.lower() not in SUFFIXES:
        raise FileFormatError(f"the suffix {path.suffix!r} names no format that perp reads")
    try:
        return load(path)
    except FileFormatError as error:
        raise FileFormatError(str(error).removeprefix(f"{path}: ")) from error


def _one_line(text: str) -> str:
    return _printable(" ".join(text.split()))


def _printable(text: str) -> str:
    """With escapes for what no table can show: names of files may hold any byte, control characters among them."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def write_profile(path: Path, rows: Iterable[SurveyRow]) -> None:
    """Draw the performance profiles (Dolan & Moré 2002) of the methods of a survey, fastest at the left.

    A method has not solved the problems that it does not accept. Files without a problem are left out.
    """
    runs = [row for row in rows if row.status not in (NOT_READ, NO_METHOD)]
    profile = find_profile(
        runs, method=lambda row: str(row.method), problem=lambda row: str(row.problem), needs_all=False
    )
    figure, (axes,) = new_figure(panel=PROFILE_PANEL)
    figure.set_facecolor("white")
    lines = draw_profile(axes, profile)
    order = sorted(range(len(lines)), key=lambda k: -profile.share(str(lines[k].get_label()), inf))
    axes.legend(handles=[lines[k] for k in order], loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower())
