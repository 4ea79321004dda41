// What the page says while nothing comes.

export interface Wait {
  /** A scene has come, and its first frame. */
  scene: boolean;
  frame: boolean;
  /** A scene was asked for, and neither came nor was refused. */
  building: boolean;
  playing: boolean;
  /** Steps that were asked for one by one, and have not come. */
  steps: number;
  /** [s] since something last came, or was asked for. */
  quiet: number;
  /** [s] between two frames where the simulation keeps up; 0 at the largest speed. */
  interval: number;
}

const SOON = 1; // [s] of silence that needs no words

/** Null while there is nothing to say. */
export function waitWords(wait: Wait): string | null {
  if (wait.building || (wait.scene && !wait.frame)) {
    return wait.quiet < SOON ? "building the scene…" : `building the scene… ${Math.floor(wait.quiet)} s`;
  }
  if (!wait.playing && wait.steps === 0) return null;
  if (wait.quiet < Math.max(SOON, 1.5 * wait.interval)) return null;
  return `compiling or solving… ${Math.floor(wait.quiet)} s`;
}
