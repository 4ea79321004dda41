// What a frame says of contacts and motion, beyond the numbers that stand in it.

import { LIQUID, type Frame } from "../layout";

export interface Impulse {
  /** On the second body, along the axes of the world [N s]. */
  vector: number[];
  norm: number;
  normal: number;
  friction: number;
  /** |x_t| / x_n; NaN where the contact does not press. */
  share: number;
}

/** Frames have float32 numbers: a friction part below this share of the normal one may be nothing but rounding. */
export const SHARE_SEEN = 1e-3;

export function contactImpulse(frame: Frame, contact: number): Impulse {
  const begin = contact * frame.contactWidth + frame.dimension;
  const vector = Array.from(frame.contacts.subarray(begin, begin + frame.dimension));
  const norm = Math.hypot(...vector);
  const normal = frame.contactValue(contact, "NORMAL_IMPULSE");
  const friction = Math.sqrt(Math.max(0, (norm - Math.abs(normal)) * (norm + Math.abs(normal))));
  return { vector, norm, normal, friction, share: normal > 0 ? friction / normal : NaN };
}

export interface BodyContact {
  contact: number;
  /** The body on the other side; -1 is the world. */
  other: number;
  /** On this body [N s]. */
  impulse: number[];
}

/** All contacts of a body, with the impulses that it gets from them. */
export function contactsOf(frame: Frame, body: number): BodyContact[] {
  const found: BodyContact[] = [];
  for (let contact = 0; contact < frame.contactCount; contact++) {
    const a = frame.contactValue(contact, "BODY_A");
    const b = frame.contactValue(contact, "BODY_B");
    if (a !== body && b !== body) continue;
    const sign = b === body ? 1 : -1;
    const impulse = contactImpulse(frame, contact).vector.map((part) => sign * part);
    found.push({ contact, other: b === body ? a : b, impulse });
  }
  return found;
}

/** The sum of the impulses [N s]. */
export function totalImpulse(contacts: BodyContact[], dimension: number): number[] {
  const total = new Array<number>(dimension).fill(0);
  for (const { impulse } of contacts) impulse.forEach((part, i) => (total[i] = total[i]! + part));
  return total;
}

export function bodyPosition(frame: Frame, body: number): number[] {
  const begin = body * frame.bodyWidth;
  return Array.from(frame.bodies.subarray(begin, begin + frame.dimension));
}

/**
 * The mean velocity of a body [m/s] between two frames that follow each other; null where they do not.
 * The step dt [s] is the scene's: the difference of two float32 times is too coarse.
 */
export function bodyVelocity(before: Frame | null, now: Frame, body: number, dt: number): number[] | null {
  if (before === null || now.step !== before.step + 1 || now.kind === LIQUID) return null;
  if (before.bodyCount !== now.bodyCount || body >= now.bodyCount || !(dt > 0)) return null;
  const then = bodyPosition(before, body);
  return bodyPosition(now, body).map((part, i) => (part - then[i]!) / dt);
}

/** A rotation (w x y z) as its axis and its angle [rad], from 0 to pi. */
export function axisAngle(w: number, x: number, y: number, z: number): { axis: number[]; angle: number } {
  const sine = Math.hypot(x, y, z);
  if (sine < 1e-6) return { axis: [0, 0, 1], angle: 0 };
  const sign = w < 0 ? -1 : 1;
  return { axis: [x, y, z].map((part) => (sign * part) / sine), angle: 2 * Math.atan2(sine, Math.abs(w)) };
}
