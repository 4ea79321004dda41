import assert from "node:assert/strict";
import { test } from "node:test";

import { actionFor, focusTakes, type Key } from "../src/shell/keyboard";
import { methodKeys } from "../src/shell/method_keys";
import { neighbourSpeed, readSpeed, SPEEDS, speedValue } from "../src/shell/speeds";

const press = (key: string, code = "", more: Partial<Key> = {}) =>
  actionFor({ key, code, shiftKey: false, ctrlKey: false, altKey: false, metaKey: false, ...more });
const focus = (tag: string, type = "", editable = false) => ({ tag, type, editable });

test("keys mean what the help says", () => {
  assert.deepEqual(press(" "), { do: "play-pause" });
  assert.deepEqual(press("ArrowRight"), { do: "forward", frames: 1 });
  assert.deepEqual(press("ArrowLeft", "", { shiftKey: true }), { do: "back", frames: 10 });
  assert.deepEqual(press("ArrowUp"), { do: "speed", direction: 1 });
  assert.deepEqual(press("c"), { do: "compare" });
  assert.deepEqual(press("C", "KeyC", { shiftKey: true }), { do: "compare" });
  assert.deepEqual(press("Home"), { do: "fit" });
  assert.deepEqual(press("?", "Slash", { shiftKey: true }), { do: "help" });
  assert.equal(press("q"), null);
});

test("letters lead to the panels", () => {
  assert.deepEqual(press("m", "KeyM"), { do: "go-to", part: "method-0" });
  assert.deepEqual(press("M", "KeyM", { shiftKey: true }), { do: "go-to", part: "method-1" });
  assert.deepEqual(press("n", "KeyN"), { do: "go-to", part: "scene" });
  assert.deepEqual(press("p", "KeyP"), { do: "go-to", part: "step" });
});

test("digits choose methods, with shift of the second lane", () => {
  assert.deepEqual(press("3", "Digit3"), { do: "method", number: 3, lane: 0 });
  assert.deepEqual(press("#", "Digit3", { shiftKey: true }), { do: "method", number: 3, lane: 1 });
  assert.deepEqual(press("7", "Numpad7"), { do: "method", number: 7, lane: 0 });
  assert.equal(press("0", "Digit0"), null);
});

test("a digit key that gives another sign without shift is not a digit", () => {
  assert.equal(press("é", "Digit2"), null);
});

test("wasd turn by their place on the keyboard, and shift with shift", () => {
  const turn = press("z", "KeyW");
  assert.equal(turn?.do, "turn");
  assert.equal(press("D", "KeyD", { shiftKey: true })?.do, "shift");
});

test("keys of the browser are left to it", () => {
  for (const more of [{ ctrlKey: true }, { altKey: true }, { metaKey: true }]) {
    assert.equal(press("r", "KeyR", more), null);
    assert.equal(press("ArrowLeft", "ArrowLeft", more), null);
  }
});

test("no key fires while somebody types", () => {
  for (const key of [" ", "a", "1", "ArrowLeft", "Escape"]) {
    assert.ok(focusTakes(focus("INPUT", "number"), key), key);
    assert.ok(focusTakes(focus("INPUT", "text"), key), key);
    assert.ok(focusTakes(focus("TEXTAREA"), key), key);
    assert.ok(focusTakes(focus("SELECT", "select-one"), key), key);
    assert.ok(focusTakes(focus("DIV", "", true), key), key);
    assert.ok(!focusTakes(focus("BODY"), key), key);
  }
});

test("sliders and buttons keep their own keys only", () => {
  assert.ok(focusTakes(focus("INPUT", "range"), "ArrowLeft"));
  assert.ok(!focusTakes(focus("INPUT", "range"), " "));
  assert.ok(focusTakes(focus("BUTTON", "button"), " "));
  assert.ok(!focusTakes(focus("BUTTON", "button"), "ArrowRight"));
  assert.ok(focusTakes(focus("SUMMARY"), "Enter"));
  assert.ok(!focusTakes(focus("INPUT", "checkbox"), "f"));
});

test("speeds go up and down the list, and stop at its ends", () => {
  assert.equal(neighbourSpeed(1, 1), 2);
  assert.equal(neighbourSpeed(1, -1), 0.5);
  assert.equal(neighbourSpeed(4, 1), null);
  assert.equal(neighbourSpeed(null, 1), null);
  assert.equal(neighbourSpeed(null, -1), 4);
  assert.equal(neighbourSpeed(0.1, -1), 0.1);
  assert.equal(neighbourSpeed(3, 1), 4, "from a speed that is not in the list");
  for (const speed of SPEEDS) assert.equal(readSpeed(speedValue(speed)), speed);
});

test("the scene's own method is key 1, and unsuitable ones have none", () => {
  const known = ["auto", "pgs", "psor", "nncg", "lemke", "multigrid"];
  assert.deepEqual(methodKeys("nncg", known, null), ["nncg", "auto", "pgs", "psor", "multigrid"]);
  assert.deepEqual(methodKeys("nncg", known, ["nncg", "pgs", "lemke"]), ["nncg", "auto", "pgs", "lemke"]);
  assert.deepEqual(methodKeys("unheard_of", known, []), ["auto"]);
  const many = Array.from({ length: 20 }, (_, number) => `m${number}`);
  assert.equal(methodKeys(null, many, many).length, 9);
});
