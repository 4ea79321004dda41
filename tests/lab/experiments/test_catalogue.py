"""The catalogue: every experiment is there, says what it should, and asks for tasks that any process can carry out."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from made_experiments import made_experiment, make_tasks

from perp.lab.claims import parse_claims
from perp.lab.experiments.catalogue import FILES, Effort, all_experiments, find_effort, find_experiment
from perp.lab.publication.report import SOURCES
from perp.lab.runs.task import canonical, find_work
from perp.solvers.roster import BY_NAME
from perp.solvers.stopping import Stopping

FULL_RUN_MINUTES = 40.0


each_experiment = pytest.mark.parametrize("identity", FILES)


@each_experiment
def test_an_experiment_says_what_it_is(identity):
    experiment = find_experiment(identity)
    assert experiment.id == identity
    assert experiment.source in SOURCES
    for words in (experiment.item, experiment.title, experiment.story, experiment.size):
        assert words.strip() == words != ""
    assert 0.0 < experiment.minutes < FULL_RUN_MINUTES


@each_experiment
def test_its_claims_are_those_of_its_file(identity):
    experiment = find_experiment(identity)
    package, _, name = f"perp.lab.experiments.{FILES[identity]}".rpartition(".")
    text = files(package).joinpath(f"{name.rpartition(':')[2].lower()}.toml").read_text(encoding="utf-8")
    assert parse_claims(text) == experiment.claims
    assert experiment.claims


@each_experiment
def test_claims_rest_on_comparisons_that_there_are(identity):
    experiment = find_experiment(identity)
    groups = {task.group for quick in (False, True) for task in experiment.make_tasks(quick)}
    assert {claim.group for claim in experiment.claims} - {""} <= groups


@each_experiment
@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
def test_tasks_are_plain_data_with_keys_of_their_own(identity, quick):
    tasks = find_experiment(identity).make_tasks(quick)
    assert tasks
    assert len({task.key for task in tasks}) == len(tasks)
    for task in tasks:
        written = canonical(task.content)
        assert canonical(json.loads(written)) == written
        assert callable(find_work(task.work))
        assert isinstance(task.stopping, Stopping)
        if task.work in ("solve", "simulate"):
            assert task.method == "auto" or task.method in BY_NAME
        assert task.wall_seconds > 0.0


@each_experiment
def test_tasks_are_the_same_each_time(identity):
    experiment = find_experiment(identity)
    for quick in (False, True):
        assert [task.key for task in experiment.make_tasks(quick)] == [t.key for t in experiment.make_tasks(quick)]


def test_the_quick_run_is_smaller_than_the_full_one():
    sizes = {
        identity: [len(find_experiment(identity).make_tasks(quick)) for quick in (True, False)] for identity in FILES
    }
    assert {identity: size for identity, size in sizes.items() if size[0] > size[1]} == {}


def test_all_of_them_fit_into_the_time_of_a_full_run():
    experiments = all_experiments()
    assert [experiment.id for experiment in experiments] == list(FILES)
    assert find_effort(experiments).minutes <= FULL_RUN_MINUTES


def test_an_unknown_id_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'notes-fig1'"):
        find_experiment("notes-fig11")


def test_rows_that_two_experiments_share_are_run_once():
    assert find_effort([made_experiment()]) == Effort(12, 0.5)
    assert find_effort([made_experiment(), made_experiment("made-same", minutes=3.0)]) == Effort(12, 0.5)


def test_an_experiment_counts_with_the_part_of_its_rows_that_is_new():
    first = made_experiment(make_tasks=lambda quick: make_tasks(False)[:9])
    effort = find_effort([first, made_experiment("made-all", minutes=4.0)])
    assert effort.rows == 12
    assert effort.minutes == pytest.approx(0.5 + 4.0 * 3 / 12)


def test_nothing_takes_no_time():
    assert find_effort([made_experiment(make_tasks=lambda quick: [])]) == Effort(0, 0.0)
