// One picture, or two side by side: a view a lane, which share one camera.

import type { SceneMessage } from "./messages";
import { make } from "./panels/panel";
import { Caption, type MethodAt } from "./shell/caption";
import type { Store } from "./store";
import type { View } from "./view";

const LANES = 2;
const OTHER_SIZE = 0.1; // a picture that is wider or narrower by this share needs another camera

class Pane {
  readonly element: HTMLElement;
  readonly caption: Caption;
  view: View | null = null;
  private readonly picture: HTMLElement;

  constructor(store: Store, lane: number, methodAt: MethodAt, resized: () => void) {
    this.caption = new Caption(store, lane, methodAt);
    this.picture = make("div", { class: "picture", "data-testid": `pane-${lane}` });
    this.element = make("figure", { class: "pane" }, this.picture, this.caption.element);
    new ResizeObserver(() => {
      this.view?.resize();
      resized();
    }).observe(this.picture);
  }

  put(view: View): void {
    this.clear();
    this.view = view;
    this.picture.append(view.element);
    view.resize();
  }

  describe(words: string): void {
    this.picture.setAttribute("role", "group");
    this.picture.setAttribute("aria-label", words);
  }

  clear(): void {
    this.view?.dispose();
    this.view?.element.remove();
    this.view = null;
  }
}

export class Panes {
  readonly element = make("div", { class: "panes" });
  private readonly store: Store;
  private readonly panes: Pane[];
  private readonly viewFor: (dimension: 2 | 3) => View;
  private scene: SceneMessage | null = null;
  /** The user has not chosen a camera, so that it may be chosen anew where the pictures change their size. */
  private isFitted = true;
  private fittedWidth = 0;

  constructor(store: Store, methodAt: MethodAt, viewFor: (dimension: 2 | 3) => View) {
    this.store = store;
    this.viewFor = viewFor;
    this.panes = Array.from({ length: LANES }, (_, lane) => new Pane(store, lane, methodAt, () => this.fitAgain()));
    this.element.append(this.panes[0]!.element);
    store.on(["scene", "state"], () => this.arrange());
    store.on(["frames", "state", "welcome"], () => this.draw());
    store.on(["style"], () => this.views().forEach((view) => view.setStyle(store.get("style"))));
    store.on(["selection", "state"], () => this.select());
    store.on(["follow"], () => this.views().forEach((view) => view.follow(store.get("follow"))));
  }

  views(): View[] {
    return this.panes.flatMap((pane) => pane.view ?? []);
  }

  /** All views do the same, as when a key moves the camera. */
  move(work: (view: View) => void): void {
    this.isFitted = false;
    this.views().forEach(work);
  }

  fit(): void {
    this.isFitted = true;
    this.views().forEach((view) => view.fit());
    this.shareCamera(this.panes[0]!.view);
  }

  private arrange(): void {
    const scene = this.store.get("scene");
    const count = Math.max(this.store.get("state")?.lanes.length ?? 1, 1);
    const isNew = scene !== this.scene;
    if (isNew) this.isFitted = true;
    const other = scene?.dimension !== this.scene?.dimension;
    this.scene = scene;
    this.element.classList.toggle("two", count > 1);
    this.panes.forEach((pane, lane) => {
      if (lane >= count || scene === null) {
        pane.clear();
        if (lane > 0) pane.element.remove();
        return;
      }
      if (pane.element.parentElement === null) this.element.append(pane.element);
      const fresh = pane.view === null || (isNew && other);
      if (fresh && !this.makeView(pane, lane, scene)) return;
      if (fresh || isNew) this.begin(pane, lane, scene);
    });
  }

  /** False where the browser cannot draw it. */
  private makeView(pane: Pane, lane: number, scene: SceneMessage): boolean {
    let view: View;
    try {
      view = this.viewFor(scene.dimension);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      const text = `This browser cannot draw the picture: ${words}. The numbers are right all the same.`;
      this.store.set("notes", [...this.store.get("notes"), { type: "note", level: "error", text }]);
      return false;
    }
    view.onPick = (what) => this.store.set("selection", what === null ? null : { lane, what });
    view.onCamera = () => {
      this.isFitted = false;
      this.shareCamera(view);
    };
    pane.put(view);
    return true;
  }

  private begin(pane: Pane, lane: number, scene: SceneMessage): void {
    const view = pane.view!;
    view.setStyle(this.store.get("style"));
    view.setScene(scene);
    this.shareCamera(this.panes[0]!.view);
    view.follow(this.store.get("follow"));
    pane.describe(`Picture of the scene ${scene.name}${lane > 0 ? ", second method" : ""}`);
  }

  private fitAgain(): void {
    const width = this.panes[0]!.element.clientWidth;
    const isOther = Math.abs(width - this.fittedWidth) > OTHER_SIZE * this.fittedWidth;
    if (isOther) this.fittedWidth = width;
    if (isOther && this.isFitted && this.store.get("follow") === null) this.fit();
    else this.shareCamera(this.panes[0]!.view);
  }

  private shareCamera(view: View | null): void {
    if (view === null) return;
    for (const other of this.views()) if (other !== view) other.setCamera(view.camera());
  }

  private draw(): void {
    const frames = this.store.get("frames");
    this.panes.forEach((pane, lane) => {
      const frame = frames[lane] ?? null;
      pane.view?.show(frame);
      pane.caption.update(frame);
    });
  }

  /** A body is the same one in both lanes; a contact, too, where both solve the same problem. */
  private select(): void {
    const selection = this.store.get("selection");
    const shared = selection?.what.kind === "body" || this.store.get("state")?.compare === "same_state";
    this.panes.forEach((pane, lane) => {
      pane.view?.select(selection !== null && (shared || lane === selection.lane) ? selection.what : null);
    });
  }
}
