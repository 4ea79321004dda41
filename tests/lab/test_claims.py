"""Claims and verdicts: the checker can fail, and says what it cannot tell."""

from __future__ import annotations

import tomllib
from math import inf, nan

import pytest

from perp.lab.claims import Claim, Limits, Outcome, judge, parse_claims

HALF = """
[[claim]]
id = "half"
where = "Fig. 4"
says = "PSOR at 1.4 needs about half of the iterations of PGS."
measure = "ratio"
printed = { "PSOR" = 25.3, "PGS" = 49.4 }
holds = { least = 0.35, most = 0.65 }
group = "fluid"
why = "The matrices differ."
"""

CANNOT = """
[[claim]]
id = "factor"
where = "Table 1"
says = "Half of the iterations."
measure = "ratio"
unit = "of PGS"
holds = { least = 0.35, most = 0.65 }
cannot = "Both are the same iteration."
instead = { least = 1.0, most = 1.0 }
why = "Rounding."
"""


def only(text):
    (claim,) = parse_claims(text)
    return claim


def test_a_figure_within_the_limits_holds_and_the_sentence_has_both_numbers():
    verdict = judge(only(HALF), {"ratio": 0.512})
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.measured == 0.512
    assert verdict.sentence == "paper PSOR 25.3, PGS 49.4; here 0.512; the claim means 0.35 to 0.65."


@pytest.mark.parametrize("value", [0.3499, 0.6501, -1.0, 1e300])
def test_a_wrong_number_differs_and_says_why(value):
    verdict = judge(only(HALF), {"ratio": value})
    assert verdict.outcome is Outcome.DIFFERS
    assert verdict.sentence.endswith("; the claim means 0.35 to 0.65. The matrices differ.")


@pytest.mark.parametrize("value", [0.35, 0.65])
def test_limits_belong_to_the_claim(value):
    assert judge(only(HALF), {"ratio": value}).outcome is Outcome.HOLDS


@pytest.mark.parametrize("measured", [{}, {"ratio": nan}, {"ratio": inf}, {"ratio": -inf}, {"other": 0.5}])
def test_what_is_no_number_was_not_measured(measured):
    verdict = judge(only(HALF), measured)
    assert verdict.outcome is Outcome.NOT_MEASURED
    assert "nothing measured here" in verdict.sentence


def test_a_void_comparison_voids_its_claims_and_no_others():
    assert judge(only(HALF), {"ratio": 0.5}, void={"fluid": "idle"}).outcome is Outcome.VOID
    assert judge(only(HALF), {"ratio": 9.9}, void=["fluid"]).outcome is Outcome.VOID
    assert judge(only(HALF), {"ratio": 0.5}, void=["contact"]).outcome is Outcome.HOLDS


def test_a_claim_that_rests_on_all_comparisons_is_void_with_any():
    everywhere = only(HALF.replace('group = "fluid"', ""))
    assert judge(everywhere, {"ratio": 0.5}, void=["contact"]).outcome is Outcome.VOID
    assert judge(everywhere, {"ratio": 0.5}, void=[]).outcome is Outcome.HOLDS


def test_the_quick_run_does_not_judge_what_only_the_full_one_can():
    large = only(HALF + "full_size_only = true\n")
    assert judge(large, {"ratio": 0.5}, quick=True).outcome is Outcome.NOT_MEASURED
    assert judge(large, {"ratio": 9.9}, quick=True).outcome is Outcome.NOT_MEASURED
    assert judge(large, {"ratio": 0.5}).outcome is Outcome.HOLDS
    assert judge(only(HALF), {"ratio": 0.5}, quick=True).outcome is Outcome.HOLDS


def test_what_cannot_hold_is_confirmed_only_by_the_figure_that_was_derived():
    verdict = judge(only(CANNOT), {"ratio": 1.0})
    assert verdict.outcome is Outcome.CANNOT_HOLD
    assert verdict.sentence == "here 1 of PGS, as derived (exactly 1): Both are the same iteration."


@pytest.mark.parametrize("value", [0.5, 1.001])
def test_a_figure_beside_the_derivation_differs_even_where_it_is_what_the_paper_says(value):
    verdict = judge(only(CANNOT), {"ratio": value})
    assert verdict.outcome is Outcome.DIFFERS
    assert "not as derived (exactly 1; the claim itself means 0.35 to 0.65). Rounding." in verdict.sentence


def test_limits_say_themselves_in_words():
    told = [str(Limits(*limits)) for limits in ((1.0, 1.0), (-inf, 2.0), (0.5, inf), (1.0, 2.0))]
    assert told == ["exactly 1", "at most 2", "at least 0.5", "1 to 2"]
    assert nan not in Limits()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("holds = { least = 0.35, most = 0.65 }", "holds = {}"), "holds whatever is measured"),
        (("least = 0.35", "least = 0.75"), "never holds"),
        (("least = 0.35", "least = nan"), "never holds"),
        (("[[claim]]", "[[claims]]"), "nothing else"),
        (("[[claim]]", "title = 'x'\n[[claim]]"), "nothing else"),
        (('where = "Fig. 4"', 'place = "Fig. 4"'), "'place'"),
        (('why = "The matrices differ."', 'cannot = "By proof."'), "go together"),
        (('why = "The matrices differ."', "instead = { most = 1.0 }"), "go together"),
        (('why = "The matrices differ."', 'cannot = "By proof."\ninstead = {}'), "holds whatever is measured"),
        (('why = "The matrices differ."', 'cannot = "By proof."\ninstead = { most = nan }'), "never holds"),
    ],
)
def test_claims_that_say_nothing_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        parse_claims(HALF.replace(*change))


def test_two_claims_of_one_name_are_refused():
    with pytest.raises(ValueError, match="same id"):
        parse_claims(HALF + HALF)


@pytest.mark.parametrize("text", ["[[claim]", "[[claim]]\nid = half\n", HALF + "printed = {}\n"])
def test_damaged_files_are_refused(text):
    with pytest.raises(tomllib.TOMLDecodeError):
        parse_claims(text)


@pytest.mark.parametrize(("line", "missing"), [('says = "PSOR', "says"), ("measure", "measure"), ("holds", "holds")])
def test_a_claim_without_what_it_needs_is_refused(line, missing):
    text = "\n".join(each for each in HALF.splitlines() if not each.startswith(line))
    with pytest.raises(TypeError, match=missing):
        parse_claims(text)


def test_claims_are_as_they_were_written():
    assert only(HALF) == Claim(
        id="half",
        where="Fig. 4",
        says="PSOR at 1.4 needs about half of the iterations of PGS.",
        measure="ratio",
        holds=Limits(0.35, 0.65),
        printed={"PSOR": 25.3, "PGS": 49.4},
        group="fluid",
        why="The matrices differ.",
    )
