"""Names that other libraries have lead to perp's own, at every door; none of them runs anything."""

from __future__ import annotations

import inspect
import pickle
import re
from dataclasses import fields

import numpy as np
import pytest

import perp
from perp.errors import find_meant, fold, suggest
from perp.solvers.method import Method
from perp.solvers.options import option_docs
from perp.solvers.roster import BY_NAME, METHODS, methods_called, options_of
from perp.vocabulary import ARGUMENTS, lead_home, suggest_argument
from perp.worlds.articulated import ArticulatedWorld
from perp.worlds.fluid import LiquidWorld
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane, Segment
from perp.worlds.rigid3d import Geom, RigidWorld

PROBLEM = perp.LCP(np.eye(2), [-1.0, 1.0])

METHOD_SYNONYMS = [(method, word) for method in METHODS for word in method.synonyms]
OPTION_SYNONYMS = [
    (method, name, word) for method in METHODS for name, about in option_docs(method).items() for word in about.synonyms
]
DOORS = {
    "LCP": perp.LCP,
    "BoxLCP": perp.BoxLCP,
    "ContactProblem": perp.ContactProblem,
    "FactoredOperator": perp.FactoredOperator,
    "JointRows": perp.JointRows,
    "LimitRows": perp.LimitRows,
    "ContactRows": perp.ContactRows,
    "MotorRows": perp.MotorRows,
    "assemble_step": perp.assemble_step,
    "Stopping": perp.Stopping,
    "simulate": perp.simulate,
    "DiscWorld": DiscWorld,
    "RigidWorld": RigidWorld,
    "ArticulatedWorld": ArticulatedWorld,
    "LiquidWorld": LiquidWorld,
    "Discs": Discs,
    "HalfPlane": HalfPlane,
    "Segment": Segment,
    "Geom": Geom,
}


@pytest.mark.parametrize(("method", "word"), METHOD_SYNONYMS, ids=lambda value: getattr(value, "name", value))
def test_every_synonym_of_a_method_is_an_error_that_names_it(method: type[Method], word: str):
    with pytest.raises(ValueError, match=rf"{re.escape(repr(word))} is known here as .*'{method.name}'"):
        perp.solve(PROBLEM, word)
    assert method in methods_called(word)


@pytest.mark.parametrize(
    ("method", "name", "word"), OPTION_SYNONYMS, ids=[f"{method.name}.{word}" for method, _, word in OPTION_SYNONYMS]
)
def test_every_synonym_of_an_option_is_an_error_that_names_it(method: type[Method], name: str, word: str):
    for refuse in (lambda: perp.solve(PROBLEM, method.name, **{word: 1}), lambda: method(**{word: 1})):
        with pytest.raises(TypeError, match=rf"{re.escape(repr(word))} is known here as .*'{name}'"):
            refuse()


@pytest.mark.parametrize("door", DOORS)
def test_every_synonym_of_an_argument_is_an_error_that_names_it_at_every_door(door: str):
    known = inspect.signature(DOORS[door]).parameters
    named = 0
    for name in known:
        for word in ARGUMENTS[name].synonyms if name in ARGUMENTS else ():
            if word not in known:
                named += 1
                with pytest.raises(TypeError, match=rf"{door} has no argument '{word}'; '{word}' is .*'{name}'"):
                    DOORS[door](**{word: 1})
    assert named


def test_every_synonym_of_an_argument_of_solve_is_an_error_that_names_it():
    for method in ("auto", "pgs"):
        for name in ("tol", "max_iterations", "max_seconds", "x0", "check_every"):
            for word in ARGUMENTS[name].synonyms:
                with pytest.raises(TypeError, match=f"'{word}' is known here as '{name}'"):
                    perp.solve(PROBLEM, method, **{word: 1})


def test_every_argument_of_the_vocabulary_is_one_of_perp():
    doors = [*DOORS.values(), perp.solve, perp.solve_islands]
    known = {name for door in doors for name in inspect.signature(door).parameters}
    assert set(ARGUMENTS) <= known
    for entry in ARGUMENTS.values():
        for name in re.findall(r"perp\.(\w+)", entry.home):
            assert hasattr(perp, name)


def test_a_synonym_is_no_name_of_the_thing_itself():
    for method in METHODS:
        names = {each.name for each in fields(method)}
        assert fold(method.name) not in map(fold, method.synonyms)
        assert len(set(map(fold, method.synonyms))) == len(method.synonyms)
        for name, about in option_docs(method).items():
            assert names.isdisjoint(about.synonyms), f"{method.name}.{name}"
            assert not find_meant(name, {name: about.synonyms})
    assert not {fold(word) for _, word in METHOD_SYNONYMS} & {fold(name) for name in BY_NAME}


