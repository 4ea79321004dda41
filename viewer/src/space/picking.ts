// What lies under the pointer, found by arithmetic on the numbers of the frame: no picture is read back.

import type { Matrix4 } from "three";
import type { Mesh as MeshData, Shape } from "../messages";
import { SHAPE_NUMBERS, TURN_AT, turnBack } from "./poses";

/** From the eye through the pointer. The direction has length 1. */
export interface Ray {
  origin: ArrayLike<number>;
  direction: ArrayLike<number>;
}

const from = new Float64Array(3);
const along = new Float64Array(3);
const shifted = new Float64Array(3);

/** Distance to a box with these half edges, about the origin; Infinity where it is missed. */
function hitBox(half: ArrayLike<number>): number {
  let [enter, leave] = [0, Infinity];
  for (let axis = 0; axis < 3; axis++) {
    const one = (-half[axis]! - from[axis]!) / along[axis]!;
    const other = (half[axis]! - from[axis]!) / along[axis]!;
    enter = Math.max(enter, Math.min(one, other));
    leave = Math.min(leave, Math.max(one, other));
  }
  return enter <= leave ? enter : Infinity;
}

/** The nearer root of a t^2 + 2 b t + c that is not negative. */
function nearRoot(a: number, b: number, c: number): number {
  const inner = b * b - a * c;
  if (inner < 0 || a === 0) return Infinity;
  const near = (-b - Math.sqrt(inner)) / a;
  return near >= 0 ? near : Infinity;
}

/** An ellipsoid with these half axes, its middle at `middle` on the z axis. */
function hitEllipsoid(x: number, y: number, z: number, middle: number): number {
  const [ox, oy, oz] = [from[0]! / x, from[1]! / y, (from[2]! - middle) / z];
  const [dx, dy, dz] = [along[0]! / x, along[1]! / y, along[2]! / z];
  return nearRoot(dx * dx + dy * dy + dz * dz, ox * dx + oy * dy + oz * dz, ox * ox + oy * oy + oz * oz - 1);
}

/** The side of a cylinder about z. */
function hitTube(radius: number, half: number): number {
  const t = nearRoot(
    along[0]! * along[0]! + along[1]! * along[1]!,
    from[0]! * along[0]! + from[1]! * along[1]!,
    from[0]! * from[0]! + from[1]! * from[1]! - radius * radius,
  );
  return Math.abs(from[2]! + t * along[2]!) <= half ? t : Infinity;
}

function hitCap(radius: number, height: number): number {
  const t = (height - from[2]!) / along[2]!;
  return t >= 0 && Math.hypot(from[0]! + t * along[0]!, from[1]! + t * along[1]!) <= radius ? t : Infinity;
}

/** Both sides of every face. */
function hitMesh(mesh: MeshData): number {
  let nearest = Infinity;
  for (const face of mesh.faces) {
    for (let fan = 1; fan + 1 < face.length; fan++) {
      const [a, b, c] = [mesh.vertices[face[0]!]!, mesh.vertices[face[fan]!]!, mesh.vertices[face[fan + 1]!]!];
      nearest = Math.min(nearest, hitTriangle(a, b, c));
    }
  }
  return nearest;
}

function hitTriangle(a: number[], b: number[], c: number[]): number {
  const [ux, uy, uz] = [b[0]! - a[0]!, b[1]! - a[1]!, b[2]! - a[2]!];
  const [vx, vy, vz] = [c[0]! - a[0]!, c[1]! - a[1]!, c[2]! - a[2]!];
  const [dx, dy, dz] = [along[0]!, along[1]!, along[2]!];
  const [px, py, pz] = [dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx];
  const volume = ux * px + uy * py + uz * pz;
  if (volume === 0) return Infinity;
  const [sx, sy, sz] = [from[0]! - a[0]!, from[1]! - a[1]!, from[2]! - a[2]!];
  const u = (sx * px + sy * py + sz * pz) / volume;
  const [qx, qy, qz] = [sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux];
  const v = (dx * qx + dy * qy + dz * qz) / volume;
  const t = (vx * qx + vy * qy + vz * qz) / volume;
  return u >= 0 && v >= 0 && u + v <= 1 && t >= 0 ? t : Infinity;
}

/** Along the ray to a shape whose record begins at `at` (see `composePoses`); Infinity where it is missed. */
export function hitShape(
  ray: Ray,
  shape: Shape,
  numbers: Float32Array,
  at: number,
  meshes: readonly MeshData[],
): number {
  for (let axis = 0; axis < 3; axis++) shifted[axis] = ray.origin[axis]! - numbers[at + axis]!;
  turnBack(numbers, at + TURN_AT, shifted, from);
  turnBack(numbers, at + TURN_AT, ray.direction, along);
  const [a = 0, b = a, c = b] = shape.size;
  switch (shape.form) {
    case "box":
      return hitBox(shape.size);
    case "sphere":
      return hitEllipsoid(a, a, a, 0);
    case "ellipsoid":
      return hitEllipsoid(a, b, c, 0);
    case "capsule":
      return Math.min(hitTube(a, b), hitEllipsoid(a, a, a, b), hitEllipsoid(a, a, a, -b));
    case "cylinder":
      return Math.min(hitTube(a, b), hitCap(a, b), hitCap(a, -b));
    case "mesh":
      return shape.mesh === null ? Infinity : hitMesh(meshes[shape.mesh]!);
    default:
      return Infinity;
  }
}

/** The nearest shape's body and its distance; the world (-1) hides what is behind it. */
export function pickBody(
  ray: Ray,
  groups: readonly { shapes: readonly Shape[]; numbers: Float32Array }[],
  meshes: readonly MeshData[],
): { body: number; distance: number } | null {
  let [body, distance] = [-1, Infinity];
  for (const { shapes, numbers } of groups) {
    shapes.forEach((shape, place) => {
      const found = hitShape(ray, shape, numbers, place * SHAPE_NUMBERS, meshes);
      if (found < distance) [body, distance] = [shape.body, found];
    });
  }
  return distance < Infinity ? { body, distance } : null;
}

/**
 * The point that is drawn nearest to the pointer, at most `reach` pixels from it; -1 if there is none. Points stand at
 * the beginning of rows of `width` numbers; pointer and picture are in pixels.
 */
export function pickPoint(
  rows: Float32Array,
  width: number,
  projection: Matrix4,
  picture: { width: number; height: number },
  pointer: { x: number; y: number },
  reach: number,
  nearestToEye: boolean,
): number {
  const m = projection.elements;
  let [found, best] = [-1, Infinity];
  for (let at = 0, k = 0; at < rows.length; at += width, k++) {
    const [x, y, z] = [rows[at]!, rows[at + 1]!, rows[at + 2]!];
    const w = m[3]! * x + m[7]! * y + m[11]! * z + m[15]!;
    if (!(w > 0)) continue;
    const right = (0.5 + (0.5 * (m[0]! * x + m[4]! * y + m[8]! * z + m[12]!)) / w) * picture.width;
    const down = (0.5 - (0.5 * (m[1]! * x + m[5]! * y + m[9]! * z + m[13]!)) / w) * picture.height;
    const off = Math.hypot(right - pointer.x, down - pointer.y);
    const rank = nearestToEye ? w : off;
    if (off <= reach && rank < best) [found, best] = [k, rank];
  }
  return found;
}
