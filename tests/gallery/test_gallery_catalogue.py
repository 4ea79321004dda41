"""What holds of every kind: it can be made by name, again, and what it says of itself is true."""

from __future__ import annotations

import numpy as np
import pytest

from perp import BoxLCP, ContactProblem
from perp.gallery import Example, kinds, make

ALL = sorted(kinds())
NOT_KNOWN = ["rough_surface"]  # solvable, and nobody knows the solution beforehand
SOLVED = [name for name in ALL if make(name).x is not None]


def same_numbers(one: Example, other: Example) -> bool:
    pairs = [(one.problem.A.to_dense(), other.problem.A.to_dense()), (one.problem.b, other.problem.b)]
    if one.x is not None and other.x is not None:
        pairs.append((one.x, other.x))
    if isinstance(one.problem, BoxLCP) and isinstance(other.problem, BoxLCP):
        pairs += [(one.problem.lower, other.problem.lower), (one.problem.upper, other.problem.upper)]
    if isinstance(one.problem, ContactProblem) and isinstance(other.problem, ContactProblem):
        pairs.append((one.problem.friction, other.problem.friction))
    return (one.x is None) == (other.x is None) and all(np.array_equal(a, b) for a, b in pairs)


def small(name: str, **options: object) -> Example:
    kind = kinds()[name]
    return make(name, n=min(kind.n, 400) if kind.size else None, **options)


@pytest.mark.parametrize("name", ALL)
def test_two_calls_give_the_same_numbers(name: str) -> None:
    assert same_numbers(small(name, seed=3), small(name, seed=3))


@pytest.mark.parametrize("name", [name for name in ALL if kinds()[name].seeded])
def test_another_seed_gives_other_numbers(name: str) -> None:
    assert not same_numbers(small(name, seed=3), small(name, seed=4))


@pytest.mark.parametrize("name", ALL)
def test_an_example_can_be_made_again_from_what_it_says_of_itself(name: str) -> None:
    example = small(name, seed=5)
    again = make(example.name, n=example.problem.n, seed=example.seed, **example.options)
    assert same_numbers(example, again)


@pytest.mark.parametrize("name", SOLVED)
def test_the_known_solution_solves_the_problem(name: str, misfit) -> None:
    for seed in range(3):
        assert misfit(small(name, seed=seed)) <= 1e-12


@pytest.mark.parametrize("name", ALL)
def test_default_rows_are_what_the_catalogue_says(name: str) -> None:
    assert make(name).problem.n == kinds()[name].n


@pytest.mark.parametrize("name", ALL)
def test_every_kind_and_option_is_described(name: str) -> None:
    kind = kinds()[name]
    assert kind.description
    assert len(kind.description) < 120
    options = [*kind.options.values(), *([kind.size] if kind.size else [])]
    for option in options:
        assert option.doc
        option.check(option.default)
        assert option.parse(str(option.default)) == option.default


@pytest.mark.parametrize("name", ALL)
def test_solvable_kinds_alone_have_solutions(name: str) -> None:
    example = make(name)
    assert example.is_solvable or (example.x is None and not example.solutions)
    is_known = example.x is not None or example.continuous is not None or name in NOT_KNOWN
    assert example.is_solvable == is_known


def test_the_examples_numbers_cannot_be_changed() -> None:
    example = make("dense_pd", n=4)
    with pytest.raises(ValueError, match="read-only"):
        example.x[0] = 1.0


def test_the_representation_names_the_recipe() -> None:
    assert repr(make("dense_pd", n=4, seed=2)) == (
        "<Example 'dense_pd', seed 2, solvable: <LCP with 4 unknowns, dense A>>"
    )


def test_a_direct_call_is_signed_like_one_by_name() -> None:
    from perp.gallery import dense_pd

    example = dense_pd(12, 7, active=0.25)
    assert (example.name, example.seed) == ("dense_pd", 7)
    assert example.options == {"condition": None, "active": 0.25, "degenerate": 0.0}
    assert same_numbers(example, make("dense_pd", n=12, seed=7, active=0.25))


def test_kinds_returns_a_copy() -> None:
    kinds().clear()
    assert kinds()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: make("dense_dp"), ValueError, "did you mean .*'dense_pd'"),
        (lambda: make("dense_pd", aktive=0.1), TypeError, "did you mean 'active'"),
        (lambda: make("infeasible", active=0.1), TypeError, "it has none"),
        (lambda: make("infeasible", n=3), ValueError, "always has n = 2"),
        (lambda: make("dense_pd", n=0), ValueError, "n is 0"),
        (lambda: make("dense_pd", n=10**9), ValueError, "n is 1000000000"),
        (lambda: make("dense_pd", n=2.5), TypeError, r"n is 2\.5; an integer"),
        (lambda: make("dense_pd", n=True), TypeError, "n is True"),
        (lambda: make("dense_pd", seed=-1), ValueError, "seed is -1"),
        (lambda: make("infeasible", seed="x"), TypeError, "seed is 'x'"),
        (lambda: make("dense_pd", active=1.5), ValueError, r"active is 1\.5"),
        (lambda: make("dense_pd", active=float("nan")), ValueError, "active is nan"),
        (lambda: make("block_on_wall", margin=float("inf")), ValueError, "margin is inf; it must be finite"),
        (lambda: make("block_on_wall", margin=10**400), ValueError, "it must be finite"),
        (lambda: make("dense_pd", active="half"), TypeError, "active is 'half'; a number"),
        (lambda: make("dense_pd", active=0.7, degenerate=0.4), ValueError, r"0\.7 \+ 0\.4"),
        (lambda: make("poisson_2d", n=9, active=0.7, degenerate=0.4), ValueError, r"0\.7 \+ 0\.4"),
        (lambda: make("box_stack", model="kone"), ValueError, "did you mean 'cone'"),
        (lambda: make("box_stack", points=5), ValueError, "known: 4, 8, 9"),
        (lambda: make("infeasible_psd", n=10, rank=10), ValueError, "rank is 10"),
        (lambda: make("sign_table", a=2), ValueError, "a is 2"),
    ],
)
def test_bad_arguments_are_refused_with_a_sentence(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call()


def test_options_are_read_from_the_words_of_a_command_line() -> None:
    options = kinds()["box_stack"].options
    assert options["points"].parse("8") == 8
    assert options["layout"].parse("tower") == "tower"
    assert options["mass_ratio"].parse("1e3") == 1000.0
    assert kinds()["dense_pd"].options["condition"].parse("none") is None
    with pytest.raises(ValueError, match="mass_ratio is 'heavy'; float"):
        options["mass_ratio"].parse("heavy")
    with pytest.raises(ValueError, match="layout is 'towr'; did you mean 'tower'"):
        options["layout"].check(options["layout"].parse("towr"))