def test_a_known_method_with_other_capitals_or_hyphens_is_named():
    for word, name in (("PGS-SM", "pgs_sm"), ("BlockGaussSeidel", "block_gauss_seidel"), ("NNCG", "nncg")):
        with pytest.raises(ValueError, match=f"did you mean '{name}'"):
            perp.solve(PROBLEM, word)


def test_an_argument_that_belongs_elsewhere_is_sent_there():
    for refuse, said in (
        (lambda: perp.LCP(np.eye(2), [1.0, 1.0], lower=0.0), "'lower' is an argument of perp.BoxLCP"),
        (
            lambda: perp.LCP(np.eye(2), [1.0, 1.0], lb=0.0),
            r"'lb' is known here as 'lower' \(an argument of",
        ),
        (lambda: perp.solve(PROBLEM, mu=0.5), r"'mu' is known here as 'friction' \(an argument of perp.ContactProblem"),
        (lambda: perp.solve(PROBLEM, relaxation=1.2), "an option of psor.*; options need a named method"),
        (lambda: perp.solve(PROBLEM, "lemke", omega=1.2), "'omega' is .*known here as .*'relaxation'"),
        (
            lambda: perp.simulate("pool1", 1, erp=0.2),
            r"'erp' is known here as 'error_reduction' \(an argument of",
        ),
        (lambda: perp.simulate("pool1", 1, omega=1.2), r"'relaxation' \(an option of psor"),
        (lambda: perp.scenes.make("pool1", mu=0.5), "'mu' is known here as 'friction'"),
    ):
        with pytest.raises(TypeError, match=said):
            refuse()


def test_an_option_that_shares_the_name_of_an_argument_does_not_answer_to_its_synonyms():
    with pytest.raises(TypeError, match=r"'mu' is known here as 'friction' \(an argument of perp.ContactProblem\)"):
        perp.solve(PROBLEM, "staggering", mu=0.5)


def test_the_hint_for_an_argument_of_the_call_says_nothing_of_methods():
    with pytest.raises(TypeError, match=r"'maxiter' is known here as 'max_iterations'$"):
        perp.solve(PROBLEM, maxiter=5)


def test_other_errors_of_a_call_stay_what_they_are():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        perp.LCP(np.eye(2))
    with pytest.raises(TypeError, match="takes from 1 to 4 positional arguments"):
        perp.PSOR(1.2, "forward", 0, 1)
    with pytest.raises(TypeError, match=r"LCP has no argument 'nonsense' \(known: A, b\)"):
        perp.LCP(np.eye(2), [1.0, 1.0], nonsense=1)


def test_signatures_and_pickles_are_those_of_plain_classes():
    assert list(inspect.signature(perp.LCP).parameters) == ["A", "b"]
    assert list(inspect.signature(perp.PSOR).parameters) == ["relaxation", "order", "seed"]
    assert pickle.loads(pickle.dumps(perp.PSOR(relaxation=1.1))) == perp.PSOR(relaxation=1.1)
    assert perp.LCP.__init__.__doc__ is None


def test_options_of_all_methods_say_who_has_them():
    options = options_of()
    assert options["relaxation"].home == "an option of psor, symmetric_psor, msor, ..."
    assert options["covering"].home == "an option of lemke"
    assert "omega" in options["relaxation"].synonyms


def test_leads_are_here_or_elsewhere():
    assert lead_home("mu", ["friction"]).here == ("friction",)
    assert lead_home("mu", ["A", "b"]).here == ()
    assert "'friction'" in lead_home("mu", ["A", "b"]).elsewhere
    assert lead_home("nonsense", ["A"]).elsewhere == ""
    assert suggest_argument("nonsense", ["A"]) == " (known: A)"
    assert suggest_argument("mu", []).startswith("; 'mu' is known here as 'friction'")
    assert suggest_argument("mu", map(str, range(9))).endswith("ContactProblem)")


def test_words_are_compared_by_their_letters_and_digits():
    assert fold("Júdice-Pires") == fold("judice pires") == "judicepires"
    assert suggest("Sor", ["psor", "pgs"], {"psor": ["SOR"]}) == "; 'Sor' is known here as 'psor'"
    assert suggest("psorr", ["psor"]) == "; did you mean 'psor'? (known: psor)"
