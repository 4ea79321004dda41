// Colours by the thousand: ramps as tables, made once, so that nothing is mixed for each particle or cell.

import { cssColour, type Rgb } from "../colours";

export const LEVELS = 256;

/** A colour as the four bytes of a pixel, on machines that store the lowest byte first. */
export function pixelOf(colour: Rgb, opacity = 1): number {
  const [red, green, blue] = colour.map((part) => Math.round(255 * part)) as [number, number, number];
  return ((Math.round(255 * opacity) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** A ramp over 0..1 as pixels. */
export function pixelRamp(colour: (share: number) => Rgb, levels = LEVELS): Uint32Array {
  return Uint32Array.from({ length: levels }, (_, level) => pixelOf(colour(level / (levels - 1))));
}

/** A ramp over 0..1 as CSS colours. */
export function cssRamp(colour: (share: number) => Rgb, levels: number): string[] {
  return Array.from({ length: levels }, (_, level) => cssColour(colour(level / (levels - 1))));
}

/** The level of a share in a table of so many; shares beyond 0..1 have the first and the last. */
export function levelOf(share: number, levels = LEVELS): number {
  return Math.min(Math.max(Math.round(share * (levels - 1)), 0), levels - 1);
}

/** A colour, rounded a little: bodies whose colours are hardly to be told apart are then painted in one go. */
export function roundedCss(colour: Rgb): string {
  const [red, green, blue] = colour.map((part) => Math.round(part * 50) / 50) as [number, number, number];
  return cssColour([red, green, blue]);
}
