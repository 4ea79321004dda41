// The numbers of what was picked, as rows of text: one value a lane.

import { CELL_NUMBERS, CONTACT_STATES, LIQUID, type Frame } from "../layout";
import type { SceneMessage } from "../messages";
import {
  axisAngle, bodyPosition, bodyVelocity, contactImpulse, contactsOf, SHARE_SEEN, totalImpulse,
} from "./contact_forces";
import { formatNumber, formatQuantity, formatVector, NOT_RECORDED } from "./numbers";

/** One lane: its frame, and the one before, for speeds. */
export interface Seen {
  frame: Frame;
  before: Frame | null;
}

/** Names and values; the same names in each lane, in the same order. */
export type Facts = [label: string, value: string][];

const LEAST_TURN = (0.05 * Math.PI) / 180; // [rad]

const NO_SPEED = "n/a: the step before was not shown";

export function bodyName(scene: SceneMessage, body: number): string {
  if (body < 0) return "the world";
  const shapes = scene.shapes.filter((shape) => shape.body === body);
  const name = shapes.find((shape) => shape.name !== "")?.name ?? shapes[0]?.form;
  return name === undefined ? `body ${body}` : `body ${body} (${name})`;
}

/** The words of a contact's state. */
export function stateName(state: number): string {
  return CONTACT_STATES[state] ?? NOT_RECORDED;
}

export function bodyFacts(seen: Seen, scene: SceneMessage, body: number): Facts {
  const { frame } = seen;
  const position = bodyPosition(frame, body);
  const velocity = bodyVelocity(seen.before, frame, body, scene.dt);
  const contacts = contactsOf(frame, body);
  const total = totalImpulse(contacts, frame.dimension);
  const force = total.map((part) => part / scene.dt);
  const island = frame.island(body);
  const isSolved = frame.step > 0;
  return [
    ["position", formatVector(position, "m")],
    ["velocity", velocity === null ? NO_SPEED : formatVector(velocity, "m/s")],
    ["speed", velocity === null ? NO_SPEED : formatQuantity(Math.hypot(...velocity), "m/s")],
    ["orientation", describeOrientation(frame, body)],
    ["island", island < 0 ? "none" : String(island)],
    ["contacts", String(contacts.length)],
    ["contact force", isSolved ? formatVector(force, "N") : "n/a"],
    ["|contact force|", isSolved ? formatQuantity(Math.hypot(...force), "N") : "n/a"],
  ];
}

function describeOrientation(frame: Frame, body: number): string {
  const degrees = (angle: number): string => `${((angle * 180) / Math.PI).toFixed(1)}°`;
  const begin = body * frame.bodyWidth;
  if (frame.dimension === 2) return degrees(frame.bodies[begin + 2]!);
  const [w, x, y, z] = frame.bodies.subarray(begin + 3, begin + 7) as unknown as [number, number, number, number];
  const { axis, angle } = axisAngle(w, x, y, z);
  // Below what the degrees show, the axis is nothing but rounding.
  return angle < LEAST_TURN ? degrees(0) : `${degrees(angle)} about (${axis.map(writeShare).join(", ")})`;
}

/** Two digits after the point; 0 has no sign. */
function writeShare(part: number): string {
  return (Math.abs(part) < 0.005 ? 0 : part).toFixed(2);
}

export function contactFacts(frame: Frame, scene: SceneMessage, contact: number): Facts {
  const impulse = contactImpulse(frame, contact);
  const value = (name: Parameters<Frame["contactValue"]>[1]): number => frame.contactValue(contact, name);
  const force = (size: number): string => formatQuantity(size / scene.dt, "N");
  const share = impulse.share < SHARE_SEEN ? `below ${SHARE_SEEN}` : formatNumber(impulse.share);
  return [
    ["between", `${bodyName(scene, value("BODY_A"))} and ${bodyName(scene, value("BODY_B"))}`],
    ["state", stateName(value("STATE"))],
    ["impulse", formatVector(impulse.vector, "N s")],
    ["|impulse|", formatQuantity(impulse.norm, "N s")],
    ["normal part", formatQuantity(impulse.normal, "N s")],
    ["friction part", formatQuantity(impulse.share < SHARE_SEEN ? 0 : impulse.friction, "N s")],
    ["|x_t| / x_n", impulse.normal > 0 ? share : Number.isNaN(impulse.normal) ? NOT_RECORDED : "no normal impulse"],
    ["|force|", force(impulse.norm)],
    ["gap before", formatQuantity(value("GAP"), "m")],
    ["gap velocity", formatQuantity(value("OPENING"), "m/s")],
    ["slip", formatQuantity(value("SLIP"), "m/s")],
    ["residual", formatNumber(value("RESIDUAL"))],
    ["energy error", formatQuantity(value("ENERGY_ERROR"), "J")],
  ];
}

export function cellFacts(frame: Frame, scene: SceneMessage, cell: number): Facts {
  const [pressure, state, residual] = frame.cells.subarray(cell * CELL_NUMBERS, (cell + 1) * CELL_NUMBERS);
  const words = ["no liquid", "liquid", "separating", "liquid, separating from the wall"];
  return [
    ["place", describeCell(scene, cell)],
    ["pressure", formatQuantity(pressure ?? NaN, "Pa")],
    ["state", words[state ?? NaN] ?? NOT_RECORDED],
    ["residual", formatNumber(residual ?? NaN)],
  ];
}

/** Column and row of a cell, and its middle. The y of a cell counts fastest. */
function describeCell(scene: SceneMessage, cell: number): string {
  const { grid } = scene;
  if (grid === null) return `cell ${cell}`;
  const rows = grid.cells[1] ?? 1;
  const at = [Math.floor(cell / rows), cell % rows];
  const middle = at.map((number, i) => (grid.origin[i] ?? 0) + (number + 0.5) * grid.spacing);
  return `column ${at[0]}, row ${at[1]}, at ${formatVector(middle, "m")}`;
}

export function particleFacts(frame: Frame, particle: number): Facts {
  const speed = frame.kind === LIQUID ? frame.bodies[(particle + 1) * frame.bodyWidth - 1]! : NaN;
  return [
    ["position", formatVector(bodyPosition(frame, particle), "m")],
    ["speed", formatQuantity(speed, "m/s")],
  ];
}
