import assert from "node:assert/strict";
import { test } from "node:test";
import { type NodeField, traceContours } from "../src/plane/marching_squares";
import { withBorder } from "../src/plane/solid_paths";
import { GRID } from "./plane_frames";

function makeField(cells: [number, number], spacing: number, distance: (x: number, y: number) => number): NodeField {
  const values: number[] = [];
  for (let i = 0; i <= cells[0]; i++) {
    for (let j = 0; j <= cells[1]; j++) values.push(distance(i * spacing, j * spacing));
  }
  return { cells, spacing, origin: [0, 0], values };
}

/** Signed area of a polygon, positive counter-clockwise. */
function area(points: number[]): number {
  let twice = 0;
  for (let i = 0; i < points.length; i += 2) {
    const next = (i + 2) % points.length;
    twice += points[i]! * points[next + 1]! - points[next]! * points[i + 1]!;
  }
  return twice / 2;
}

const total = (polygons: number[][]): number => polygons.reduce((sum, polygon) => sum + area(polygon), 0);

test("a ball in the middle is one closed edge around its area", () => {
  const field = makeField([40, 40], 0.05, (x, y) => Math.hypot(x - 1.01, y - 0.98) - 0.7);
  const { inside, edges } = traceContours(field);
  assert.equal(edges.length, 1);
  const edge = edges[0]!;
  assert.deepEqual(edge.slice(0, 2), edge.slice(-2), "it ends where it began");
  for (let i = 0; i < edge.length; i += 2) {
    assert.ok(Math.abs(Math.hypot(edge[i]! - 1.01, edge[i + 1]! - 0.98) - 0.7) < 2e-3);
  }
  assert.ok(Math.abs(total(inside) - Math.PI * 0.49) < 5e-3);
  assert.ok(Math.abs(Math.abs(area(edge)) - total(inside)) < 1e-9);
});

test("a straight wall across the grid is exact, whatever its slope", () => {
  const field = makeField([10, 6], 0.1, (x, y) => y - 0.2 - 0.25 * x);
  const { inside, edges } = traceContours(field);
  assert.equal(edges.length, 1);
  const edge = edges[0]!;
  for (let i = 0; i < edge.length; i += 2) assert.ok(Math.abs(edge[i + 1]! - 0.2 - 0.25 * edge[i]!) < 1e-12);
  assert.deepEqual([Math.min(edge[0]!, edge.at(-2)!), Math.max(edge[0]!, edge.at(-2)!)], [0, 1]);
  assert.ok(Math.abs(total(inside) - (0.2 + 0.125)) < 1e-12);
});

test("without a solid there is no polygon, and all of it is one of full cells", () => {
  assert.deepEqual(traceContours(makeField([3, 2], 1, () => 1)), { inside: [], edges: [] });
  const full = traceContours(makeField([3, 2], 1, () => -1));
  assert.deepEqual(full, { inside: [[0, 0, 3, 0, 3, 1, 0, 1], [0, 1, 3, 1, 3, 2, 0, 2]], edges: [] });
});

test("opposite corners of a cell give two edges, whichever they are", () => {
  for (const sign of [1, -1]) {
    const { inside, edges } = traceContours(makeField([1, 1], 1, (x, y) => sign * (x === y ? -1 : 1)));
    assert.equal(edges.length, 2);
    assert.ok(Math.abs(total(inside) - 0.75) < 1e-12);
  }
});

test("several balls have an edge each", () => {
  const field = makeField([60, 20], 0.1, (x, y) => Math.min(...[1, 3, 5].map((at) => Math.hypot(x - at, y - 1) - 0.6)));
  assert.equal(traceContours(field).edges.length, 3);
});

test("the border of the grid is an edge where no solid is told", () => {
  const { edges } = traceContours(withBorder(GRID));
  assert.equal(edges.length, 1);
  const xs = edges[0]!.filter((_, place) => place % 2 === 0);
  const ys = edges[0]!.filter((_, place) => place % 2 === 1);
  const bounds = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  bounds.forEach((bound, place) => assert.ok(Math.abs(bound - [1, 2, 2, 3.5][place]!) < 1e-5, `${bounds}`));
});

test("a solid within the grid takes over from its border", () => {
  const nodes = Array.from({ length: 12 }, (_, node) => (node < 4 ? -0.25 : 0.25)); // the left quarter is solid
  const { edges } = traceContours(withBorder({ ...GRID, solid: nodes }));
  const xs = edges.flatMap((edge) => edge.filter((_, place) => place % 2 === 0));
  assert.equal(Math.min(...xs), 1.25);
});
