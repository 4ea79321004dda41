// A table of names and numbers that changes with every step: its cells stay, and only what is new is written.

import { make, setText } from "./panel";

export interface NumberRow {
  label: string;
  values: string[];
}

export class NumberTable {
  readonly element: HTMLTableElement;
  private readonly head = make("tr");
  private readonly body = make("tbody");

  constructor(caption: string, kind = "pairs") {
    const title = make("caption", { class: "unseen" }, caption);
    this.element = make("table", { class: `numbers ${kind}` }, title, make("thead", {}, this.head), this.body);
  }

  /** One column has no heading. `chosen` makes the label of a row a button. */
  show(columns: string[], rows: NumberRow[], chosen: ((row: number) => void) | null = null): void {
    this.head.parentElement!.hidden = columns.length < 2;
    fit(this.head, columns.length < 2 ? 0 : columns.length, () => make("th", { scope: "col" }));
    columns.forEach((column, i) => this.head.cells[i] && setText(this.head.cells[i]!, column));
    fit(this.body, rows.length, () => make("tr", {}, make("th", { scope: "row" })));
    rows.forEach((row, i) => {
      const line = this.body.rows[i]!;
      fit(line, row.values.length + 1, () => make("td"));
      labelRow(line.cells[0]!, row.label, chosen && (() => chosen(i)));
      row.values.forEach((value, k) => setWords(line.cells[k + 1]!, value));
    });
  }
}

function labelRow(cell: HTMLTableCellElement, label: string, chosen: (() => void) | null): void {
  if (chosen === null) return setText(cell, label);
  const button = cell.querySelector("button") ?? make("button", { type: "button", class: "link" });
  if (button.parentElement !== cell) cell.replaceChildren(button);
  setText(button, label);
  button.onclick = chosen;
}

/** A text that breaks between words only: a number is one, with its sign, its exponent and its unit. */
function setWords(cell: Element, text: string): void {
  if (cell.textContent === text) return;
  const words = text.split(/ (?!(?:N s|N|s|m|m\/s|J|Pa)$)/);
  cell.replaceChildren(...words.flatMap((word, i) => [i === 0 ? "" : " ", make("span", {}, word)]));
}

/** Adds and takes children at the end until there are so many. */
function fit(parent: Element, count: number, another: () => Element): void {
  while (parent.children.length > count) parent.lastElementChild!.remove();
  while (parent.children.length < count) parent.append(another());
}
