// Where a shape is in the world: the pose of its body, then its own pose in the body's frame. Quaternions are w x y z.

/**
 * Numbers of a shape's record, three texels of four: x y z and its colour; the quaternion as a shader takes it,
 * x y z w; its size (three numbers).
 */
export const SHAPE_NUMBERS = 12;
export const TURN_AT = 4;

/** Numbers of a body's row in a frame of bodies in space. */
const BODY_WIDTH = 8;

/** What does not change from frame to frame: which body each shape belongs to, and its pose there. */
export interface LocalPoses {
  /** -1: the world. */
  readonly body: Int32Array;
  /** Three numbers a shape [m]. */
  readonly position: Float32Array;
  /** Four numbers a shape, w x y z. */
  readonly orientation: Float32Array;
}

/**
 * Writes the pose of every shape into its record (see SHAPE_NUMBERS) from the rows of a frame's bodies. A shape whose
 * body is not there (a frame of fewer bodies) goes to NaN, where nothing is drawn.
 */
export function composePoses(local: LocalPoses, bodies: Float32Array, out: Float32Array): void {
  const { body, position, orientation } = local;
  const count = body.length;
  for (let shape = 0; shape < count; shape++) {
    const at = shape * SHAPE_NUMBERS;
    const [p, q] = [3 * shape, 4 * shape];
    const x = position[p]!;
    const y = position[p + 1]!;
    const z = position[p + 2]!;
    const sw = orientation[q]!;
    const sx = orientation[q + 1]!;
    const sy = orientation[q + 2]!;
    const sz = orientation[q + 3]!;
    if (body[shape]! < 0) {
      out[at] = x;
      out[at + 1] = y;
      out[at + 2] = z;
      out[at + 4] = sx;
      out[at + 5] = sy;
      out[at + 6] = sz;
      out[at + 7] = sw;
      continue;
    }
    const row = BODY_WIDTH * body[shape]!;
    const bw = bodies[row + 3] ?? NaN;
    const bx = bodies[row + 4] ?? NaN;
    const by = bodies[row + 5] ?? NaN;
    const bz = bodies[row + 6] ?? NaN;
    // v + 2 w (b x v) + 2 b x (b x v)
    const cx = 2 * (by * z - bz * y);
    const cy = 2 * (bz * x - bx * z);
    const cz = 2 * (bx * y - by * x);
    out[at] = (bodies[row] ?? NaN) + x + bw * cx + by * cz - bz * cy;
    out[at + 1] = (bodies[row + 1] ?? NaN) + y + bw * cy + bz * cx - bx * cz;
    out[at + 2] = (bodies[row + 2] ?? NaN) + z + bw * cz + bx * cy - by * cx;
    out[at + 4] = bw * sx + bx * sw + by * sz - bz * sy;
    out[at + 5] = bw * sy - bx * sz + by * sw + bz * sx;
    out[at + 6] = bw * sz + bx * sy - by * sx + bz * sw;
    out[at + 7] = bw * sw - bx * sx - by * sy - bz * sz;
  }
}

/** Turns v back by the quaternion (x y z w at `at`): from the world's axes to those of the shape. */
export function turnBack(numbers: Float32Array, at: number, v: ArrayLike<number>, out: Float64Array): void {
  const qx = -numbers[at]!;
  const qy = -numbers[at + 1]!;
  const qz = -numbers[at + 2]!;
  const qw = numbers[at + 3]!;
  const [x, y, z] = [v[0]!, v[1]!, v[2]!];
  const cx = 2 * (qy * z - qz * y);
  const cy = 2 * (qz * x - qx * z);
  const cz = 2 * (qx * y - qy * x);
  out[0] = x + qw * cx + qy * cz - qz * cy;
  out[1] = y + qw * cy + qz * cx - qx * cz;
  out[2] = z + qw * cz + qx * cy - qy * cx;
}
