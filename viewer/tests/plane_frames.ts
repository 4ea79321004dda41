// Frames and scenes that tests of the plane write by hand.

import { BODIES, Frame, HEADER, Header, LAYOUT, LIQUID } from "../src/layout";
import type { Grid, SceneMessage } from "../src/messages";

export interface FrameParts {
  readonly kind?: number;
  readonly dimension?: number;
  /** Numbers of the header, by name. */
  readonly header?: Partial<Record<keyof typeof Header, number>>;
  /** Rows of each section. */
  readonly bodies?: number[][];
  readonly contacts?: number[][];
  readonly cells?: number[][];
  readonly curve?: number[][];
}

/** The numbers of a frame: its header, and all rows. */
export function frameNumbers(parts: FrameParts): Float32Array {
  const { kind = BODIES, dimension = 2, bodies = [], contacts = [], cells = [], curve = [] } = parts;
  const header = new Array<number>(HEADER).fill(0);
  const named: Partial<Record<keyof typeof Header, number>> = {
    LAYOUT, KIND: kind, DIMENSION: dimension,
    BODIES: bodies.length, CONTACTS: contacts.length, CELLS: cells.length, CURVE: curve.length,
    ...parts.header,
  };
  for (const [name, value] of Object.entries(named)) header[Header[name as keyof typeof Header]] = value;
  return Float32Array.from([...header, ...[bodies, contacts, cells, curve].flat(2)]);
}

export function makeFrame(parts: FrameParts): Frame {
  return new Frame(frameNumbers(parts));
}

/** Particles x, y, speed, and cells pressure, state, residual. */
export function makeLiquid(particles: number[][], cells: number[][]): Frame {
  return makeFrame({ kind: LIQUID, bodies: particles, cells });
}

/** Two by three cells of half a metre, from (1, 2) on. */
export const GRID: Grid = { cells: [2, 3], spacing: 0.5, origin: [1, 2], solid: null };

export const SCENE: SceneMessage = {
  type: "scene", name: "made", kind: "bodies", dimension: 2, bodies: 2, dt: 0.01, seed: 0, options: {},
  shapes: [], meshes: [], grid: null, low: [-1, 0], high: [1, 2],
};
