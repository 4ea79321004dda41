// From where a scene is seen best: as a whole, from the front and a little above.

export type Point3 = readonly [number, number, number];

/** Height of the eye above the horizon [rad], and how far it is turned off the front. */
const ELEVATION = 0.33;
const TURN = 0.5;
/** Of a scene that is much wider than deep, the front is seen more squarely. */
const TURN_OF_WALLS = 0.36;

export interface Framing {
  eye: [number, number, number];
  target: [number, number, number];
}

/**
 * The box of a scene, grown by where its bodies are now (rows that begin with x y z), but to three times its size at
 * most: a body that was flung away is not worth making all others small.
 */
export function growBox(
  low: readonly number[],
  high: readonly number[],
  rows: Float32Array,
  width: number,
): { low: number[]; high: number[] } {
  const room = Math.hypot(...low.map((value, axis) => high[axis]! - value));
  const [grownLow, grownHigh] = [[...low], [...high]];
  for (let at = 0; at < rows.length; at += width) {
    for (let axis = 0; axis < 3; axis++) {
      const value = rows[at + axis]!;
      if (value < grownLow[axis]!) grownLow[axis] = Math.max(value, low[axis]! - room);
      else if (value > grownHigh[axis]!) grownHigh[axis] = Math.min(value, high[axis]! + room);
    }
  }
  return { low: grownLow, high: grownHigh };
}

/** The box from `low` to `high` fills the picture. `slope` is the tangent of half the camera's vertical angle. */
export function frameBox(low: readonly number[], high: readonly number[], slope: number, aspect: number): Framing {
  const half = [0, 1, 2].map((axis) => Math.max(0.5 * (high[axis]! - low[axis]!), 1e-3)) as [number, number, number];
  const middle = [0, 1, 2].map((axis) => 0.5 * (low[axis]! + high[axis]!)) as [number, number, number];
  const [wide, deep] = [Math.max(half[0], half[1]), Math.min(half[0], half[1])];
  const turn = deep < 0.4 * wide ? TURN_OF_WALLS : TURN;
  const angle = half[1] > 1.2 * half[0] ? turn : turn - Math.PI / 2; // in front of the longer side
  const back: Point3 = [
    Math.cos(ELEVATION) * Math.cos(angle),
    Math.cos(ELEVATION) * Math.sin(angle),
    Math.sin(ELEVATION),
  ];
  const right: Point3 = [-Math.sin(angle), Math.cos(angle), 0];
  const up: Point3 = [
    back[1] * right[2] - back[2] * right[1],
    back[2] * right[0] - back[0] * right[2],
    back[0] * right[1] - back[1] * right[0],
  ];
  const distance = 1.12 * distanceFor(half, back, right, up, slope, aspect);
  const at = (axis: number): number => middle[axis]! + distance * back[axis]!;
  return { eye: [at(0), at(1), at(2)], target: middle };
}

/** So far from the middle that all corners are in the picture. */
function distanceFor(half: Point3, back: Point3, right: Point3, up: Point3, slope: number, aspect: number): number {
  let distance = 0;
  for (let corner = 0; corner < 8; corner++) {
    const at = half.map((length, axis) => ((corner >> axis) & 1 ? length : -length));
    const along = (axis: Point3): number => at[0]! * axis[0] + at[1]! * axis[1] + at[2]! * axis[2];
    const needed = Math.max(Math.abs(along(up)) / slope, Math.abs(along(right)) / (slope * aspect));
    distance = Math.max(distance, along(back) + needed);
  }
  return distance;
}
