import assert from "node:assert/strict";
import { test } from "node:test";
import { ARROW_NUMBERS, largestImpulse, writeArrows } from "../src/space/arrow_vectors";
import { BodySpeeds } from "../src/body_speeds";
import { residualRange } from "../src/space/contact_paint";
import { makeFrame } from "./space_frames";

type Contacts = { point: number[]; impulse: number[] }[];

function arrowsOf(contacts: Contacts, longest: number): { count: number; out: Float32Array } {
  const out = new Float32Array(ARROW_NUMBERS * contacts.length);
  const colours = Uint8Array.from(contacts.flatMap((_, place) => [1, 2, 3 + place, 0]));
  return { count: writeArrows(makeFrame([], contacts), longest, out, colours), out };
}

test("the largest impulse has the longest arrow, the others in proportion", () => {
  const contacts = [
    { point: [1, 2, 3], impulse: [0, 0, 4] },
    { point: [4, 5, 6], impulse: [1, 0, 0] },
  ];
  assert.equal(largestImpulse(makeFrame([], contacts)), 4);
  const { count, out } = arrowsOf(contacts, 2);
  assert.equal(count, 2);
  assert.deepEqual([...out.subarray(0, 3), ...out.subarray(4, 7)], [1, 2, 3, 0, 0, 2]);
  assert.deepEqual([...out.subarray(8, 11), ...out.subarray(12, 15)], [4, 5, 6, 0.5, 0, 0]);
});

test("arrows below a thousandth of the largest are left out, and keep no gap", () => {
  const contacts = [
    { point: [0, 0, 0], impulse: [0, 0, 0.0009] },
    { point: [7, 0, 0], impulse: [0, 0, 1] },
  ];
  const { count, out } = arrowsOf(contacts, 1);
  assert.equal(count, 1);
  assert.equal(out[0], 7);
  assert.equal(out[3], 1 * 65536 + 2 * 256 + 4, "the colour is that of the second contact");
});

test("without an impulse there is no arrow, and what is not finite has none", () => {
  assert.equal(arrowsOf([{ point: [0, 0, 0], impulse: [0, 0, 0] }], 1).count, 0);
  const wild = [
    { point: [0, 0, 0], impulse: [Infinity, 0, 0] },
    { point: [0, 0, 0], impulse: [NaN, 0, 0] },
    { point: [0, 0, 0], impulse: [0, 3, 0] },
  ];
  const { count, out } = arrowsOf(wild, 1);
  assert.equal(count, 1);
  assert.equal(out[5], 1);
});

test("heat goes from the smallest to the largest residual, over eight powers of ten at most", () => {
  const at = (residuals: number[]): [number, number] =>
    residualRange(makeFrame([], residuals.map((residual) => ({ point: [0, 0, 0], impulse: [0, 0, 0], residual }))));
  assert.deepEqual(at([0.5, 0.25, NaN, 0]), [0.25, 0.5]);
  assert.deepEqual(at([]), [0, 0]);
  const [low, high] = at([1, 1e-20]);
  assert.ok(Math.abs(low - 1e-8) < 1e-14 && high === 1);
});

test("speeds come from two frames", () => {
  const body = (x: number): number[] => [x, 0, 0, 1, 0, 0, 0, -1];
  const speeds = new BodySpeeds();
  speeds.see(makeFrame([body(0), body(5)], [], 0));
  assert.deepEqual([...speeds.values], [0, 0]);
  speeds.see(makeFrame([body(1), body(5)], [], 0.5));
  assert.deepEqual([...speeds.values], [2, 0]);
  speeds.see(makeFrame([body(1), body(5)], [], 0.5)); // the same frame again
  assert.deepEqual([...speeds.values], [2, 0]);
  speeds.see(makeFrame([body(1), body(5.25)], [], 1));
  assert.deepEqual([...speeds.values], [0, 0.5]);
  assert.equal(speeds.fastest, 2);
});
