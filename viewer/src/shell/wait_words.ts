// What the page says while nothing comes.

export interface Wait {
  /** A scene has come, and its first frame. */
  scene: boolean;
  frame: boolean;
  /** A scene was asked for, and neither came nor was refused. */
  building: boolean;
  /** Pause, reset or a scene was asked for, and there was no answer yet: a solve is under way, which must end first. */
  unanswered: boolean;
  playing: boolean;
  /** Steps that were asked for one by one, and have not come. */
  steps: number;
  /** [s] since something last came, or was asked for. */
  quiet: number;
  /** [s] between two frames where the simulation keeps up; 0 at the largest speed. */
  interval: number;
}

const SOON = 1; // [s] of silence that needs no words
const TOO_LONG = 20; // [s] after which one may want to know the way out
const LONG = 2; // [s] between two frames that look as if nothing happened

/** Null while there is nothing to say. */
export function waitWords(wait: Wait): string | null {
  if (wait.unanswered && wait.quiet >= SOON && wait.scene) {
    const words = wait.building ? "waiting for the end of the step under way" : "pausing after the step under way";
    return `${words}… ${howLong(wait.quiet)}`;
  }
  if (wait.building || (wait.scene && !wait.frame)) {
    return wait.quiet < SOON ? "building the scene…" : `building the scene… ${Math.floor(wait.quiet)} s`;
  }
  if (!wait.playing && wait.steps === 0) return null;
  if (wait.playing && wait.interval > LONG && wait.quiet < wait.interval) {
    return `the next step comes in ${Math.ceil(wait.interval - wait.quiet)} s at this speed`;
  }
  if (wait.quiet < Math.max(SOON, 1.5 * wait.interval)) return null;
  return `compiling or solving… ${howLong(wait.quiet)}`;
}

function howLong(quiet: number): string {
  const seconds = `${Math.floor(quiet)} s`;
  return quiet < TOO_LONG ? seconds : `${seconds} (loading the page again ends it, and begins anew)`;
}
