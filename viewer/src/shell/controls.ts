// Buttons and choices. Tests find them by `data-action`.

import { make, type Attributes } from "../panels/panel";

export function button(action: string, attributes: Attributes, press: () => void, ...children: (Node | string)[]): HTMLButtonElement {
  const node = make("button", { type: "button", "data-action": action, ...attributes }, ...children);
  node.addEventListener("click", (event) => {
    press();
    leaveAfterPointer(node, event);
  });
  return node;
}

/** Who pressed with the pointer has not come to stay: the space bar then plays, and does not press the same button again. */
function leaveAfterPointer(node: HTMLElement, event: MouseEvent): void {
  if (event.detail > 0) node.blur();
}

/** One of several values, each with words; the label is not seen where `quiet`. */
export function choice<V extends string>(
  action: string, label: string, choices: readonly (readonly [V, string])[], choose: (value: V) => void, quiet = false,
): { element: HTMLLabelElement; select: HTMLSelectElement } {
  const select = make("select", { "data-action": action });
  for (const [value, words] of choices) select.append(make("option", { value }, words));
  // A choice takes all keys while it has the focus. Who chose with the pointer has not come to stay, and keys are the page's again.
  let byPointer = false;
  select.addEventListener("pointerdown", () => (byPointer = true));
  select.addEventListener("keydown", () => (byPointer = false));
  select.addEventListener("change", () => {
    choose(select.value as V);
    if (byPointer) select.blur();
  });
  if (quiet) select.setAttribute("aria-label", label);
  return { element: make("label", { class: "control" }, quiet ? "" : make("span", {}, label), select), select };
}

/** Yes or no. */
export function tick(action: string, label: string, choose: (on: boolean) => void): { element: HTMLLabelElement; box: HTMLInputElement } {
  const box = make("input", { type: "checkbox", "data-action": action });
  box.addEventListener("change", () => choose(box.checked));
  box.addEventListener("click", (event) => leaveAfterPointer(box, event));
  return { element: make("label", { class: "control" }, box, make("span", {}, label)), box };
}
