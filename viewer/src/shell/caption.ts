// The line under a picture: which method, which step, and how the solve went.

import type { Frame } from "../layout";
import { make, setText } from "../panels/panel";
import { formatCount } from "../panels/numbers";
import type { Store } from "../store";
import { formatDuration, formatResidual, formatTime, statusWords } from "./numbers";

/** How a solve ended, in words, and whether that is well. */
export function solveOutcome(frame: Frame, statuses: Record<string, string>): { words: string; level: "ok" | "warn" | "none" } {
  const code = frame.value("STATUS");
  const converged = frame.value("CONVERGED") === 1;
  const name = statuses[String(code)];
  if (name !== undefined) return { words: statusWords(name), level: converged || name === "CONVERGED" ? "ok" : "warn" };
  if (frame.step === 0 || Number.isNaN(frame.value("RESIDUAL"))) return { words: "nothing solved", level: "none" };
  return converged ? { words: "converged", level: "ok" } : { words: "not converged", level: "warn" };
}

/** Which method made the frame at this place; empty where that is not known. */
export type MethodAt = (lane: number, place: number) => string;

/** The readouts of one lane. Those of the second lane have "-1" after their names. */
export class Caption {
  readonly element: HTMLElement;
  private readonly lane: number;
  private readonly store: Store;
  private readonly methodAt: MethodAt;
  private readonly method = make("strong");
  private readonly next = make("span", { class: "next-method" });
  private readonly parts = new Map<string, HTMLElement>();

  constructor(store: Store, lane: number, methodAt: MethodAt) {
    this.store = store;
    this.lane = lane;
    this.methodAt = methodAt;
    this.element = make("figcaption", { class: "caption" }, make("span", {}, this.method, this.next));
    this.next.dataset["testid"] = this.testName("next-method");
    this.method.dataset["testid"] = this.testName("method-name");
    const words: [name: string, title: string][] = [
      ["step", "step"], ["time", "t"], ["residual", "residual"], ["iterations", "iterations"], ["solve", "solve"], ["status", ""],
    ];
    for (const [name, title] of words) {
      const value = make("span", { class: "value", "data-testid": this.testName(name) }, "–");
      this.parts.set(name, value);
      const pair = make("span", { class: `readout readout-${name}` }, value);
      if (title !== "") pair.prepend(make("span", { class: "title" }, title));
      this.element.append(pair);
    }
  }

  update(frame: Frame | null): void {
    const next = this.store.get("state")?.lanes[this.lane]?.method ?? "–";
    const shown = frame === null || frame.step === 0 ? next : this.methodAt(this.lane, frame.place) || next;
    setText(this.method, shown);
    setText(this.next, shown === next ? "" : `, next ${next}`);
    if (frame === null) return this.clear();
    const outcome = solveOutcome(frame, this.store.get("welcome")?.statuses ?? {});
    const solved = outcome.level !== "none";
    this.write("step", formatCount(frame.step));
    this.write("time", formatTime(frame.time));
    this.write("residual", solved ? formatResidual(frame.value("RESIDUAL")) : "–");
    this.write("iterations", solved && frame.value("ITERATIONS") >= 0 ? formatCount(frame.value("ITERATIONS")) : "–");
    this.write("solve", solved ? formatDuration(frame.value("SOLVE_SECONDS")) : "–");
    this.write("status", outcome.words);
    this.parts.get("status")!.dataset["level"] = outcome.level;
  }

  /** There may be frames of the first lane from before the second one was there. */
  private clear(): void {
    for (const part of this.parts.values()) setText(part, "–");
    const status = this.parts.get("status")!;
    if (this.lane > 0 && this.store.get("frames")[0] != null) setText(status, "not at work in this step");
    status.dataset["level"] = "none";
  }

  private write(name: string, text: string): void {
    setText(this.parts.get(name)!, text);
  }

  private testName(name: string): string {
    return this.lane === 0 ? name : `${name}-${this.lane}`;
  }
}
