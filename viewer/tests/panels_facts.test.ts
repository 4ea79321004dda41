import assert from "node:assert/strict";
import { test } from "node:test";
import { BODIES, Frame, HEADER, Header, LAYOUT } from "../src/layout";
import type { SceneMessage, State } from "../src/messages";
import { axisAngle, bodyVelocity, contactImpulse, contactsOf, totalImpulse } from "../src/panels/contact_forces";
import { seenRows } from "../src/panels/history_rows";
import { bodyFacts, contactFacts } from "../src/panels/inspected";
import { MethodLog } from "../src/panels/lanes";
import type { HistoryRow } from "../src/store";

/** Two discs on the ground: 0 on the world, and 1 on 0. */
function makeFrame(step: number, height = 1): Frame {
  const header = new Array<number>(HEADER).fill(0);
  header[Header.LAYOUT] = LAYOUT;
  header[Header.KIND] = BODIES;
  header[Header.DIMENSION] = 2;
  header[Header.STEP] = header[Header.PLACE] = step;
  header[Header.BODIES] = header[Header.CONTACTS] = 2;
  const bodies = [0, height, 0, 0, 0, height + 2, Math.PI / 2, 0];
  const contacts = [
    [0, 0, 3, 4, -1, 0, 1, 4, -0.001, 0, 0.5, 1e-9, 1e-12],
    [0, 2, 0, 1, 0, 1, 0, 1, 0, 0, 0, NaN, NaN],
  ].flat();
  return new Frame(Float32Array.from([...header, ...bodies, ...contacts]));
}

const SCENE = { dt: 0.01, shapes: [{ form: "disc", body: 1, name: "top" }] } as unknown as SceneMessage;

function row(place: number): HistoryRow {
  return { place, step: place, time: 0, residual: 0, iterations: 0, solveSeconds: 0, energy: 0, status: 0 };
}

test("an impulse has a normal and a friction part", () => {
  const impulse = contactImpulse(makeFrame(1), 0);
  assert.deepEqual([impulse.norm, impulse.normal, impulse.friction, impulse.share], [5, 4, 3, 0.75]);
});

test("the first body of a contact gets the opposite impulse", () => {
  const contacts = contactsOf(makeFrame(1), 0);
  assert.deepEqual(contacts.map(({ other, impulse }) => [other, ...impulse]), [[-1, 3, 4], [1, -0, -1]]);
  assert.deepEqual(totalImpulse(contacts, 2), [3, 3]);
});

test("the force on a body is the sum of its impulses by the step", () => {
  const facts = new Map(bodyFacts({ frame: makeFrame(1), before: null }, SCENE, 0));
  assert.equal(facts.get("contact force"), "(300, 300) N");
  assert.equal(facts.get("speed"), "n/a: the step before was not shown");
});

test("speeds are told from two frames that follow each other, and from no others", () => {
  assert.deepEqual(bodyVelocity(makeFrame(1, 1), makeFrame(2, 1.5), 0, 0.25), [0, 2]);
  assert.equal(bodyVelocity(makeFrame(1), makeFrame(3), 0, 0.25), null);
  assert.equal(bodyVelocity(makeFrame(2), makeFrame(1), 0, 0.25), null);
  assert.equal(bodyVelocity(null, makeFrame(1), 0, 0.25), null);
});

test("numbers that a frame does not have are not recorded", () => {
  const facts = new Map(contactFacts(makeFrame(1), SCENE, 1));
  assert.equal(facts.get("residual"), "not recorded");
  assert.equal(facts.get("energy error"), "not recorded");
  assert.equal(facts.get("between"), "body 0 and body 1 (top)");
  assert.equal(facts.get("|force|"), "100 N");
  assert.equal(facts.get("|x_t| / x_n"), "below 0.001");
});

test("a rotation and its negative quaternion have the same axis and angle", () => {
  const half = Math.SQRT1_2;
  for (const sign of [1, -1]) {
    const { axis, angle } = axisAngle(sign * half, 0, sign * half, 0);
    assert.ok(Math.abs(angle - Math.PI / 2) < 1e-12);
    assert.ok(Math.abs(axis[1]! - 1) < 1e-12);
  }
});

test("steps that were never seen leave a gap in the history", () => {
  const list: HistoryRow[] = [];
  for (const place of [0, 1, 2, 5, 6]) list[place] = row(place);
  assert.deepEqual(seenRows(list).map((one) => one?.place ?? null), [1, 2, null, 5, 6]);
});

test("a step keeps the name of the method that took it", () => {
  const log = new MethodLog();
  const state = (method: string): State => ({ lanes: [{ method }] }) as unknown as State;
  log.note([makeFrame(1)], state("pgs"));
  log.note([makeFrame(1)], state("nncg"));
  assert.equal(log.methodAt(0, 1), "pgs");
  log.note([makeFrame(2)], state("nncg"));
  log.note([makeFrame(1)], state("nncg"));
  assert.deepEqual([0, 1, 2].map((place) => log.methodAt(0, place)), ["", "pgs", "nncg"]);
});
