"""The numbers of the endings, which programs and files rely on."""

from __future__ import annotations

from perp import Status

NUMBERS = {
    "CONVERGED": 0,
    "RELATIVE": 1,
    "ACTIVE_SET_UNCHANGED": 2,
    "STAGNATED": 3,
    "CYCLING": 4,
    "LOCAL_MINIMUM": 5,
    "NON_DESCENT": 6,
    "ITERATION_LIMIT": 7,
    "TIME_LIMIT": 8,
    "REDUCED_ACCURACY": 9,
    "RAY": 10,
    "INFEASIBLE": 11,
    "BREAKDOWN": 12,
    "NON_FINITE": 13,
    "STOPPED_BY_CALLBACK": 14,
    "INTERRUPTED": 15,
}
"""A line here is a promise: add lines, never change one."""


def test_a_number_never_changes_its_meaning():
    assert {name: Status[name].code for name in NUMBERS} == NUMBERS


def test_every_status_has_a_number_of_its_own_that_is_promised():
    assert {status.name for status in Status} == set(NUMBERS)
    assert len({int(status) for status in Status}) == len(Status)


def test_zero_is_success_and_nothing_else_is():
    assert [status for status in Status if int(status) == 0] == [Status.CONVERGED]
    assert [status for status in Status if status.success] == [Status.CONVERGED]
    assert all(int(status) >= 0 for status in Status)


def test_the_value_is_a_sentence_that_finds_its_status():
    for status in Status:
        assert " " in status.value
        assert Status(status.value) is status
