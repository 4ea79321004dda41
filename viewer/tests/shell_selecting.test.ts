import assert from "node:assert/strict";
import { test } from "node:test";

import { keepSelection, neighbour, worstFirst } from "../src/shell/selecting";
import { makeFrame } from "./shell_frames";

const BEFORE = makeFrame({ BODIES: 3 }, [
  { point: [0, 0], bodies: [0, 1], residual: 0.1 },
  { point: [1, 0], bodies: [0, 1], residual: 0.4 },
  { point: [0, 5], bodies: [1, 2], residual: NaN },
]);
const AFTER = makeFrame({ BODIES: 3 }, [
  { point: [0.9, 0], bodies: [0, 2], residual: 0.3 },
  { point: [1.1, 0], bodies: [0, 1], residual: 0.2 },
  { point: [0.1, 0], bodies: [0, 1], residual: 0.1 },
]);

test("a selected contact is followed to its number in the next frame", () => {
  assert.deepEqual(keepSelection({ kind: "contact", index: 0 }, BEFORE, AFTER), { kind: "contact", index: 2 });
  assert.deepEqual(keepSelection({ kind: "contact", index: 1 }, BEFORE, AFTER), { kind: "contact", index: 1 });
  assert.equal(keepSelection({ kind: "contact", index: 2 }, BEFORE, AFTER), null, "they touch no more");
});

test("a selected body stays, unless there is no such body", () => {
  const body = { kind: "body", index: 2 } as const;
  assert.equal(keepSelection(body, BEFORE, AFTER), body);
  assert.equal(keepSelection(body, BEFORE, makeFrame({ BODIES: 2 })), null);
});

test("contacts come by their residual, the worst first", () => {
  assert.deepEqual(worstFirst(AFTER).map(({ index }) => index), [0, 1, 2]);
  assert.deepEqual(worstFirst(BEFORE).map(({ index }) => index), [1, 0], "without those that have none");
});

test("the next one goes round", () => {
  const list = worstFirst(AFTER);
  assert.deepEqual(neighbour(list, null, 1), list[0]);
  assert.deepEqual(neighbour(list, null, -1), list[2]);
  assert.deepEqual(neighbour(list, list[2]!, 1), list[0]);
  assert.deepEqual(neighbour(list, { kind: "body", index: 1 }, 1), list[0]);
  assert.equal(neighbour([], null, 1), null);
});
