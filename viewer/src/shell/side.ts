// The panels at the side, each in a part that can be folded.

import { make, setText } from "../panels/panel";
import type { Store } from "../store";

/** Makers of what stands at the side. */
export interface PanelMakers {
  scene(store: Store): HTMLElement;
  method(store: Store, lane: number): HTMLElement;
  inspector(store: Store): HTMLElement;
  convergence(store: Store): HTMLElement;
  history(store: Store): HTMLElement;
  step(store: Store): HTMLElement;
}

interface Part {
  details: HTMLDetailsElement;
  title: HTMLElement;
  /** A few words that one still sees when the part is folded. */
  glance: HTMLElement;
}

function makePart(name: string, words: string, panel: HTMLElement, open: boolean): Part {
  const title = make("span", {}, words);
  const glance = make("span", { class: "glance" });
  const summary = make("summary", {}, make("h2", {}, title), glance);
  return { details: make("details", { class: "part", "data-part": name, open }, summary, panel), title, glance };
}

/** Where the side scrolls by itself, and not together with the picture: somebody who looks at it is not to be moved. */
function bringIntoSight(part: HTMLDetailsElement): void {
  const side = part.closest(".side");
  if (side === null || side.scrollHeight === side.clientHeight) return;
  part.open = true;
  // Its numbers are written before the next picture, and only then is it known how long it is.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const isLong = part.offsetHeight > side.clientHeight; // it is read from its beginning then
    part.scrollIntoView({ block: isLong ? "start" : "nearest" });
  }));
}

export function makeSide(store: Store, makers: PanelMakers): HTMLElement {
  const scene = makePart("scene", "Scene", makers.scene(store), false);
  const methods = ["Method", "Second method"].map((title, lane) =>
    makePart(`method-${lane}`, title, makers.method(store, lane), lane === 0));
  const selected = makePart("selected", "Selected", makers.inspector(store), true);
  const convergence = makePart("convergence", "Convergence", makers.convergence(store), true);
  const history = makePart("history", "History", makers.history(store), true);
  const step = makePart("step", "This step", makers.step(store), true);

  store.on(["scene"], () => setText(scene.glance, store.get("scene")?.name ?? ""));
  store.on(["state"], () => {
    const lanes = store.get("state")?.lanes ?? [];
    setText(methods[0]!.title, lanes.length > 1 ? "First method" : "Method");
    methods.forEach(({ details, glance }, lane) => {
      details.hidden = lane > 0 && lanes.length <= lane;
      setText(glance, lanes[lane]?.method ?? "");
    });
  });
  let before: string | null = null;
  store.on(["selection"], () => {
    const selection = store.get("selection");
    const name = selection === null ? null : `${selection.what.kind} ${selection.what.index}`;
    if (name !== null && name !== before) bringIntoSight(selected.details);
    before = name;
    setText(selected.glance, selection === null ? "nothing" : `${selection.what.kind} ${selection.what.index}`);
  });
  const parts = [scene, ...methods, selected, convergence, history, step];
  return make("aside", { class: "side", "aria-label": "Panels" }, ...parts.map((part) => part.details));
}
