// Half planes: shaded, with a hatched edge where they bound what is free.

import type { Picture } from "./picture";
import { freeEdge, freePolygon, type Wall } from "./half_planes";
import type { Box } from "./plane_camera";
import { placePoint, poseOf, turnVector } from "./plane_shapes";

/** [px] */
const HATCH_PITCH = 9;
const HATCH_LENGTH = 9;
const EDGE_WIDTH = 1.5;

export function paintWalls(picture: Picture): void {
  const walls = wallsOf(picture);
  if (walls.length === 0) return;
  const { context, camera, palette } = picture;
  const room = 40 / camera.scale; // hatches and edges begin a little outside the picture
  const { low, high } = camera.box;
  const box: Box = { low: [low[0] - room, low[1] - room], high: [high[0] + room, high[1] + room] };
  shade(picture, freePolygon(walls, box));
  context.lineCap = "butt";
  for (const wall of walls) {
    const edge = freeEdge(wall, walls.filter((other) => other !== wall), box) ?? freeEdge(wall, [], box);
    if (!edge) continue;
    hatch(picture, wall, edge);
    context.beginPath();
    for (const at of edge) {
      const [x, y] = [wall.point[0] + at * wall.normal[1], wall.point[1] - at * wall.normal[0]];
      context.lineTo(camera.screenX(x), camera.screenY(y));
    }
    context.lineWidth = EDGE_WIDTH;
    context.lineCap = "square"; // corners of two walls close
    context.strokeStyle = palette.edge;
    context.stroke();
  }
}

/** The half planes, where their bodies are now. */
function wallsOf({ shapes, frame }: Picture): Wall[] {
  return shapes.halfPlanes.flatMap(({ body, point, normal }) => {
    const pose = poseOf(frame, body);
    return pose ? [{ point: placePoint(pose, point), normal: turnVector(pose, normal) }] : [];
  });
}

/** Everything but this polygon. */
function shade({ context, camera, palette }: Picture, free: number[]): void {
  context.beginPath();
  context.rect(0, 0, camera.width, camera.height);
  for (let i = 0; i < free.length; i += 2) {
    const [x, y] = [camera.screenX(free[i]!), camera.screenY(free[i + 1]!)];
    if (i === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
  context.closePath();
  context.fillStyle = palette.solid;
  context.fill("evenodd");
}

/** Short slanted strokes into the solid, at places that stay with the wall when the picture moves. */
function hatch({ context, camera, palette }: Picture, wall: Wall, [from, to]: [number, number]): void {
  const { scale } = camera;
  const [right, down] = [wall.normal[1], wall.normal[0]]; // along the edge, in pixels
  const [inX, inY] = [-wall.normal[0], wall.normal[1]]; // into the solid, in pixels
  const [originX, originY] = [camera.screenX(wall.point[0]), camera.screenY(wall.point[1])];
  const slant = HATCH_LENGTH * Math.SQRT1_2;
  context.beginPath();
  for (let k = Math.ceil((from * scale) / HATCH_PITCH); k * HATCH_PITCH <= to * scale; k++) {
    const [x, y] = [originX + k * HATCH_PITCH * right, originY + k * HATCH_PITCH * down];
    context.moveTo(x, y);
    context.lineTo(x + slant * (inX - right), y + slant * (inY - down));
  }
  context.lineWidth = 1;
  context.strokeStyle = palette.hatch;
  context.stroke();
}
