import assert from "node:assert/strict";
import { test } from "node:test";

import type { SceneMessage } from "../src/messages";
import { frameWords, legendGroups } from "../src/shell/legend_groups";
import type { Style } from "../src/view";
import { frameNumbers, makeFrame } from "./shell_frames";
import { ContactNumber, Frame, HEADER } from "../src/layout";

const STYLE: Style = { bodies: "own", contacts: "state", forces: true, forceScale: 1, liquid: "speed", particles: true, dark: false };
const SCENE = { kind: "bodies", dimension: 3 } as SceneMessage;
const CONTACT = { point: [0, 0] as [number, number], bodies: [0, 1] as [number, number], residual: 1 };

function labels(style: Partial<Style>, frame: Frame | null): string[] {
  const whole = { ...STYLE, ...style };
  const groups = legendGroups(whole, SCENE, frameWords(frame, whole));
  return groups.flatMap((group) => (group.kind === "swatches" ? group.items.map((item) => `${group.title} ${item.label}`.trim()) : group.title));
}

/** As a recording has it: nothing is known of the contact. */
function recorded(): Frame {
  const numbers = frameNumbers({}, [{ ...CONTACT, residual: NaN }]);
  numbers[HEADER + 4 + ContactNumber.STATE] = NaN;
  return new Frame(numbers);
}

test("contacts of a recording are grey, and the legend says why", () => {
  assert.ok(!labels({}, makeFrame({}, [CONTACT])).includes("not recorded"));
  assert.equal(labels({}, recorded()).at(-1), "not recorded");
  assert.deepEqual(labels({ contacts: "residual" }, recorded()), ["Residual of contacts (log)", "not recorded"]);
  assert.deepEqual(labels({ contacts: "plain" }, recorded()), []);
});

/** Bodies of these islands. */
function inIslands(...islands: number[]): Frame {
  const count = new Set(islands.filter((island) => island >= 0)).size;
  const numbers = frameNumbers({ BODIES: islands.length, ISLANDS: count });
  islands.forEach((island, body) => (numbers[HEADER + 4 * body + 3] = island));
  return new Frame(numbers);
}

test("islands are in the legend where bodies have their colours", () => {
  const shown = (...islands: number[]): string[] => labels({ bodies: "island", contacts: "hidden" }, inIslands(...islands));
  assert.deepEqual(shown(0, 0, 2), ["Islands 0", "Islands 2"]);
  assert.deepEqual(shown(0, -1, 2, 3, 4, 5), ["0", "2", "3", "in none"].map((label) => `Islands (2 more) ${label}`));
  assert.deepEqual(shown(), []);
  assert.deepEqual(labels({ contacts: "hidden" }, inIslands(0, 1)), []);
});
