// Small round dots as pixels: particles by the hundred thousand are too many for paths.

/** A dot may begin at any of so many places within a pixel, along each axis. */
export const PHASES = 4;
const SAMPLES = 5;

export interface Stamp {
  /** Pixels along its sides, and how far its first one lies before the pixel that holds the middle. */
  readonly size: number;
  readonly reach: number;
  /** How much of each pixel it covers, 0..255; one list a phase, x fastest. */
  readonly coverage: readonly Uint8Array[];
}

/** A dot of this radius [pixels of the screen]. */
export function makeStamp(radius: number): Stamp {
  const reach = Math.ceil(radius);
  const size = 2 * reach + 1;
  const coverage: Uint8Array[] = [];
  for (let phaseY = 0; phaseY < PHASES; phaseY++) {
    for (let phaseX = 0; phaseX < PHASES; phaseX++) {
      const [centreX, centreY] = [reach + (phaseX + 0.5) / PHASES, reach + (phaseY + 0.5) / PHASES];
      const covered = (pixel: number): number =>
        coveredShare(pixel % size, Math.floor(pixel / size), centreX, centreY, radius);
      coverage.push(Uint8Array.from({ length: size * size }, (_, pixel) => Math.round(255 * covered(pixel))));
    }
  }
  return { size, reach, coverage };
}

function coveredShare(left: number, top: number, centreX: number, centreY: number, radius: number): number {
  let inside = 0;
  for (let sample = 0; sample < SAMPLES * SAMPLES; sample++) {
    const x = left + ((sample % SAMPLES) + 0.5) / SAMPLES;
    const y = top + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES;
    if ((x - centreX) ** 2 + (y - centreY) ** 2 <= radius * radius) inside++;
  }
  return inside / (SAMPLES * SAMPLES);
}

/** Which phase a place within a pixel has; a place just below 0 is one of 1 for its neighbour, by rounding. */
function phaseOf(share: number): number {
  return Math.min(Math.floor(share * PHASES), PHASES - 1);
}

/** Pixels of an image, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint32Array;
}

/** Puts a dot with its middle at (x, y) [pixels]; where dots overlap the one that covers more of a pixel has it. */
export function stampDot(pixels: Pixels, stamp: Stamp, x: number, y: number, colour: number): void {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  const phase = phaseOf(y - row) * PHASES + phaseOf(x - column);
  const covered = stamp.coverage[phase]!;
  const { size, reach } = stamp;
  const [left, top] = [column - reach, row - reach];
  const [firstX, lastX] = [Math.max(0, -left), Math.min(size, pixels.width - left)];
  const [firstY, lastY] = [Math.max(0, -top), Math.min(size, pixels.height - top)];
  const rgb = colour & 0xffffff;
  for (let dy = firstY; dy < lastY; dy++) {
    let from = dy * size + firstX;
    let to = (top + dy) * pixels.width + left + firstX;
    for (let dx = firstX; dx < lastX; dx++, from++, to++) {
      const alpha = covered[from]!;
      if (alpha > pixels.data[to]! >>> 24) pixels.data[to] = (alpha << 24) | rgb;
    }
  }
}
