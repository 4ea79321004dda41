// What all panels are made of: nodes with attributes, a titled section, and work that waits for the next picture.

import "../style/panels.css";

export type Attributes = Record<string, string | number | boolean>;

/** An element. `true` sets an attribute without a value, `false` leaves it out. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

let counted = 0;

/** A name that no other element of the page has. */
export function uniqueId(): string {
  counted += 1;
  return `panel-${counted}`;
}

/** A section that says what it is. */
export function makeSection(title: string, attributes: Attributes = {}): HTMLElement {
  const id = uniqueId();
  const heading = make("h2", { id }, title);
  return make("section", { class: "panel", "aria-labelledby": id, ...attributes }, heading);
}

/** Writes only what is new: a text that stays the same keeps the user's selection, and is not read out again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Asking often makes it happen once, before the browser draws next. */
export function oncePerPicture(work: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      work();
    });
  };
}

/** Options of a <select> under the names of their groups, in the order in which groups first occur. */
export function fillGroups<T>(
  select: HTMLSelectElement,
  entries: T[],
  groupOf: (entry: T) => string,
  optionOf: (entry: T) => HTMLOptionElement,
): void {
  const groups = new Map<string, HTMLOptGroupElement>();
  select.replaceChildren();
  for (const entry of entries) {
    const name = groupOf(entry);
    if (name === "") {
      select.append(optionOf(entry));
      continue;
    }
    let group = groups.get(name);
    if (group === undefined) {
      group = make("optgroup", { label: name });
      groups.set(name, group);
      select.append(group);
    }
    group.append(optionOf(entry));
  }
}
