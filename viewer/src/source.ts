// Where frames come from: a server, or the page itself.

import type { Frame } from "./layout";
import type { Command, ServerMessage } from "./messages";

export interface SourceEvents {
  message(message: ServerMessage): void;
  frame(frame: Frame): void;
  /** The connection is gone, for good; says why. */
  lost(reason: string): void;
}

export interface Source {
  /** Whether there is a simulation behind it, and not only frames. */
  readonly live: boolean;
  start(events: SourceEvents): void;
  send(command: Command): void;
  /** The page has drawn (or passed over) this frame: the next one may come. */
  acknowledge(frame: Frame): void;
}
