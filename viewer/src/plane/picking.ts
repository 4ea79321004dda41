// What is under the pointer. Everything near a point of the plane, within a reach in metres.

import { LIQUID, type Frame } from "../layout";
import type { Grid } from "../messages";
import type { Selection, Style } from "../view";
import { type PlaneShapes, type Pose, placePoint, poseOf } from "./plane_shapes";

export interface Pointed {
  readonly x: number;
  readonly y: number;
  /** Pixels of a metre. */
  readonly scale: number;
}

/** [px] */
const REACH = { contact: 8, segment: 6, particle: 7, disc: 2 };

/** The contact, body, particle or cell at a point; contacts lie upon bodies and win. */
export function pickAt(
  at: Pointed,
  frame: Frame,
  shapes: PlaneShapes,
  grid: Grid | null,
  style: Style,
): Selection | null {
  if (frame.kind === LIQUID) return pickLiquid(at, frame, grid, style);
  const hasContacts = style.contacts !== "hidden" || style.forces;
  const contact = hasContacts ? nearestRow(frame.contacts, frame.contactWidth, at, REACH.contact / at.scale) : -1;
  if (contact >= 0) return { kind: "contact", index: contact };
  const body = bodyAt(at, frame, shapes);
  return body >= 0 ? { kind: "body", index: body } : null;
}

/** Where cells have colours, a cell; where only particles are to be seen, a particle. */
function pickLiquid(at: Pointed, frame: Frame, grid: Grid | null, style: Style): Selection | null {
  const cell = grid ? cellAt(at.x, at.y, grid) : -1;
  const isLiquid = cell >= 0 && cell < frame.cellCount && frame.cells[3 * cell + 1]! > 0;
  if (isLiquid && (style.liquid !== "speed" || !style.particles)) return { kind: "cell", index: cell };
  const reach = Math.max(REACH.particle / at.scale, 0.5 * (grid?.spacing ?? 0));
  const particle = style.particles ? nearestRow(frame.bodies, frame.bodyWidth, at, reach) : -1;
  if (particle >= 0) return { kind: "particle", index: particle };
  return isLiquid ? { kind: "cell", index: cell } : null;
}

/** The row whose first two numbers lie nearest, within reach [m]; -1 without one. */
export function nearestRow(rows: Float32Array, width: number, at: Pointed, reach: number): number {
  let best = -1;
  let nearest = reach * reach;
  for (let row = 0, place = 0; place < rows.length; row++, place += width) {
    const [right, up] = [rows[place]! - at.x, rows[place + 1]! - at.y];
    const distance = right * right + up * up;
    if (distance > nearest) continue;
    nearest = distance;
    best = row;
  }
  return best;
}

/** Number of the cell at a point, x slowest; -1 outside the grid. */
export function cellAt(x: number, y: number, grid: Grid): number {
  const i = Math.floor((x - grid.origin[0]!) / grid.spacing);
  const j = Math.floor((y - grid.origin[1]!) / grid.spacing);
  return i >= 0 && j >= 0 && i < grid.cells[0]! && j < grid.cells[1]! ? i * grid.cells[1]! + j : -1;
}

/** The body whose edge a point is deepest inside of, or nearest to; -1 without one. Walls of the world are none. */
function bodyAt(at: Pointed, frame: Frame, shapes: PlaneShapes): number {
  let best = -1;
  let nearest = Infinity;
  const consider = (body: number, distance: number, reach: number): void => {
    if (body < 0 || distance > reach / at.scale || distance >= nearest) return;
    nearest = distance;
    best = body;
  };
  for (const { body, centre, radius } of shapes.discs) {
    const pose = body >= 0 ? poseOf(frame, body) : null;
    if (pose) consider(body, distanceTo(pose, centre, at) - radius, REACH.disc);
  }
  for (const { body, ends } of shapes.segments) {
    const pose = body >= 0 ? poseOf(frame, body) : null;
    if (pose) consider(body, segmentDistance(placePoint(pose, ends[0]), placePoint(pose, ends[1]), at), REACH.segment);
  }
  return best;
}

function distanceTo(pose: Pose, point: readonly [number, number], at: Pointed): number {
  const [x, y] = placePoint(pose, point);
  return Math.hypot(x - at.x, y - at.y);
}

/** From a point to a segment [m]. */
export function segmentDistance(a: readonly [number, number], b: readonly [number, number], at: Pointed): number {
  const [alongX, alongY] = [b[0] - a[0], b[1] - a[1]];
  const square = alongX * alongX + alongY * alongY;
  const share = square > 0 ? ((at.x - a[0]) * alongX + (at.y - a[1]) * alongY) / square : 0;
  const t = Math.min(Math.max(share, 0), 1);
  return Math.hypot(a[0] + t * alongX - at.x, a[1] + t * alongY - at.y);
}
