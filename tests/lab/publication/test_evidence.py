"""Evidence: which rows speak for an experiment, and the verdicts that follow."""

from __future__ import annotations

from dataclasses import replace

from made_experiments import MemoryStore, made_experiment, made_rows, make_tasks, raise_always
from made_rows import row_of

from perp.lab.claims import Outcome
from perp.lab.publication.evidence import examine, gather


def gathered(rows, **changes):
    (evidence,) = gather(MemoryStore(rows), [made_experiment(**changes)])
    return evidence


def test_full_rows_are_taken_where_they_are_all_there():
    evidence = gathered(made_rows())
    assert (evidence.size, len(evidence.rows), evidence.is_complete) == ("full", 12, True)
    assert {verdict.claim.id: verdict.outcome for verdict in evidence.verdicts} == {
        "half": Outcome.HOLDS,
        "same": Outcome.DIFFERS,
        "proof": Outcome.CANNOT_HOLD,
    }
    assert evidence.counts[Outcome.HOLDS] == 1


def test_a_quick_run_whose_tasks_belong_to_both_sizes_stays_a_quick_run():
    evidence = gathered(made_rows(quick=True))
    assert (evidence.size, len(evidence.rows), evidence.planned) == ("quick", 4, 4)


def test_a_full_run_that_was_interrupted_is_shown_in_part():
    evidence = gathered(made_rows()[:7])
    assert (evidence.size, len(evidence.rows), evidence.planned, evidence.is_complete) == ("full", 7, 12, False)


def test_a_verdict_on_some_of_the_rows_says_so():
    rows = made_rows()
    rows[0] = row_of(rows[0].task, "TIME_OUT", iterations=10.0)
    evidence = gathered(rows[:7])
    verdict = evidence.verdicts[0]
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.sentence.endswith(
        "Judged in part: 5 of 12 tasks have no row yet. 1 of the 7 rows that it rests on gave no result."
    )
    assert all("rows" not in verdict.sentence for verdict in gathered(made_rows()).verdicts)


def test_rows_that_are_all_lost_measure_nothing():
    lost = [row_of(task, "FAILED", "ImportError") for task in make_tasks(False)]
    evidence = gathered(lost, measure=lambda rows: {"ratio": 0.5})
    assert evidence.counts == {Outcome.NOT_MEASURED: 3}


def test_a_row_that_ran_beside_others_tells_no_time():
    rows = made_rows()
    timed = made_experiment(make_tasks=lambda quick: [replace(task, timed=True) for task in make_tasks(quick)])
    alone = [replace(row, circumstances=replace(row.circumstances, alone=True)) for row in rows[:5]]
    (evidence,) = gather(MemoryStore([*alone, *rows[5:]]), [timed])
    assert (len(evidence.rows), evidence.planned) == (5, 12)


def test_rows_of_another_experiment_are_no_run_of_this_one():
    def make_more(quick):
        return [replace(task, options={"relaxation": 1.3}) for task in make_tasks(quick)] + make_tasks(quick)[:2]

    experiments = [made_experiment(), made_experiment("made-more", make_tasks=make_more)]
    first, second = gather(MemoryStore(made_rows(quick=True)), experiments)
    assert (first.size, second.size, second.verdicts) == ("quick", "", ())
    begun = row_of(make_more(True)[0])
    _, second = gather(MemoryStore([*made_rows(quick=True), begun]), experiments)
    assert (second.size, len(second.rows), second.planned) == ("quick", 3, 6)
    _, second = gather(MemoryStore([*made_rows(), *(row_of(task) for task in make_more(True))]), experiments)
    assert (second.size, second.is_complete) == ("quick", True)


def test_an_experiment_without_rows_has_no_verdicts():
    evidence = gathered([])
    assert (evidence.size, evidence.rows, evidence.verdicts) == ("", (), ())


def test_quick_rows_do_not_judge_what_needs_the_full_size():
    claims = tuple(replace(claim, full_size_only=True) for claim in made_experiment().claims)
    assert gathered(made_rows(quick=True), claims=claims).counts == {Outcome.NOT_MEASURED: 3}
    assert gathered(made_rows(), claims=claims).counts[Outcome.NOT_MEASURED] == 0


def test_rows_that_were_run_for_another_experiment_have_the_labels_of_this_one():
    foreign = [replace(row, task=replace(row.task, label="theirs", group="other")) for row in made_rows()]
    assert [row.name for row in gathered(foreign).rows[:2]] == ["fast", "slow"]
    assert {row.group for row in gathered(foreign).rows} == {"race"}


def test_a_comparison_of_idle_rows_voids_its_claims():
    evidence = gathered(made_rows(iterations=0.0))
    assert list(evidence.void) == ["race"]
    assert evidence.counts == {Outcome.VOID: 3}


def test_measuring_that_raises_leaves_verdicts_open_and_a_trouble():
    evidence = gathered(made_rows(), measure=raise_always)
    assert evidence.counts == {Outcome.NOT_MEASURED: 3}
    assert [str(trouble) for trouble in evidence.troubles] == ["made-race: measure: LookupError: no <such> row"]


def test_tasks_that_cannot_be_made_are_a_trouble_and_not_the_end():
    broken = made_experiment("made-broken", make_tasks=raise_always)
    first, second = gather(MemoryStore(made_rows()), [broken, made_experiment()])
    assert [trouble.part for trouble in first.troubles] == ["tasks"]
    assert (first.rows, second.size) == ((), "full")


def test_rows_in_hand_can_be_examined_without_a_store():
    rows = [row_of(task, iterations=5.0) for task in make_tasks(True)]
    evidence = examine(made_experiment(), rows, quick=True)
    assert (evidence.planned, evidence.size) == (4, "quick")
    assert evidence.verdicts[0].measured == 1.0
