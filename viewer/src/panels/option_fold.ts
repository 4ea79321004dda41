// The options of a method, folded away where they are many; the line that unfolds them names those that were changed.

import { FieldSet, type Field } from "./form_fields";
import { foldWords } from "./option_values";
import { make, setText } from "./panel";

const FEW = 1; // so many take hardly more place than the line

export class OptionFold {
  readonly element: HTMLDetailsElement;
  fields = new FieldSet([]);
  private readonly title = make("summary");
  private readonly rows = make("div", { class: "fields" });
  /** What the user made of it; null while nobody has touched it. */
  private chosen: boolean | null = null;

  constructor(action: string) {
    this.title.dataset["action"] = action;
    this.element = make("details", { class: "option-fold" }, this.title, this.rows);
    this.title.addEventListener("click", () => (this.chosen = !this.element.open));
  }

  fill(fields: Field[]): void {
    this.fields = new FieldSet(fields);
    this.rows.replaceChildren(...fields.map((field) => field.element));
    this.element.hidden = fields.length === 0;
    this.element.open = this.chosen ?? fields.length <= FEW;
    this.tell();
  }

  /** Says how many there are, and which differ from their defaults; a wrong one comes into sight. */
  tell(): void {
    const values = this.fields.read();
    if (values === null) this.element.open = true;
    setText(this.title, foldWords(this.fields.fields.length, values ?? {}));
  }
}
