// The part of the plane that a scene takes.

import { LIQUID, type Frame } from "../layout";
import type { SceneMessage } from "../messages";
import type { Box } from "./plane_camera";
import { type PlaneShapes, placePoint, poseOf } from "./plane_shapes";

/** A body so many times the scene's size away has left it. */
const GONE = 3;

/** The box of the first frame, widened to the discs of this one; of liquids the grid. */
export function sceneBox(scene: SceneMessage, shapes: PlaneShapes, frame: Frame | null): Box {
  const low: [number, number] = [scene.low[0] ?? 0, scene.low[1] ?? 0];
  const high: [number, number] = [scene.high[0] ?? 1, scene.high[1] ?? 1];
  if (scene.grid) {
    const { cells, spacing, origin } = scene.grid;
    const [x, y] = [origin[0]!, origin[1]!];
    return { low: [x, y], high: [x + cells[0]! * spacing, y + cells[1]! * spacing] };
  }
  if (!frame || frame.kind === LIQUID) return { low, high };
  const far = GONE * Math.max(high[0] - low[0], high[1] - low[1]);
  const [farLow, farHigh] = [[low[0] - far, low[1] - far], [high[0] + far, high[1] + far]] as const;
  for (const { body, centre, radius } of shapes.discs) {
    const pose = poseOf(frame, body);
    if (!pose) continue;
    const place = placePoint(pose, centre);
    if (![0, 1].every((axis) => place[axis]! > farLow[axis]! && place[axis]! < farHigh[axis]!)) continue;
    for (const axis of [0, 1] as const) {
      low[axis] = Math.min(low[axis], place[axis] - radius);
      high[axis] = Math.max(high[axis], place[axis] + radius);
    }
  }
  return { low, high };
}
