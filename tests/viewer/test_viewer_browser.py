"""The viewer's page as a person uses it: a real browser, a real server, a real simulation."""

from __future__ import annotations

import re
import subprocess
import sys
from urllib.parse import urlparse

import pytest

import perp
from benchmarks.browsing import Visit, missing, open_browser, serve

if missing() is not None:
    pytest.skip(missing(), allow_module_level=True)


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def address():
    with serve("stack", "--high", "3") as address:
        yield address


@pytest.fixture(scope="module")
def opened(browser, address):
    """One page for all tests of the live one. It must have nothing to complain about, and ask nobody else."""
    visit = Visit(browser)
    visit.go(address)
    visit.wait_for("page.connected === 'true' && Number(page.step) === 0")
    yield visit
    complaints, requests = visit.complaints, visit.requests
    visit.close()
    assert complaints == []
    hosts = {urlparse(request).netloc for request in requests if not request.startswith(("data:", "blob:"))}
    assert hosts == {urlparse(address).netloc}


@pytest.fixture
def visit(opened):
    """The same page at the beginning of the scene."""
    yield opened
    opened.page.keyboard.press("Escape")
    opened.click("reset")
    opened.wait_for("Number(page.step) === 0 && page.playing === 'false'")


def settle(visit):
    """Pause, and wait until what was under way has come."""
    if visit.told("playing") == "true":
        visit.click("play-pause")
    visit.wait_for("page.playing === 'false'")
    visit.page.wait_for_timeout(300)
    return visit.step


def in_text(name, words):
    """That a part of the page has these words in it, for `wait_for_function`."""
    return f"() => document.querySelector('[data-testid={name}]').innerText.includes('{words}')"


def test_the_page_plays_and_pauses(visit):
    visit.click("play-pause")
    visit.wait_for("Number(page.step) >= 5")
    rested = settle(visit)
    visit.page.wait_for_timeout(400)
    assert visit.step == rested


def test_a_click_takes_exactly_one_step(visit):
    for expected in (1, 2, 3):
        visit.click("step")
        visit.wait_for(f"Number(page.step) >= {expected}")
        visit.page.wait_for_timeout(250)
        assert visit.step == expected


def test_reset_goes_back_to_the_beginning(visit):
    visit.click("step")
    visit.wait_for("Number(page.step) === 1")
    visit.click("reset")
    visit.wait_for("Number(page.step) === 0")


def test_the_solver_is_switched_without_losing_the_state(visit):
    visit.click("step")
    visit.wait_for("Number(page.step) === 1")
    visit.page.select_option("[data-action=method-0]", "block_gauss_seidel")
    visit.page.wait_for_function(in_text("at-work-0", "block_gauss_seidel"))
    visit.click("step")
    visit.wait_for("Number(page.step) === 2")
    assert visit.text("method-name") == "block_gauss_seidel"


def test_two_methods_work_side_by_side_on_the_same_state(visit):
    visit.page.keyboard.press("c")
    visit.page.wait_for_selector("[data-testid=pane-1]")
    visit.page.click("details[data-part=method-1] > summary")
    visit.page.select_option("[data-action=method-1]", "psor")
    visit.click("step")
    visit.wait_for("Number(page.step) === 1")
    visit.page.wait_for_function("() => document.querySelector('[data-testid=step-1]').textContent === '1'")
    assert visit.page.locator("[data-testid=pane-1]").bounding_box()["width"] > 100
    assert visit.text("residual") != visit.text("residual-1")
    visit.page.keyboard.press("c")
    visit.page.wait_for_selector("[data-testid=pane-1]", state="detached")


def test_the_second_picture_is_empty_where_no_second_method_was_at_work(visit):
    visit.click("step")
    visit.wait_for("Number(page.step) === 1")
    visit.page.keyboard.press("c")
    visit.page.wait_for_selector("[data-testid=pane-1]")
    visit.click("step")
    visit.page.wait_for_function("() => document.querySelector('[data-testid=step-1]').textContent === '2'")
    for step in (1, 0):
        visit.page.keyboard.press("ArrowLeft")
        visit.wait_for(f"Number(page.step) === {step}")
    visit.page.wait_for_function("() => document.querySelector('[data-testid=step-1]').textContent === '–'")
    assert visit.text("status-1") == "not at work in this step"
    visit.page.keyboard.press("c")
    visit.page.wait_for_selector("[data-testid=pane-1]", state="detached")


def test_a_method_that_refuses_says_so_until_another_is_chosen(visit):
    visit.page.select_option("[data-action=method-0]", "pgs_sm")
    visit.page.wait_for_function(in_text("at-work-0", "pgs_sm, at most 3 iterations"))
    visit.page.select_option("[data-action=method-0]", "lemke")
    visit.page.wait_for_function(in_text("at-work-0", "At work: lemke"))
    assert "at most" not in visit.text("at-work-0")  # the scene's limit is for its own method
    visit.click("step")
    visit.page.wait_for_function(in_text("notes", "lemke refuses"))
    assert visit.step == 0
    visit.page.keyboard.press("1")
    visit.page.wait_for_function(in_text("at-work-0", "pgs_sm, at most 3 iterations"))
    assert visit.text("notes") == ""


