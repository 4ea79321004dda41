// Carries out what keys ask for.

import type { Panes } from "../panes";
import { limitFor } from "../panels/iteration_limit";
import type { Store } from "../store";
import type { Selection } from "../view";
import { currentMethodKeys } from "./help";
import { actionFor, focusTakes, type Action, type Part } from "./keyboard";
import { addNote } from "./notes";
import { neighbour, worstFirst } from "./selecting";
import type { Session } from "./session";
import { neighbourSpeed } from "./speeds";
import { restyle } from "./style_bar";
import { playPause } from "./transport";

/** What lies outside of store and panes. */
export interface PageActions {
  help(): void;
  theme(): void;
}

export function toggleCompare(store: Store): void {
  const mode = store.get("state")?.compare;
  if (mode !== undefined) store.send({ type: "compare", mode: mode === "off" ? "same_state" : "off" });
}

/** The camera follows the selected body, or lets go. */
export function toggleFollow(store: Store): void {
  const { selection, follow } = store.model;
  if (follow !== null) return store.set("follow", null);
  if (selection?.what.kind === "body") return store.set("follow", selection.what.index);
  const isLiquid = store.get("scene")?.kind === "liquid";
  addNote(store, "info", isLiquid ? "A liquid has no bodies to follow." : "Select a body first: click it, or press ].");
}

/** What takes keys for itself: who came by keyboard has to get out again. */
function isField(element: HTMLElement): boolean {
  return ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName);
}

/** Unfolds a part of the side, and puts the focus on what is first in it. */
function goTo(part: Part): void {
  const details = document.querySelector<HTMLDetailsElement>(`details[data-part=${part}]`);
  if (details === null || details.hidden) return;
  details.open = true;
  const first = details.querySelector<HTMLElement>(":is(select, input, button):not(:disabled)");
  (first ?? details.querySelector("summary")!).focus();
  details.scrollIntoView({ block: "nearest" });
}

export class KeyActions {
  private readonly store: Store;
  private readonly session: Session;
  private readonly panes: Panes;
  private readonly page: PageActions;

  constructor(store: Store, session: Session, panes: Panes, page: PageActions) {
    this.store = store;
    this.session = session;
    this.panes = panes;
    this.page = page;
  }

  listen(): void {
    document.addEventListener("keydown", (event) => {
      const target = event.target instanceof HTMLElement ? event.target : document.body;
      const type = target instanceof HTMLInputElement ? target.type : "";
      if (event.key === "Escape" && !event.defaultPrevented && isField(target)) return target.blur();
      if (event.defaultPrevented || focusTakes({ tag: target.tagName, type, editable: target.isContentEditable }, event.key)) return;
      const action = actionFor(event);
      if (action === null) return;
      const inDialog = document.querySelector("dialog[open]") !== null;
      if (inDialog && action.do !== "help") return; // Escape closes it by itself
      event.preventDefault();
      this.perform(action);
    });
  }

  perform(action: Action): void {
    const { store } = this;
    const style = store.get("style");
    switch (action.do) {
      case "play-pause": return playPause(store);
      case "reset": return store.send({ type: "reset" });
      case "forward": return this.forward(action.frames);
      case "back": return this.seekBy(-action.frames);
      case "newest": return store.send({ type: "seek", place: this.session.last() });
      case "speed": return this.changeSpeed(action.direction);
      case "method": return this.chooseMethod(action.number, action.lane);
      case "compare": return toggleCompare(store);
      case "forces": return restyle(store, { forces: !style.forces });
      case "islands": return restyle(store, { bodies: style.bodies === "island" ? "own" : "island" });
      case "residual": return restyle(store, {
        contacts: style.contacts === "residual" ? "state" : "residual",
        liquid: style.liquid === "residual" ? "speed" : "residual",
      });
      case "follow": return toggleFollow(store);
      case "fit": return this.panes.fit();
      case "turn": return this.turn(action.right, action.up);
      case "shift": return this.panes.move((view) => view.pan(action.right, action.up));
      case "zoom": return this.panes.move((view) => view.zoom(action.factor));
      case "next-body": return this.selectBody(action.direction);
      case "next-contact": return this.selectContact(action.direction);
      case "go-to": return goTo(action.part);
      case "escape": return this.deselect();
      case "help": return this.page.help();
      case "theme": return this.page.theme();
    }
  }

  private forward(frames: number): void {
    if (this.session.isBack()) this.seekBy(frames);
    else this.store.send({ type: "step", count: frames });
  }

  private seekBy(frames: number): void {
    const from = this.session.goal();
    const state = this.store.get("state");
    if (from === null || state === null) return;
    if (state.playing) this.store.send({ type: "pause" });
    const place = Math.min(Math.max(from + frames, state.first), this.session.last());
    if (place !== from) this.store.send({ type: "seek", place });
  }

  private changeSpeed(direction: 1 | -1): void {
    const state = this.store.get("state");
    if (state === null) return;
    const factor = neighbourSpeed(state.speed, direction);
    if (factor !== state.speed) this.store.send({ type: "speed", factor });
  }

  private chooseMethod(number: number, lane: number): void {
    if (this.store.get("welcome")?.mode === "replay") {
      return addNote(this.store, "info", "This is a recording: perp view SCENE runs the scene live, with every method.");
    }
    const current = this.store.get("state")?.lanes[lane];
    const name = currentMethodKeys(this.store)[number - 1];
    if (current === undefined && lane > 0) addNote(this.store, "info", "There is one method only: press c for two side by side.");
    if (current === undefined || name === undefined) return;
    const { welcome, scene } = this.store.model;
    const most = limitFor(welcome?.scenes.find((form) => form.name === scene?.name), current, name);
    this.store.send({ type: "method", lane, name, options: {}, tol: current.tol, max_iterations: most });
  }

  private turn(right: number, up: number): void {
    if (this.store.get("scene")?.dimension === 2) this.panes.move((view) => view.pan(right, up));
    else this.panes.move((view) => view.orbit(right, up));
  }

  private selectBody(direction: 1 | -1): void {
    const frame = this.store.get("frames")[0];
    if (frame == null) return;
    const kind = this.store.get("scene")?.kind === "liquid" ? "particle" : "body";
    const selected = this.store.get("selection")?.what;
    const count = frame.bodyCount;
    if (count === 0) return;
    const before = selected?.kind === kind ? selected.index : direction > 0 ? -1 : count;
    this.store.set("selection", { lane: 0, what: { kind, index: (before + direction + count) % count } });
  }

  private selectContact(direction: 1 | -1): void {
    const frame = this.store.get("frames")[0];
    if (frame == null) return;
    const next: Selection | null = neighbour(worstFirst(frame), this.store.get("selection")?.what ?? null, direction);
    if (next !== null) this.store.set("selection", { lane: 0, what: next });
  }

  /** Lets go of the followed body first, then of the selection. */
  private deselect(): void {
    if (this.store.get("follow") !== null) this.store.set("follow", null);
    else this.store.set("selection", null);
  }
}
