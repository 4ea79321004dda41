// The solid that a liquid moves in, as paths in metres.

import type { Grid } from "../messages";
import { type NodeField, traceContours } from "./marching_squares";

export interface SolidPaths {
  readonly inside: Path2D;
  readonly edge: Path2D;
}

/** Deep in the solid [cells]: so deep that the edge lies at the grid's own border where the solid begins beyond it. */
const DEEP = -1e6;

export function solidPaths(grid: Grid): SolidPaths {
  const contours = traceContours(withBorder(grid));
  const [inside, edge] = [new Path2D(), new Path2D()];
  for (const polygon of contours.inside) addChain(inside, polygon).closePath();
  for (const chain of contours.edges) addChain(edge, chain);
  return { inside, edge };
}

/** The signed distance of the grid's nodes in a ring of nodes that are solid, since all is solid beyond the grid. */
export function withBorder(grid: Grid): NodeField {
  const [across, along] = [grid.cells[0]! + 2, grid.cells[1]! + 2];
  const values = new Float64Array((across + 1) * (along + 1)).fill(DEEP * grid.spacing);
  const nodes = along - 1;
  for (let i = 0; i < across - 1; i++) {
    for (let j = 0; j < nodes; j++) values[(i + 1) * (along + 1) + j + 1] = grid.solid?.[i * nodes + j] ?? grid.spacing;
  }
  const origin: [number, number] = [grid.origin[0]! - grid.spacing, grid.origin[1]! - grid.spacing];
  return { cells: [across, along], spacing: grid.spacing, origin, values };
}

function addChain(path: Path2D, points: number[]): Path2D {
  path.moveTo(points[0]!, points[1]!);
  for (let i = 2; i < points.length; i += 2) path.lineTo(points[i]!, points[i + 1]!);
  return path;
}
