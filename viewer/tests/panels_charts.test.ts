import assert from "node:assert/strict";
import { test } from "node:test";
import { describeContent, nearestX, neighbourX, readOut, type ChartKind, type Content, type Series } from "../src/panels/chart_content";
import { decimate, nearestIndex } from "../src/panels/decimation";

const KIND: ChartKind = {
  title: "Residual", xTitle: "step", yTitle: "residual", point: "step", unit: "", log: true, whole: false, action: "chart",
};

function series(label: string, x: number[], y: number[]): Series {
  return { label, colour: "--series-1", dash: [], x, y };
}

function content(...all: Series[]): Content {
  return { series: all, levels: [], marker: null, message: "" };
}

test("a short curve keeps all of its points", () => {
  assert.deepEqual(decimate([0, 1, 2], [3, NaN, 1], 0, 2, 100), [0, 1, 2]);
});

test("a long curve keeps its peaks, its dips and its ends, in order", () => {
  const count = 10_000;
  const x = Float64Array.from({ length: count }, (_, i) => i);
  const y = Float64Array.from({ length: count }, (_, i) => Math.sin(i));
  y[4321] = 50;
  y[8765] = -50;
  const kept = decimate(x, y, 0, count - 1, 100);
  assert.ok(kept.length <= 4 * 101, `${kept.length} points`);
  for (const index of [0, 4321, 8765, count - 1]) assert.ok(kept.includes(index), `${index} is lost`);
  assert.deepEqual(kept, [...new Set(kept)].sort((a, b) => a - b));
});

test("a gap in a long curve stays one", () => {
  const x = Float64Array.from({ length: 2000 }, (_, i) => i);
  const y = Float64Array.from({ length: 2000 }, (_, i) => (i >= 700 && i < 900 ? NaN : 1));
  const kept = decimate(x, y, 0, 1999, 20);
  const inGap = kept.filter((index) => index >= 700 && index < 900);
  assert.ok(inGap.length > 0 && inGap.every((index) => Number.isNaN(y[index])));
});

test("the nearest point is found from either side", () => {
  assert.deepEqual([-5, 1.4, 1.6, 9].map((wanted) => nearestIndex([0, 1, 2, 5], wanted)), [0, 1, 2, 3]);
  assert.equal(nearestIndex([], 1), -1);
});

test("the crosshair goes from point to point of both curves, and stops at the ends", () => {
  const both = [series("a", [1, 4, 8], [1, 1, 1]), series("b", [2, 4, 9], [1, 1, 1])];
  const walk: number[] = [1];
  for (let i = 0; i < 6; i++) walk.push(neighbourX(both, walk.at(-1)!, 1));
  assert.deepEqual(walk, [1, 2, 4, 8, 9, 9, 9]);
  assert.equal(neighbourX(both, 4, -1), 2);
  assert.equal(nearestX(both, 8.6), 9);
  assert.ok(Number.isNaN(nearestX([], 1)));
});

test("the readout names the curves where there are two, and only those that have the point", () => {
  const a = series("a", [1, 2], [1e-3, 2e-9]);
  const b = series("b", [2, 3], [NaN, 4e-6]);
  assert.equal(readOut(KIND, content(a), 2), "step 2: 2.00e-9");
  assert.equal(readOut(KIND, content(a, b), 2), "step 2: a 2.00e-9, b not recorded");
  assert.equal(readOut({ ...KIND, unit: "ms" }, content(a, b), 3), "step 3: b 4.00e-6 ms");
});

test("who does not see a chart is told first, last, least and largest", () => {
  const words = describeContent(KIND, content(series("psor", [1, 2, 3, 4], [1e-2, NaN, 1e-9, 1e-8])));
  assert.match(words, /psor: 3 points, first 0.0100, last 1.00e-8, least 1.00e-9, largest 0.0100/);
  assert.match(words, /logarithmic/);
});
