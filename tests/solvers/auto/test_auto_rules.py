"""The table of rules: the first that applies decides, and what it names exists."""

from __future__ import annotations

import csv
from pathlib import Path

import grid_operators as grids
import numpy as np
import pytest
import strategies
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import perp
from perp.solvers.auto.features import Features
from perp.solvers.auto.rules import RULES, find_rule
from perp.solvers.method import misfit

RNG = np.random.default_rng(0)
SPD, BIG = strategies.spd_matrix(RNG, 6), strategies.spd_matrix(RNG, 220)
SKEW = np.triu(np.ones((6, 6)), 1)
BAND = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(300, 300), format="csr")
STRONG = sparse.diags_array([-1.0, 3.0, -1.0], offsets=[-1, 0, 1], shape=(300, 300), format="csr")
UPWIND = sparse.diags_array([-2.0, 3.0, -1.0], offsets=[-1, 0, 1], shape=(300, 300), format="csr")
SIGNED = sparse.diags_array([1.0, 2.0, 1.0], offsets=[-1, 0, 1], shape=(300, 300), format="csr")
ZERO = sparse.block_array([[STRONG, STRONG], [-STRONG, None]], format="csr")
PRODUCT = aslinearoperator(SPD)


def lcp(A):
    return perp.LCP(A, -np.ones(A.n if isinstance(A, perp.Operator) else A.shape[0]))


CASES = {
    "wide contacts": perp.ContactProblem(
        BIG[:12, :12], -np.ones(12), [[0.5, 0.5, 0.02, 0.01, 0.01]], "cone", dimension=6
    ),
    "small grid": lcp(perp.StencilOperator((5, 4), 4.5)),
    "grid": lcp(perp.StencilOperator((60, 60), 4.5)),
    "convolution": lcp(perp.ConvolutionOperator([2.0, -0.5, 0.5, -0.5], (4,))),
    "product with a diagonal": lcp(perp.MatrixFreeOperator(PRODUCT, SPD.diagonal())),
    "product": lcp(perp.MatrixFreeOperator(PRODUCT)),
    "many contacts": perp.gallery.make("box_stack", n=336, model="cone", load="gravity").problem,
    "convex contacts": perp.ContactProblem(SPD, -np.ones(6), 0.5, "convex"),
    "contacts in a plane": perp.ContactProblem(SPD, -np.ones(6), 0.5, dimension=2),
    "boxed friction": perp.ContactProblem(SPD, -np.ones(6), 0.5),
    "contacts": perp.ContactProblem(SPD, -np.ones(6), 0.5, "cone"),
    "dominant": lcp(UPWIND),
    "few symmetric rows": lcp(SPD),
    "diffusion": lcp(BAND),
    "bodies": perp.gallery.make("boxed_stack", n=300).problem,
    "sparse symmetric": lcp(SIGNED),
    "symmetric": lcp(BIG),
    "positive diagonal": lcp(SPD + SKEW - SKEW.T),
    "any sparse": perp.LCP(ZERO, np.repeat([-1.0, 1.0], 300)),
    "any": perp.LCP([[0.0, 2.0], [-2.0, 0.0]], [-1.0, 1.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_problem_is_met_by_its_rule(name):
    assert find_rule(Features.of(CASES[name])).name == name


def test_every_rule_has_a_case_here_and_all_have_names_of_their_own():
    warm = {"many contacts, warm": "many contacts", "warm start": "symmetric"}
    assert [rule.name for rule in RULES if rule.name not in warm] == list(CASES)
    for name, case in warm.items():
        assert find_rule(Features.of(CASES[case], is_warm=True)).name == name


@pytest.mark.parametrize("name", CASES)
def test_somebody_in_each_chain_takes_the_problem_and_solves_it(name):
    problem = CASES[name]
    rule = find_rule(Features.of(problem))
    assert misfit(rule.chain[0].method, problem) is None
    result = perp.solve(problem)
    assert result.success
    assert result.scaled_residual <= 1e-8


@pytest.mark.parametrize("storage", grids.STORAGES)
def test_stencils_that_push_are_no_grids(storage):
    A = grids.random_stencil(np.random.default_rng(0), (5, 4), storage)
    assert Features.of(lcp(A)).is_grid
    assert not Features.of(lcp(perp.StencilOperator((5, 4), 6.0, [-1.0, 0.5]))).is_grid
    assert not Features.of(lcp(perp.StencilOperator((2, 2, 2, 2), 8.0))).is_grid
    assert perp.solve(perp.LCP(perp.StencilOperator((3, 0), 4.0), [])).success


def test_features_tell_what_a_rule_asked_and_no_more():
    features = Features.of(CASES["symmetric"])
    assert "is symmetric" not in str(features)
    assert features.is_symmetric
    assert "is symmetric: True" in str(features)
    assert not Features.of(CASES["any"]).has_positive_diagonal


def test_the_measurements_that_rules_rest_on_are_kept():
    kept = Path(__file__).resolve().parents[3] / "docs" / "choosing" / "best.csv"
    with kept.open(encoding="utf-8", newline="") as stream:
        families = {row["family"] for row in csv.DictReader(stream)}
    for rule in RULES:
        for family in rule.measured.split(", "):
            assert family in families | set(perp.gallery.kinds()), (rule.name, family)
