"""The effort of experiments that share rows."""

from __future__ import annotations

import pytest
from made_experiments import made_experiment, make_tasks

from perp.lab.publication.effort import Effort, find_effort


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
