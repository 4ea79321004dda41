// What the page knows. Panels read it, are told when a part of it changes, and speak to the source through it.

import type { Frame } from "./layout";
import type { Command, Note, SceneMessage, State, Welcome } from "./messages";
import type { Selection, Style } from "./view";

/** What a step was like: one point of the curves over time. */
export interface HistoryRow {
  place: number;
  step: number;
  time: number;
  residual: number;
  iterations: number;
  solveSeconds: number;
  energy: number;
  status: number;
}

export interface Model {
  welcome: Welcome | null;
  scene: SceneMessage | null;
  state: State | null;
  /** The frames that are shown, one a lane. */
  frames: (Frame | null)[];
  /** One list a lane, by place; holes where a step was never seen. */
  history: HistoryRow[][];
  style: Style;
  /** What was clicked, and in which lane. */
  selection: { lane: number; what: Selection } | null;
  /** The body that the camera follows. */
  follow: number | null;
  notes: Note[];
  /** Why there is no connection any more. */
  lost: string | null;
  theme: "light" | "dark";
}

export class Store {
  readonly model: Model;
  /** Set by whoever owns the source. */
  send: (command: Command) => void = () => {};
  private readonly listeners = new Map<keyof Model, Set<() => void>>();

  constructor(model: Model) {
    this.model = model;
  }

  get<K extends keyof Model>(key: K): Model[K] {
    return this.model[key];
  }

  set<K extends keyof Model>(key: K, value: Model[K]): void {
    this.model[key] = value;
    for (const listener of this.listeners.get(key) ?? []) listener();
  }

  /** Calls the listener now, and whenever one of these parts is set; returns the way to end that. */
  on(keys: (keyof Model)[], listener: () => void): () => void {
    for (const key of keys) {
      if (!this.listeners.has(key)) this.listeners.set(key, new Set());
      this.listeners.get(key)!.add(listener);
    }
    listener();
    return () => keys.forEach((key) => this.listeners.get(key)?.delete(listener));
  }
}