def test_fields_are_reached_and_left_by_keyboard(visit):
    def focus():
        return visit.page.evaluate("() => document.activeElement.dataset.action ?? ''")

    for key, action in (("m", "method-0"), ("n", "scene")):
        visit.page.keyboard.press(key)
        assert focus() == action
        visit.page.keyboard.press("Escape")
        assert focus() == ""
    visit.page.keyboard.press("ArrowRight")
    visit.wait_for("Number(page.step) === 1")
    visit.page.keyboard.press(".")
    visit.page.wait_for_function(in_text("inspector", "energy error"))
    visit.page.wait_for_timeout(100)
    box = visit.page.locator("[data-testid=inspected]").bounding_box()
    assert 0 <= box["y"] < 800


def test_the_keyboard_alone_plays_steps_and_goes_back(visit):
    visit.page.keyboard.press("Space")
    visit.wait_for("Number(page.step) >= 3")
    visit.page.keyboard.press("Space")
    visit.wait_for("page.playing === 'false'")
    rested = settle(visit)
    visit.page.keyboard.press("ArrowLeft")
    visit.wait_for(f"Number(page.step) === {rested - 1}")
    visit.page.keyboard.press("ArrowRight")
    visit.wait_for(f"Number(page.step) === {rested}")
    visit.page.keyboard.press("ArrowRight")
    visit.wait_for(f"Number(page.step) === {rested + 1}")


def test_help_opens_and_closes_by_keyboard(visit):
    visit.page.keyboard.press("?")
    assert visit.page.locator("dialog[open]").is_visible()
    visit.page.keyboard.press("Escape")
    assert visit.page.locator("dialog[open]").count() == 0


def test_a_step_is_saved_as_a_problem_that_perp_loads(visit, tmp_path):
    visit.click("step")
    visit.wait_for("Number(page.step) === 1")
    with visit.page.expect_download() as download:
        visit.click("save-npz")
    target = tmp_path / "step.npz"
    download.value.save_as(target)
    problem = perp.load(target)
    assert problem.n > 0
    assert re.fullmatch(r"stack_step_0+1\.npz", download.value.suggested_filename)


def test_the_python_that_reproduces_a_step_runs(visit, tmp_path):
    for expected in (1, 2):
        visit.click("step")
        visit.wait_for(f"Number(page.step) === {expected}")
    visit.click("copy-code")
    visit.page.wait_for_selector("dialog[open]")
    code = visit.page.evaluate(
        "() => { const box = document.querySelector('dialog[open] textarea, dialog[open] pre');"
        " return box.value ?? box.textContent; }"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "make(" in code


def test_a_click_on_a_body_shows_its_numbers(visit):
    visit.click("step")
    visit.wait_for("Number(page.step) === 1")
    box = visit.page.locator("[data-testid=pane-0]").bounding_box()
    for share in (0.5, 0.47, 0.53, 0.44, 0.56):  # between two boxes one sees the ground
        visit.page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
        visit.page.wait_for_timeout(200)
        if visit.page.locator("[data-testid=inspected]").count():
            break
    told = visit.text("inspector")
    assert re.search(r"(body|contact)[^\d]*\d", told, re.IGNORECASE)
    assert "N s" in told or " N" in told


def test_an_exported_page_opens_from_disk_and_asks_nobody(browser, tmp_path):
    target = tmp_path / "stack.html"
    words = [sys.executable, "-m", "perp", "view", "stack", "--high", "2", "--steps", "12", "--export", str(target)]
    made = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    visit = Visit(browser)
    visit.context.set_offline(True)
    visit.go(target.as_uri())
    visit.wait_for("Number(page.step) === 0")
    visit.page.keyboard.press("ArrowRight")
    visit.wait_for("Number(page.step) === 1")
    visit.page.keyboard.press("Space")
    visit.wait_for("Number(page.step) === 12")
    complaints, requests = visit.complaints, visit.requests
    visit.close()
    assert complaints == []
    assert {urlparse(request).scheme for request in requests} <= {"file", "data", "blob"}


@pytest.mark.parametrize("words", [("pool1", "--discs", "24", "--width", "2"), ("dam_break", "--cells", "16")], ids=str)
def test_scenes_in_the_plane_are_drawn_on_a_canvas(browser, words):
    with serve(*words) as address:
        visit = Visit(browser)
        visit.go(address)
        visit.click("play-pause")
        visit.wait_for("Number(page.step) >= 3")
        complaints = visit.complaints
        visit.close()
    assert complaints == []
