// Frames that lie in the page, played with a clock of their own: what an exported page shows.

import type { Frame } from "./layout";
import type { Command, State } from "./messages";
import type { Moment, Recording } from "./recording";
import type { Source, SourceEvents } from "./source";

/** What time it is [s], and a way to be called again soon: in a browser, before the next picture. */
export interface Clock {
  now(): number;
  soon(callback: () => void): void;
}

export const BROWSER_CLOCK: Clock = {
  now: () => performance.now() / 1e3,
  soon: (callback) => void requestAnimationFrame(callback),
};

const REFUSED: Partial<Record<Command["type"], string>> = {
  method: "An exported page holds frames and no solver: perp view shows the scene live, with every method.",
  build: "An exported page holds one run and no simulation: perp view shows every scene live.",
  compare: "An exported page holds what was recorded: perp view compares methods live.",
  save: "An exported page holds no problems: perp view saves steps as problems, or run the Python of this step.",
};

export class RecordedSource implements Source {
  readonly live = false;
  private events: SourceEvents | null = null;
  private readonly moments: Moment[];
  private readonly recording: Recording;
  private readonly clock: Clock;
  private readonly state: State;
  private shown = 0;
  /** Handed out, and not yet drawn. */
  private underWay: ReadonlySet<Frame> = new Set();
  private ticking = false;
  /** Simulated time that the clock has reached [s], and when it was last read. */
  private simulated = 0;
  private read = 0;

  constructor(recording: Recording, clock: Clock = BROWSER_CLOCK) {
    if (recording.moments.length === 0) throw new Error("the page holds no frames");
    this.recording = recording;
    this.moments = recording.moments;
    this.clock = clock;
    this.state = {
      ...recording.state,
      playing: false,
      speed: recording.state.speed ?? 1,
      first: this.moments[0]![0]!.place,
      last: this.moments.at(-1)![0]!.place,
      can_save: false,
    };
  }

  /** All frames, for the history: nothing of it is to be waited for. */
  frames(): Frame[] {
    return this.moments.flat();
  }

  start(events: SourceEvents): void {
    this.events = events;
    events.message({ ...this.recording.welcome, mode: "replay", methods: [], scenes: [] });
    events.message(this.recording.scene);
    this.tellState();
    this.show(0);
  }

  send(command: Command): void {
    switch (command.type) {
      case "ack":
        return;
      case "play":
        if (this.shown === this.moments.length - 1) this.show(0);
        return this.setPlaying(true);
      case "pause":
        return this.setPlaying(false);
      case "step":
        this.setPlaying(false);
        return this.show(this.shown + (command.count ?? 1));
      case "reset":
        this.setPlaying(false);
        return this.show(0);
      case "seek": {
        const later = this.moments.findIndex((moment) => moment[0]!.place >= command.place);
        return this.show(later < 0 ? this.moments.length - 1 : later);
      }
      case "speed":
        this.state.speed = command.factor;
        return this.tellState();
      case "code":
        return this.events?.message({ type: "code", text: this.codeAt(command.place) });
      default:
        this.note(REFUSED[command.type] ?? "An exported page cannot do that.");
    }
  }

  acknowledge(frame: Frame): void {
    this.underWay = new Set([...this.underWay].filter((other) => other !== frame));
  }

  /** The page holds the Python of its last step only, which takes all steps before it, too. */
  private codeAt(place: number): string {
    if (place === this.state.last) return this.recording.code;
    return `# An exported page holds the Python of its last step; that of step ${place} takes fewer of these steps.\n${this.recording.code}`;
  }

  private show(index: number): void {
    this.shown = Math.min(Math.max(index, 0), this.moments.length - 1);
    this.simulated = this.timeOf(this.shown);
    this.read = this.clock.now();
    this.hand(this.shown);
  }

  private hand(index: number): void {
    const moment = this.moments[index]!;
    this.underWay = new Set(moment);
    for (const frame of moment) this.events?.frame(frame);
  }

  private timeOf(index: number): number {
    return this.moments[index]![0]!.time;
  }

  private setPlaying(playing: boolean): void {
    if (this.state.playing === playing) return;
    this.state.playing = playing;
    this.read = this.clock.now();
    this.tellState();
    if (playing && !this.ticking) this.wait();
  }

  private tellState(): void {
    this.events?.message({ ...this.state });
  }

  private note(text: string): void {
    this.events?.message({ type: "note", level: "info", text });
  }

  private wait(): void {
    this.ticking = true;
    this.clock.soon(() => {
      this.ticking = false;
      if (!this.state.playing) return;
      this.tick();
      if (this.state.playing) this.wait();
    });
  }

  /** Moves the clock on, and hands out the last frame that it has reached; not before the one before was drawn. */
  private tick(): void {
    const now = this.clock.now();
    if (this.state.speed !== null) this.simulated += this.state.speed * (now - this.read);
    this.read = now;
    if (this.underWay.size > 0) return;
    let next = this.shown;
    if (this.state.speed === null) next += 1;
    else while (next + 1 < this.moments.length && this.timeOf(next + 1) <= this.simulated) next += 1;
    if (next > this.shown) {
      this.shown = Math.min(next, this.moments.length - 1);
      if (this.state.speed === null) this.simulated = this.timeOf(this.shown);
      this.hand(this.shown);
    }
    if (this.shown === this.moments.length - 1) this.setPlaying(false);
  }
}
