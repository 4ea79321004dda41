// An outline around what was clicked.

import { LIQUID } from "../layout";
import { dotRadius } from "./paint_contacts";
import type { Picture } from "./picture";
import { placePoint, poseOf } from "./plane_shapes";

/** [px] */
const WIDTH = 2.5;
const HALO = 5.5;
const AROUND_DOT = 4.5;

export function paintSelection(picture: Picture): void {
  const path = outlineOf(picture);
  if (!path) return;
  const { context, palette } = picture;
  context.lineJoin = context.lineCap = "round";
  for (const [width, css] of [[HALO, palette.paper], [WIDTH, palette.ink]] as const) {
    context.lineWidth = width;
    context.strokeStyle = css;
    context.stroke(path);
  }
}

function outlineOf(picture: Picture): Path2D | null {
  const { selection, frame } = picture;
  if (!selection) return null;
  const { kind, index } = selection;
  const isLiquid = frame.kind === LIQUID;
  if (kind === "cell") return isLiquid && index < frame.cellCount ? cellOutline(picture, index) : null;
  if (kind === "body") return isLiquid ? null : bodyOutline(picture, index);
  const [rows, width] = kind === "contact" ? [frame.contacts, frame.contactWidth] : [frame.bodies, frame.bodyWidth];
  if ((kind === "particle") !== isLiquid || (index + 1) * width > rows.length) return null;
  const radius = (kind === "contact" ? dotRadius(picture) : 1) + AROUND_DOT;
  return circle(picture, rows[index * width]!, rows[index * width + 1]!, radius);
}

function bodyOutline(picture: Picture, body: number): Path2D | null {
  const { shapes, frame, camera } = picture;
  const pose = poseOf(frame, body);
  if (!pose) return null;
  const path = new Path2D();
  for (const disc of shapes.discs) {
    if (disc.body === body) path.addPath(circle(picture, ...placePoint(pose, disc.centre), disc.radius * camera.scale));
  }
  for (const segment of shapes.segments) {
    if (segment.body !== body) continue;
    const [a, b] = segment.ends.map((end) => placePoint(pose, end)) as [[number, number], [number, number]];
    path.moveTo(camera.screenX(a[0]), camera.screenY(a[1]));
    path.lineTo(camera.screenX(b[0]), camera.screenY(b[1]));
  }
  return path;
}

function cellOutline({ scene, camera }: Picture, cell: number): Path2D | null {
  const { grid } = scene;
  if (!grid) return null;
  const [i, j] = [Math.floor(cell / grid.cells[1]!), cell % grid.cells[1]!];
  const side = grid.spacing * camera.scale;
  const [left, bottom] = [grid.origin[0]! + i * grid.spacing, grid.origin[1]! + j * grid.spacing];
  const path = new Path2D();
  path.rect(camera.screenX(left), camera.screenY(bottom) - side, side, side);
  return path;
}

function circle({ camera }: Picture, x: number, y: number, radius: number): Path2D {
  const path = new Path2D();
  path.arc(camera.screenX(x), camera.screenY(y), radius, 0, 2 * Math.PI);
  return path;
}
