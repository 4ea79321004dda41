// Half planes within the picture: the polygon that they leave free, and the parts of their edges that bound it.

import type { Box } from "./plane_camera";

export interface Wall {
  readonly point: readonly [number, number];
  /** Unit vector, out of the solid. */
  readonly normal: readonly [number, number];
}

/** How far a point is from a wall [m]; negative in the solid. */
export function wallDistance(wall: Wall, x: number, y: number): number {
  return (x - wall.point[0]) * wall.normal[0] + (y - wall.point[1]) * wall.normal[1];
}

/** What no wall covers of a box: the corners of a convex polygon, flat; empty where nothing is left. */
export function freePolygon(walls: readonly Wall[], box: Box): number[] {
  const [left, bottom, right, top] = [...box.low, ...box.high];
  let polygon = [left, bottom, right, bottom, right, top, left, top] as number[];
  for (const wall of walls) {
    const kept: number[] = [];
    for (let i = 0; i < polygon.length; i += 2) {
      const next = (i + 2) % polygon.length;
      const [ax, ay, bx, by] = [polygon[i]!, polygon[i + 1]!, polygon[next]!, polygon[next + 1]!];
      const [a, b] = [wallDistance(wall, ax, ay), wallDistance(wall, bx, by)];
      if (a >= 0) kept.push(ax, ay);
      if (a >= 0 !== b >= 0) kept.push(ax + ((bx - ax) * a) / (a - b), ay + ((by - ay) * a) / (a - b));
    }
    polygon = kept;
  }
  return polygon;
}

/**
 * The part of a wall's edge that lies in the box and in no other wall: from and to along the tangent (the normal turned
 * clockwise) [m] from the wall's point. Null where nothing is left.
 */
export function freeEdge(wall: Wall, others: readonly Wall[], box: Box): [number, number] | null {
  const bounds: Wall[] = [
    { point: box.low, normal: [1, 0] },
    { point: box.low, normal: [0, 1] },
    { point: box.high, normal: [-1, 0] },
    { point: box.high, normal: [0, -1] },
    ...others,
  ];
  const tangent = [wall.normal[1], -wall.normal[0]] as const;
  let [from, to] = [-Infinity, Infinity];
  for (const bound of bounds) {
    const slope = tangent[0] * bound.normal[0] + tangent[1] * bound.normal[1];
    const distance = wallDistance(bound, wall.point[0], wall.point[1]);
    if (Math.abs(slope) < 1e-12) {
      if (distance < 0) return null;
    } else if (slope > 0) {
      from = Math.max(from, -distance / slope);
    } else {
      to = Math.min(to, -distance / slope);
    }
  }
  return from < to ? [from, to] : null;
}
