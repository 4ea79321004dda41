// The shapes of a scene in the plane, and where a frame puts them.

import type { Rgb } from "../colours";
import type { Frame } from "../layout";
import type { SceneMessage, Shape } from "../messages";

type Point = readonly [number, number];

export interface Disc {
  readonly body: number;
  readonly radius: number;
  /** Of its middle, in the frame of the body [m]. */
  readonly centre: Point;
  readonly colour: Rgb | null;
}

export interface Segment {
  readonly body: number;
  readonly ends: readonly [Point, Point];
  readonly colour: Rgb | null;
}

/** Everything on the other side of its edge from where the normal points is solid. */
export interface HalfPlane {
  readonly body: number;
  readonly point: Point;
  readonly normal: Point;
}

export interface PlaneShapes {
  readonly discs: readonly Disc[];
  readonly segments: readonly Segment[];
  readonly halfPlanes: readonly HalfPlane[];
}

/** Where a body is: its centre of mass [m], and cosine and sine of its angle. */
export interface Pose {
  x: number;
  y: number;
  cos: number;
  sin: number;
}

export function readShapes(scene: SceneMessage): PlaneShapes {
  const discs: Disc[] = [];
  const segments: Segment[] = [];
  const halfPlanes: HalfPlane[] = [];
  for (const shape of scene.shapes) {
    const [body, colour] = [shape.body, shape.color];
    const [shiftX = 0, shiftY = 0] = shape.position;
    if (shape.form === "disc") {
      discs.push({ body, radius: shape.size[0] ?? 0, centre: [shiftX, shiftY], colour });
      continue;
    }
    const points = verticesOf(shape, scene);
    if (!points) continue;
    const [first, second] = points;
    const shifted: Point = [first[0] + shiftX, first[1] + shiftY];
    if (shape.form === "segment") {
      segments.push({ body, ends: [shifted, [second[0] + shiftX, second[1] + shiftY]], colour });
    } else if (shape.form === "half_plane") {
      const length = Math.hypot(second[0], second[1]) || 1;
      halfPlanes.push({ body, point: shifted, normal: [second[0] / length, second[1] / length] });
    }
  }
  return { discs, segments, halfPlanes };
}

function verticesOf(shape: Shape, scene: SceneMessage): [Point, Point] | null {
  const vertices = shape.mesh === null ? undefined : scene.meshes[shape.mesh]?.vertices;
  const [first, second] = vertices ?? [];
  return first && second ? [[first[0]!, first[1]!], [second[0]!, second[1]!]] : null;
}

/** Where a frame has a body; the world stands at the origin. Null for a body that the frame does not have. */
export function poseOf(frame: Frame, body: number): Pose | null {
  if (body < 0) return { x: 0, y: 0, cos: 1, sin: 0 };
  if (body >= frame.bodyCount) return null;
  const at = body * frame.bodyWidth;
  const angle = frame.bodies[at + 2]!;
  return { x: frame.bodies[at]!, y: frame.bodies[at + 1]!, cos: Math.cos(angle), sin: Math.sin(angle) };
}

/** A point of a body, in the world. */
export function placePoint(pose: Pose, point: Point): [number, number] {
  return [pose.x + pose.cos * point[0] - pose.sin * point[1], pose.y + pose.sin * point[0] + pose.cos * point[1]];
}

/** A direction of a body, in the world. */
export function turnVector(pose: Pose, vector: Point): [number, number] {
  return [pose.cos * vector[0] - pose.sin * vector[1], pose.sin * vector[0] + pose.cos * vector[1]];
}
