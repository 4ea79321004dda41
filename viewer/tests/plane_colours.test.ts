import assert from "node:assert/strict";
import { test } from "node:test";
import { pressureColour, speedColour, stateColour } from "../src/colours";
import type { Frame } from "../src/layout";
import { BodySpeeds } from "../src/body_speeds";
import { colourCells, liquidRange } from "../src/plane/cell_colours";
import { pixelOf } from "../src/plane/colour_tables";
import { makeStamp, PHASES, stampDot } from "../src/plane/particle_stamps";
import type { Style } from "../src/view";
import { GRID, makeFrame, makeLiquid } from "./plane_frames";

const STYLE: Style = {
  bodies: "own", contacts: "state", forces: false, forceScale: 1, liquid: "pressure", particles: false, dark: false,
};
const CELLS = [[10, 1, 0], [0, 0, NaN], [0, 3, 1e-6], [-10, 1, NaN], [5, 1, 1e-3], [0, 0, 0]];

function colours(style: Partial<Style>): Uint32Array {
  const pixels = new Uint32Array(6);
  const frame = makeLiquid([[1.1, 2.1, 4], [1.2, 2.2, 2], [1.6, 3.4, 1]], CELLS);
  const whole = { ...STYLE, ...style };
  colourCells(pixels, frame, GRID, whole, liquidRange(frame, whole));
  return pixels;
}

test("a pixel has its red byte first", () => {
  assert.deepEqual([...new Uint8Array(Uint32Array.of(pixelOf([1, 0.5, 0])).buffer)], [255, 128, 0, 255]);
});

test("the first cell is at the lower left, and the next one above it", () => {
  const pixels = colours({});
  const most = pixelOf(pressureColour(1, false));
  assert.equal(pixels[4], most, "cell 0");
  assert.equal(pixels[2], 0, "cell 1 has no liquid");
  assert.equal(pixels[0], pixelOf(pressureColour(0, false)), "cell 2");
  assert.ok(![0, most].includes(pixels[5]!), "cell 3 pulls, and has another colour");
  assert.equal(pixels[1], 0, "cell 5 has no liquid");
});

test("separating cells stand out", () => {
  const pixels = colours({ liquid: "separating" });
  assert.equal(pixels[0], pixelOf(stateColour(2, false)));
  assert.equal(new Set([pixels[4], pixels[5], pixels[3]]).size, 1);
  assert.notEqual(pixels[4], pixels[0]);
});

test("a residual that is not known is grey", () => {
  const pixels = colours({ liquid: "residual" });
  assert.equal(pixels[5], pixelOf(speedColour(NaN, false)));
  assert.notEqual(pixels[3], pixels[0]);
});

test("speeds reach to that of the fastest particle", () => {
  const frame = makeLiquid([[1.1, 2.1, 4], [1.2, 2.2, 2], [1.6, 3.4, 1]], CELLS);
  assert.deepEqual(liquidRange(frame, { ...STYLE, liquid: "speed" }), { low: 0, high: 4 });
});

test("a range of pressures reaches below zero only where there are such", () => {
  const low = (cells: number[][]): number => liquidRange(makeLiquid([], cells), STYLE).low;
  assert.equal(low(CELLS), -10);
  assert.equal(low([[10, 1, 0], [-10, 0, 0]]), 0, "a cell without liquid does not count");
});

test("a stamp covers the area of its dot at every place within a pixel", () => {
  const stamp = makeStamp(2.5);
  assert.equal(stamp.coverage.length, PHASES * PHASES);
  for (const covered of stamp.coverage) {
    const pixels = covered.reduce((sum, part) => sum + part / 255, 0);
    assert.ok(Math.abs(pixels - Math.PI * 6.25) < 0.4, `${pixels} pixels`);
  }
});

test("dots are cut at the border, and the one that covers more of a pixel has it", () => {
  const pixels = { width: 9, height: 7, data: new Uint32Array(63) };
  const stamp = makeStamp(1.5);
  for (const [x, y] of [[0, 0], [-1e-17, -1e-17], [8.9, 6.9], [-1, 3], [9.5, 3], [-50, -50]] as const) {
    stampDot(pixels, stamp, x, y, 0xff0000ff);
  }
  assert.equal(pixels.data[0]! & 0xffffff, 0x0000ff);
  assert.equal(pixels.data[4 + 3 * 9], 0, "nothing in the middle");
  stampDot(pixels, stamp, 4.4, 3.4, 0xff112233);
  stampDot(pixels, stamp, 5.4, 3.4, 0xff445566);
  assert.equal(pixels.data[4 + 3 * 9], 0xff112233, "the middle of the first stays its own");
  assert.equal(pixels.data[6 + 3 * 9]! & 0xffffff, 0x445566);
});

test("speeds of bodies come from two frames that are near, forwards and backwards", () => {
  const speeds = new BodySpeeds();
  const at = (step: number, x: number): Frame =>
    makeFrame({ bodies: [[x, 0, 0, 0]], header: { STEP: step, TIME: step / 10 } });
  speeds.see(at(0, 0));
  assert.deepEqual([...speeds.values], [0]);
  speeds.see(at(1, 0.5));
  assert.ok(Math.abs(speeds.values[0]! - 5) < 1e-4);
  speeds.see(at(1, 0.5));
  assert.ok(Math.abs(speeds.values[0]! - 5) < 1e-4, "the same frame again changes nothing");
  assert.ok(Math.abs(speeds.fastest - 5) < 1e-4);
  speeds.see(at(3, 0.9));
  assert.ok(Math.abs(speeds.values[0]! - 2) < 1e-4);
  speeds.see(at(2, 0.6));
  assert.ok(Math.abs(speeds.values[0]! - 3) < 1e-4);
  speeds.see(at(500, 9));
  assert.ok(Number.isNaN(speeds.values[0]!), "a leap tells no speed");
  speeds.clear();
  assert.equal(speeds.values.length, 0);
});
