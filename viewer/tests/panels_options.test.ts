import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lane, OptionForm, SceneForm } from "../src/messages";
import { limitFor, sceneLimit } from "../src/panels/iteration_limit";
import { changedValues, describeCall, foldWords, parseText, sameValue, writeValue } from "../src/panels/option_values";

function form(part: Partial<OptionForm>): OptionForm {
  return { name: "one", kind: "number", default: 1, choices: [], optional: false, doc: "", at_least: null, at_most: null, ...part };
}

function errorOf(part: Partial<OptionForm>, text: string): string {
  const parsed = parseText(form(part), text);
  assert.ok("error" in parsed, `${text} was taken`);
  return parsed.error;
}

test("numbers are read as people write them", () => {
  const texts = ["1.5", " 1e-8 ", ".5", "-3", "+2", "2."];
  assert.deepEqual(texts.map((text) => parseText(form({}), text)), [1.5, 1e-8, 0.5, -3, 2, 2].map((value) => ({ value })));
});

test("what is no number is refused, and named", () => {
  for (const text of ["abc", "1,5", "0x10", "1e", "--1"]) assert.equal(errorOf({}, text), `“${text}” is not a number`);
  assert.equal(errorOf({}, "inf"), "a finite number is needed");
});

test("whole numbers may be written with an exponent, but have no part after the point", () => {
  assert.deepEqual(parseText(form({ kind: "integer" }), "1e3"), { value: 1000 });
  assert.equal(errorOf({ kind: "integer" }, "2.5"), "2.5 is not a whole number");
});

test("the range is kept, its ends are in it", () => {
  const range = { at_least: 0, at_most: 2 };
  assert.deepEqual(parseText(form(range), "2"), { value: 2 });
  assert.equal(errorOf(range, "2.1"), "must be from 0 to 2");
  assert.equal(errorOf({ at_least: 1e-12 }, "0"), "must be at least 1e-12");
  assert.equal(errorOf({ at_most: 5 }, "6"), "must be at most 5");
});

test("an empty field means none where that is a value, else the default", () => {
  assert.deepEqual(parseText(form({ optional: true }), " "), { value: null });
  assert.deepEqual(parseText(form({ default: 7 }), ""), { value: 7 });
});

test("lists are read with commas or blanks, brackets or none, and each number is checked", () => {
  const list = { kind: "numbers", default: [0] } as const;
  for (const text of ["1, 2.5,3", "1 2.5 3", "(1, 2.5, 3)", "[1,2.5,3,]"]) {
    assert.deepEqual(parseText(form({ ...list, default: [0] }), text), { value: [1, 2.5, 3] });
  }
  assert.equal(errorOf({ ...list, default: [0], at_least: 0 }, "1, -2"), "must be at least 0");
});

test("what a field shows is read as the same value", () => {
  for (const value of [1e-8, 0.1, 12, 1e7, [1, 0.5]]) {
    const parsed = parseText(form({ kind: Array.isArray(value) ? "numbers" : "number" }), writeValue(value));
    assert.ok("value" in parsed && sameValue(parsed.value, value));
  }
});

test("only values that differ from the defaults are sent; null may be one", () => {
  const forms = [form({ name: "a" }), form({ name: "b", default: [1, 2] }), form({ name: "c", optional: true, default: 3 })];
  assert.deepEqual(changedValues(forms, { a: 1, b: [1, 2], c: null }), { c: null });
  assert.deepEqual(changedValues(forms, { a: 2, b: [2, 1] }), { a: 2, b: [2, 1] });
});

test("a method is written with its options", () => {
  assert.equal(describeCall("pgs", {}), "pgs");
  assert.equal(describeCall("psor", { relaxation: 1.4, warm: true, seed: null }), "psor(relaxation=1.4, warm=on, seed=none)");
});

test("folded options say how many they are, and which were changed", () => {
  assert.equal(foldWords(12, {}), "12 options");
  assert.equal(foldWords(1, { exact: true }), "1 option; exact=on");
  assert.equal(foldWords(3, { linear: "cg", k_sm: 7 }), "3 options; linear=cg, k_sm=7");
});

test("the limit of a scene is for its own method; what somebody chose goes along", () => {
  const scene = { name: "stack", method: "pgs_sm", max_iterations: 3 } as SceneForm;
  const lane = (method: string, most: number | null): Lane => ({ method, options: {}, tol: null, max_iterations: most });
  assert.equal(limitFor(scene, lane("pgs_sm", 3), "pgs"), null);
  assert.equal(limitFor(scene, lane("pgs_sm", 50), "pgs"), 50);
  assert.equal(limitFor(scene, lane("pgs", null), "pgs_sm"), 3);
  assert.equal(limitFor(scene, lane("pgs", 50), "pgs_sm"), 50);
  assert.equal(limitFor(scene, lane("pgs", 50), "pgs"), 50);
  assert.equal(limitFor(undefined, lane("pgs", 50), "psor"), 50);
  assert.deepEqual([sceneLimit(scene, "pgs_sm"), sceneLimit(scene, "pgs"), sceneLimit(undefined, "pgs")], [3, null, null]);
});
