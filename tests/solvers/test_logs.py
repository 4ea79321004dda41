"""What the library tells the log, and that it prints nothing."""

from __future__ import annotations

import logging

import perp
from perp.solvers.progress import log_solve, logger

PROBLEM = perp.LCP([[4.0, -1.0], [-1.0, 4.0]], [-3.0, 2.0])


def test_a_line_a_solve(caplog):
    result = perp.solve(PROBLEM, "pgs")
    with caplog.at_level(logging.INFO, logger="perp"):
        log_solve(result)
    assert caplog.messages[-1].startswith("pgs on <LCP with 2 unknowns, dense A>: CONVERGED, residual")
    assert caplog.records[-1].levelno == logging.INFO


def test_a_line_a_check_for_who_wants_details(caplog):
    with caplog.at_level(logging.DEBUG, logger="perp"):
        result = perp.solve(PROBLEM, "pgs")
    checks = [message for message in caplog.messages if message.startswith("pgs: iteration")]
    assert len(checks) == len(result.history)
    assert f"residual {result.residual:.3e}" in checks[-1]


def test_checks_are_not_told_at_the_level_of_solves(caplog):
    with caplog.at_level(logging.INFO, logger="perp"):
        log_solve(perp.solve(PROBLEM, "pgs"))
    assert not [message for message in caplog.messages if "iteration 0" in message]


def test_nothing_is_printed_and_nobody_complains_of_a_missing_handler(capfd):
    result = perp.solve(PROBLEM, "pgs")
    log_solve(result)
    assert any(isinstance(handler, logging.NullHandler) for handler in logger.handlers)
    assert capfd.readouterr() == ("", "")
