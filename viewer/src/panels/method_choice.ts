// The list of methods, by family. Those that do not take the problem stay in sight, and it says why.

import type { MethodForm } from "../messages";
import { fillGroups, make, setText } from "./panel";

/** The first sentence of why a method is not for the problem. */
function describeNeeds(method: MethodForm): string {
  const needs = method.requires === "" ? "" : `; A: ${method.requires}`;
  return `takes ${method.accepts.join(", ")}${needs}`;
}

export class MethodChoice {
  readonly select: HTMLSelectElement;
  /** Names and reasons of methods that are not for this problem. */
  readonly refused: HTMLDetailsElement;
  private readonly refusedTitle = make("summary");
  private readonly refusedList = make("ul");
  private methods: MethodForm[] = [];
  private told = "";

  constructor(id: string, action: string) {
    this.select = make("select", { id, "data-action": action });
    this.refused = make("details", { class: "refused", hidden: true }, this.refusedTitle, this.refusedList);
  }

  fill(methods: MethodForm[]): void {
    this.methods = methods;
    this.told = "";
    const optionOf = (method: MethodForm): HTMLOptionElement => make("option", { value: method.name }, method.name);
    fillGroups(this.select, methods, (method) => (method.name === "auto" ? "" : method.family), optionOf);
  }

  find(name: string): MethodForm | undefined {
    return this.methods.find((method) => method.name === name);
  }

  /** Marks those that do not take the problem; null: nothing is known yet. Nodes stay, so that an open list does. */
  mark(suitable: string[] | null): void {
    const key = JSON.stringify(suitable);
    if (key === this.told) return;
    this.told = key;
    const isFit = (name: string): boolean => suitable === null || name === "auto" || suitable.includes(name);
    for (const option of this.select.options) {
      option.disabled = !isFit(option.value);
      const method = this.find(option.value);
      option.title = option.disabled && method ? describeNeeds(method) : "";
      setText(option, option.disabled ? `${option.value} (not for this problem)` : option.value);
    }
    const refused = this.methods.filter((method) => !isFit(method.name));
    this.refused.hidden = refused.length === 0;
    setText(this.refusedTitle, `${refused.length} of ${this.methods.length} are not for this problem`);
    this.refusedList.replaceChildren(
      ...refused.map((method) => make("li", {}, make("b", {}, method.name), ` ${describeNeeds(method)}`)),
    );
  }
}
