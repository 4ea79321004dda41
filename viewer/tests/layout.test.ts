import assert from "node:assert/strict";
import { test } from "node:test";
import { BODIES, ContactNumber, Frame, HEADER, Header, LAYOUT, LIQUID } from "../src/layout";
import { type FrameParts, frameNumbers } from "./plane_frames";

const counted = (count: number, width: number, first = 1): number[][] =>
  Array.from({ length: count }, (_, row) => Array.from({ length: width }, (_, place) => first + row * width + place));

const PLANE: FrameParts = {
  header: { LANE: 1, SERIAL: 77, STEP: 12, TIME: 0.5, PLACE: 9, ITERATIONS: 40, RESIDUAL: 0.25, CONVERGED: 1 },
  bodies: counted(3, 4),
  contacts: counted(2, 4 + 9, 100),
  curve: [[0, 1], [1, 0.5], [2, 0.25]],
};
const SPACE: FrameParts = { dimension: 3, bodies: counted(2, 8), contacts: counted(3, 6 + 9, 200) };
const LIQUID_PLANE: FrameParts = { kind: LIQUID, bodies: counted(5, 3), cells: counted(4, 3, 50), curve: [[0, 1]] };
const LIQUID_SPACE: FrameParts = { kind: LIQUID, dimension: 3, bodies: counted(2, 4) };

function requireSame(frame: Frame, parts: FrameParts): void {
  assert.deepEqual([...frame.bodies], (parts.bodies ?? []).flat());
  assert.deepEqual([...frame.contacts], (parts.contacts ?? []).flat());
  assert.deepEqual([...frame.cells], (parts.cells ?? []).flat());
  assert.deepEqual([...frame.curve], (parts.curve ?? []).flat());
  assert.equal(frame.kind, parts.kind ?? BODIES);
  assert.equal(frame.dimension, parts.dimension ?? 2);
}

test("each section of a frame comes back, in the plane and in space, of bodies and of liquids", () => {
  for (const parts of [PLANE, SPACE, LIQUID_PLANE, LIQUID_SPACE, {}]) {
    const numbers = frameNumbers(parts);
    const frame = new Frame(numbers);
    requireSame(frame, parts);
    assert.equal(frame.length, numbers.length);
  }
});

test("numbers of the header have names", () => {
  const frame = new Frame(frameNumbers(PLANE));
  assert.deepEqual([frame.lane, frame.serial, frame.step, frame.time, frame.place], [1, 77, 12, 0.5, 9]);
  assert.deepEqual([frame.bodyCount, frame.contactCount, frame.cellCount, frame.curveCount], [3, 2, 0, 3]);
  const named = (["ITERATIONS", "RESIDUAL", "CONVERGED", "WARM"] as const).map((name) => frame.value(name));
  assert.deepEqual(named, [40, 0.25, 1, 0]);
});

test("no two names share a place, and all have one in the header", () => {
  const places = Object.values(Header);
  assert.equal(new Set(places).size, places.length);
  assert.ok(places.every((place) => place >= 0 && place < HEADER));
  assert.deepEqual(Object.values(ContactNumber), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test("numbers of a contact stand after its point and its impulse", () => {
  const plane = new Frame(frameNumbers(PLANE));
  assert.equal(plane.contactValue(0, "BODY_A"), 104);
  assert.equal(plane.contactValue(1, "ENERGY_ERROR"), 100 + 2 * 13 - 1);
  const space = new Frame(frameNumbers(SPACE));
  assert.equal(space.contactValue(2, "BODY_A"), 200 + 2 * 15 + 6);
  assert.equal(space.contactValue(2, "RESIDUAL"), 200 + 2 * 15 + 6 + 7);
});

test("the island of a body is the last number of its row; particles have none", () => {
  assert.equal(new Frame(frameNumbers(PLANE)).island(1), 8);
  assert.equal(new Frame(frameNumbers(SPACE)).island(1), 16);
  assert.equal(new Frame(frameNumbers(LIQUID_PLANE)).island(1), -1);
});

test("what is not known stays so", () => {
  const row = [0, 0, 1, 2, -1, 0, 3, NaN, NaN, NaN, NaN, NaN, NaN];
  const frame = new Frame(frameNumbers({ contacts: [row], header: { STATUS: -1 } }));
  assert.ok(Number.isNaN(frame.contactValue(0, "RESIDUAL")));
  assert.equal(frame.contactValue(0, "BODY_A"), -1);
  assert.equal(frame.value("STATUS"), -1);
});

test("frames that are strung together are read one after the other", () => {
  const all = [PLANE, LIQUID_PLANE, SPACE, {}, LIQUID_SPACE];
  const numbers = Float32Array.from(all.flatMap((parts) => [...frameNumbers(parts)]));
  let offset = 0;
  for (const parts of all) {
    const frame = new Frame(numbers, offset);
    requireSame(frame, parts);
    offset += frame.length;
  }
  assert.equal(offset, numbers.length);
});

test("a frame is read in place", () => {
  const numbers = frameNumbers(PLANE);
  const frame = new Frame(numbers);
  numbers[HEADER] = 42;
  assert.equal(frame.bodies[0], 42);
});

test("a frame that is too short is refused, wherever it ends", () => {
  for (const parts of [PLANE, SPACE, LIQUID_PLANE]) {
    const numbers = frameNumbers(parts);
    for (const length of [0, 1, HEADER - 1]) {
      assert.throws(() => new Frame(numbers.subarray(0, length)), /shorter than its header$/);
    }
    for (const length of [HEADER, HEADER + 1, numbers.length - 1]) {
      assert.throws(() => new Frame(numbers.subarray(0, length)), /shorter than its header says/);
    }
    assert.throws(() => new Frame(numbers, numbers.length), /shorter than its header$/);
  }
});

test("a count that is no number is refused", () => {
  assert.throws(() => new Frame(frameNumbers({ header: { CONTACTS: NaN } })), /shorter than its header says/);
  assert.throws(() => new Frame(frameNumbers({ header: { BODIES: Infinity } })), /shorter than its header says/);
});

test("another layout is refused, and named", () => {
  const newer = frameNumbers({ header: { LAYOUT: LAYOUT + 1 } });
  assert.throws(() => new Frame(newer), new RegExp(`layout ${LAYOUT + 1} is not the page's, ${LAYOUT}`));
});
