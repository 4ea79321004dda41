// How many iterations another method may take: a scene has a limit for its own method, which is for no other.

import type { Lane, SceneForm } from "../messages";

/** The limit that a method begins with in a scene; null: its own. */
export function sceneLimit(scene: SceneForm | undefined, method: string): number | null {
  return scene?.method === method ? scene.max_iterations : null;
}

/** The limit for a method that takes the place of the lane's: what the user chose stays, what was the scene's does not. */
export function limitFor(scene: SceneForm | undefined, lane: Lane, method: string): number | null {
  if (method === lane.method) return lane.max_iterations;
  const isChosen = lane.max_iterations !== sceneLimit(scene, lane.method);
  return isChosen ? lane.max_iterations : sceneLimit(scene, method);
}
