// What the cells of a liquid look like: one pixel a cell, before it is magnified.

import { logShare, pressureColour, residualColour, speedColour, stateColour, type Rgb } from "../colours";
import { CELL_NUMBERS, type Frame } from "../layout";
import type { Grid } from "../messages";
import type { Style } from "../view";
import { levelOf, pixelOf, pixelRamp } from "./colour_tables";
import { decades, linearRange, type ValueRange } from "./value_range";

const LIQUID_BIT = 1;
const SEPARATING_BIT = 2;
const PRESSURE = 0;
const STATE = 1;
const RESIDUAL = 2;

/** This share of the cells has pressures within the range: where liquid strikes a wall a few are very large. */
const MOST_PRESSURES = 0.97;
/** How strongly cells that press are coloured beside those that separate. */
const QUIET = 0.7;

/** From what to what the colours of cells, or of particles, reach. */
export function liquidRange(frame: Frame, style: Style): ValueRange {
  if (style.liquid === "pressure") return pressureRange(frame);
  if (style.liquid === "residual") return decades(frame.cells, CELL_NUMBERS, RESIDUAL);
  if (style.liquid === "separating") return { low: 0, high: 1 };
  return linearRange(frame.bodies, frame.bodyWidth, frame.dimension);
}

/** Of cells with liquid: as far below zero as above, or nothing below. */
function pressureRange(frame: Frame): ValueRange {
  const values = new Float32Array(frame.cellCount).fill(NaN);
  let hasNegative = false;
  for (let cell = 0, at = 0; cell < frame.cellCount; cell++, at += CELL_NUMBERS) {
    if (!(frame.cells[at + STATE]! > 0)) continue;
    const pressure = frame.cells[at + PRESSURE]!;
    values[cell] = Math.abs(pressure);
    hasNegative ||= pressure < 0;
  }
  const { high } = linearRange(values, 1, 0, MOST_PRESSURES);
  return { low: hasNegative ? -high : 0, high };
}

/** Fills pixels, the top row of cells first; those without liquid stay clear. */
export function colourCells(pixels: Uint32Array, frame: Frame, grid: Grid, style: Style, range: ValueRange): void {
  const [across, along] = [grid.cells[0]!, grid.cells[1]!];
  const pixelOfCell = cellChooser(frame, style, range);
  for (let i = 0, cell = 0; i < across; i++) {
    for (let j = 0; j < along; j++, cell++) pixels[(along - 1 - j) * across + i] = pixelOfCell(cell);
  }
}

function cellChooser(frame: Frame, style: Style, range: ValueRange): (cell: number) => number {
  const { cells } = frame;
  const { dark } = style;
  const unknown = pixelOf(speedColour(NaN, dark));
  const scale = range.high > 0 ? 1 / range.high : 0;
  if (style.liquid === "separating") {
    const [pressing, separating] = [pixelOf(stateColour(0, dark), QUIET), pixelOf(stateColour(2, dark))];
    return (cell) => {
      const state = cells[CELL_NUMBERS * cell + STATE] ?? 0;
      return state & SEPARATING_BIT ? separating : state & LIQUID_BIT ? pressing : 0;
    };
  }
  if (style.liquid === "residual") {
    const ramp = pixelRamp((share) => residualColour(10 ** share, 1, 10, dark));
    return (cell) => {
      if (!(cells[CELL_NUMBERS * cell + STATE]! > 0)) return 0;
      const share = logShare(cells[CELL_NUMBERS * cell + RESIDUAL]!, range.low, range.high);
      return Number.isNaN(share) ? unknown : ramp[levelOf(share)]!;
    };
  }
  const pushing = pixelRamp((share) => pressureColour(share, dark));
  const pulling = pullingRamp(dark);
  return (cell) => {
    if (!(cells[CELL_NUMBERS * cell + STATE]! > 0)) return 0;
    const share = cells[CELL_NUMBERS * cell + PRESSURE]! * scale;
    if (Number.isNaN(share)) return unknown;
    return share < 0 ? pulling[levelOf(-share)]! : pushing[levelOf(share)]!;
  };
}

/** Pressures below zero, where liquid is not free to part: in another hue, which begins clearly apart from zero. */
function pullingRamp(dark: boolean): Uint32Array {
  const [none, most]: [Rgb, Rgb] = [dark ? [0.3, 0.2, 0.15] : [0.97, 0.9, 0.84], stateColour(1, dark)];
  const mixed = (share: number): [number, number, number] => {
    const part = (place: 0 | 1 | 2): number => none[place] + (most[place] - none[place]) * Math.sqrt(share);
    return [part(0), part(1), part(2)];
  };
  return pixelRamp(mixed);
}
