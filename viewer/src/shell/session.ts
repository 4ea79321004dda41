// From the source into the store: messages, frames, history; and commands the other way, with what they make one wait for.

import type { Frame } from "../layout";
import type { Code, Command, FileMessage, ServerMessage } from "../messages";
import { MethodLog } from "../panels/lanes";
import type { Source } from "../source";
import type { HistoryRow, Model, Store } from "../store";
import { FrameQueue, framesAt } from "./frame_queue";
import { recordHistory } from "./history";
import { Rate } from "./rate";
import { keepSelection } from "./selecting";
import type { Wait } from "./wait_words";

const now = (): number => performance.now() / 1e3;

const PATIENCE = 0.5; // [s]; another frame that comes later than this is the answer, too

/** Who does one of these has read what went wrong before. If it goes wrong again, it is said again. */
const ANSWERS: readonly Command["type"][] = ["play", "step", "reset", "build", "method", "compare"];

export interface SessionHandlers {
  code(message: Code): void;
  file(message: FileMessage): void;
}

export class Session {
  readonly live: boolean;
  readonly rate = new Rate();
  /** Which method made which frame. */
  readonly methods = new MethodLog();
  private readonly store: Store;
  private readonly source: Source;
  private readonly handlers: SessionHandlers;
  private readonly known: readonly Frame[];
  private readonly queue: FrameQueue;
  private building = true;
  private unanswered = false;
  private steps = 0;
  private heard = now();
  private newest = 0;
  /** Where the user went back to; null while the newest frame is to be seen. */
  private sought: number | null = null;
  /** The place that was asked for and is not yet drawn, and when that was. */
  private heading: { place: number; since: number } | null = null;

  /** `known` are frames that need not be waited for, all of one scene: their history is there from the beginning. */
  constructor(store: Store, source: Source, handlers: SessionHandlers, known: readonly Frame[] = []) {
    this.store = store;
    this.known = known;
    this.source = source;
    this.handlers = handlers;
    this.live = source.live;
    this.queue = new FrameQueue({
      now,
      soon: (callback) => void requestAnimationFrame(callback),
      draw: (frames) => this.draw(frames),
      done: (frame) => source.acknowledge(frame),
    });
    store.send = (command) => this.send(command);
  }

  start(): void {
    this.source.start({
      message: (message) => this.receive(message),
      frame: (frame) => this.take(frame),
      lost: (reason) => {
        this.store.set("lost", reason);
        document.documentElement.dataset["connected"] = "false";
      },
    });
  }

  /** The place of the newest frame that there is. */
  last(): number {
    return Math.max(this.newest, this.store.get("state")?.last ?? 0);
  }

  /** Whether an older frame is shown, or will be, because the user asked for it. */
  isBack(): boolean {
    return this.store.get("welcome")?.mode === "live" && this.sought !== null && (this.goal() ?? 0) < this.last();
  }

  /** The place that is shown, or will be as soon as it has come: the next key counts from there. */
  goal(): number | null {
    return this.heading?.place ?? this.store.get("frames")[0]?.place ?? null;
  }

  waits(): Wait {
    const { welcome, scene, state, frames } = this.store.model;
    const isSolving = welcome?.mode === "live";
    return {
      scene: scene !== null,
      frame: frames[0] != null,
      building: this.building,
      unanswered: this.unanswered,
      playing: isSolving && state?.playing === true,
      steps: isSolving ? this.steps : 0,
      quiet: now() - this.heard,
      interval: scene === null || state?.speed == null ? 0 : scene.dt / state.speed,
    };
  }

  private send(command: Command): void {
    if (this.store.get("lost") !== null) return;
    if (command.type === "seek") this.heading = { place: command.place, since: now() };
    else if (command.type !== "ack" && command.type !== "pause") this.heading = null;
    if (this.live) this.expect(command);
    if (ANSWERS.includes(command.type)) this.dismissErrors();
    this.source.send(command);
  }

  private dismissErrors(): void {
    const notes = this.store.get("notes");
    const rest = notes.filter((note) => note.level !== "error");
    if (rest.length < notes.length) this.store.set("notes", rest);
  }

