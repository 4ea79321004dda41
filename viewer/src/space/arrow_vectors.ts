// Impulses as lengths in the picture.

import type { Frame } from "../layout";
import { packColour } from "./records";

/** Impulses below this share of the frame's largest have no arrow. */
const LEAST_SHARE = 1e-3;

/** Numbers of an arrow's record, two texels of four: its foot and its colour; the vector to its tip [m]. */
export const ARROW_NUMBERS = 8;

/** The largest impulse of a frame in space [N s]; 0 without contacts. */
export function largestImpulse(frame: Frame): number {
  const [rows, width] = [frame.contacts, frame.contactWidth];
  let largest = 0;
  for (let k = 0; k < frame.contactCount; k++) {
    const at = k * width;
    const length = Math.hypot(rows[at + 3]!, rows[at + 4]!, rows[at + 5]!);
    if (length > largest && length < Infinity) largest = length;
  }
  return largest;
}

/**
 * Writes the arrows of a frame, ARROW_NUMBERS each, and returns how many there are. The largest impulse is `longest`
 * long [m], the others in proportion; `colours` has four bytes a contact.
 */
export function writeArrows(frame: Frame, longest: number, out: Float32Array, colours: Uint8Array): number {
  const [rows, width] = [frame.contacts, frame.contactWidth];
  const largest = largestImpulse(frame);
  if (!(largest > 0)) return 0;
  const scale = longest / largest;
  let count = 0;
  for (let k = 0; k < frame.contactCount; k++) {
    const at = k * width;
    const length = Math.hypot(rows[at + 3]!, rows[at + 4]!, rows[at + 5]!);
    if (!(length >= LEAST_SHARE * largest) || length === Infinity) continue;
    const to = ARROW_NUMBERS * count++;
    out[to] = rows[at]!;
    out[to + 1] = rows[at + 1]!;
    out[to + 2] = rows[at + 2]!;
    out[to + 3] = packColour(colours, 4 * k);
    out[to + 4] = scale * rows[at + 3]!;
    out[to + 5] = scale * rows[at + 4]!;
    out[to + 6] = scale * rows[at + 5]!;
  }
  return count;
}