  private expect(command: Command): void {
    const { type } = command;
    const isSolving = this.steps > 0 || this.store.get("state")?.playing === true;
    if (type === "seek") this.sought = command.place;
    if (type === "step" || type === "play" || type === "reset" || type === "build") this.sought = null;
    if (type === "step") this.steps += command.count ?? 1;
    if ((type === "reset" || type === "build") && this.store.get("welcome")?.mode === "live") this.building = true;
    if (type === "pause" || type === "play" || type === "seek") this.steps = 0; // the simulation forgets them, too
    if (isSolving && (type === "pause" || type === "reset" || type === "build")) this.unanswered = true; // since it was last heard
    else if (type !== "seek" && type !== "ack") this.heard = now();
  }

  private receive(message: ServerMessage): void {
    this.heard = now();
    this.unanswered = false;
    document.documentElement.dataset["connected"] = "true";
    switch (message.type) {
      case "welcome":
        return this.store.set("welcome", message);
      case "scene":
        return this.begin(message);
      case "state":
        this.queue.lanes = Math.max(message.lanes.length, 1);
        document.documentElement.dataset["playing"] = String(message.playing);
        this.store.set("state", message);
        return this.dropLanes(this.queue.lanes);
      case "note":
        if (message.level !== "info") this.giveUp();
        return this.store.set("notes", [...this.store.get("notes"), message]);
      case "file":
        return this.handlers.file(message);
      case "code":
        return this.handlers.code(message);
    }
  }

  private dropLanes(count: number): void {
    const frames = this.store.get("frames");
    if (frames.length > count) this.store.set("frames", frames.slice(0, count));
  }

  /** What was asked for will not come. */
  private giveUp(): void {
    this.building = false;
    this.steps = 0;
  }

  /** Everything that was known of an earlier world is of no use any more. */
  private begin(message: Extract<ServerMessage, { type: "scene" }>): void {
    this.queue.clear();
    this.methods.clear();
    this.giveUp();
    this.newest = 0;
    this.sought = null;
    this.heading = null;
    this.store.set("selection", null);
    this.store.set("follow", null);
    const history: HistoryRow[][] = [];
    for (const frame of this.known) recordHistory(history, frame);
    this.store.set("history", history);
    this.store.set("frames", [null]);
    this.store.set("scene", message);
  }

  private take(frame: Frame): void {
    this.heard = now();
    if (frame.lane === 0 && frame.place > this.newest) {
      this.steps = Math.max(0, this.steps - (frame.place - this.newest));
      this.newest = frame.place;
    }
    recordHistory(this.store.model.history, frame);
    // As it arrives, and not as it is drawn: the state may already tell of the next method then.
    const byLane: (Frame | null)[] = [];
    byLane[frame.lane] = frame;
    this.methods.note(byLane, this.store.get("state"));
    this.queue.push(frame);
  }

  private draw(arrived: (Frame | undefined)[]): void {
    const before = this.store.get("frames");
    const frames = framesAt(arrived, before, this.queue.lanes, (lane, place) => this.wasAtWork(lane, place));
    if (this.heading?.place === frames[0]?.place || now() - (this.heading?.since ?? 0) > PATIENCE) this.heading = null;
    const { model } = this.store;
    const selection = this.selectionIn(before, frames);
    const isOther = selection !== model.selection;
    model.selection = selection; // before anybody looks at the new frames with the old number of a contact
    this.store.set("frames", frames);
    this.store.set("history", model.history);
    if (isOther) this.store.set("selection", selection);
    this.count(frames[0] ?? null);
  }

  /** Whether a lane has a frame at this place. A new step has one of each lane, even if it has not come yet. */
  private wasAtWork(lane: number, place: number): boolean {
    return this.sought === null || this.store.get("history")[lane]?.[place] !== undefined;
  }

  private selectionIn(before: (Frame | null)[], after: (Frame | null)[]): Model["selection"] {
    const { selection } = this.store.model;
    const frame = selection === null ? null : after[selection.lane];
    if (selection === null || frame == null) return null;
    const what = keepSelection(selection.what, before[selection.lane] ?? null, frame);
    return what === selection.what ? selection : what === null ? null : { lane: selection.lane, what };
  }

  /** For tests and for the readout of the frame rate. */
  private count(frame: Frame | null): void {
    const hooks = document.documentElement.dataset;
    this.rate.count(now());
    hooks["frames"] = String(Number(hooks["frames"] ?? "0") + 1);
    if (frame !== null) hooks["step"] = String(frame.step);
    if (frame !== null) hooks["place"] = String(frame.place);
  }
}
