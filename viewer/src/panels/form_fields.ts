// Fields that are made from forms: of the options of methods and scenes.

import type { OptionForm, OptionValue } from "../messages";
import { addHint } from "./hints";
import { changedValues, describeValue, parseText, sameValue, writeValue } from "./option_values";
import { make, setText, uniqueId } from "./panel";

export interface Field {
  readonly form: OptionForm;
  readonly element: HTMLElement;
  /** The value that stands there; undefined where it is none, which the field then says itself. */
  read(): OptionValue | undefined;
  write(value: OptionValue): void;
  /** Whether somebody is in the midst of typing. */
  isEdited(): boolean;
  focus(): void;
}

/** The part of a field that differs from kind to kind. */
interface Control {
  element: HTMLInputElement | HTMLSelectElement;
  parse(): { value: OptionValue } | { error: string };
  write(value: OptionValue): void;
}

function makeSwitch(): Control {
  const element = make("input", { type: "checkbox" });
  return {
    element,
    parse: () => ({ value: element.checked }),
    write: (value) => (element.checked = value === true),
  };
}

/** Choices need not be texts: an option of the <select> has the number of its choice. */
function makeChoice(form: OptionForm): Control {
  const hasNone = form.choices.includes(null);
  const choices = form.optional && !hasNone ? [null, ...form.choices] : form.choices;
  const element = make("select");
  element.append(...choices.map((choice, i) => make("option", { value: i }, describeValue(choice))));
  return {
    element,
    parse: () => ({ value: choices[element.selectedIndex] ?? null }),
    write: (value) => (element.selectedIndex = choices.findIndex((choice) => sameValue(choice, value))),
  };
}

function makeText(form: OptionForm, empty: string): Control {
  const element = make("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: form.optional ? empty : describeValue(form.default),
  });
  if (form.kind === "number") element.inputMode = "decimal";
  if (form.kind === "integer") element.inputMode = "numeric";
  return {
    element,
    parse: () => parseText(form, element.value),
    write: (value) => (element.value = writeValue(value)),
  };
}

function makeControl(form: OptionForm, empty: string): Control {
  if (form.choices.length > 0) return makeChoice(form);
  // A switch that may have no value at all has three choices.
  if (form.kind === "switch") return form.optional ? makeChoice({ ...form, choices: [true, false] }) : makeSwitch();
  return makeText(form, empty);
}

function describeField(form: OptionForm, empty: string): string {
  const parts = [form.doc === "" || /[.!?]$/.test(form.doc) ? form.doc : `${form.doc}.`];
  if (form.at_least !== null) parts.push(`At least ${writeValue(form.at_least)}.`);
  if (form.at_most !== null) parts.push(`At most ${writeValue(form.at_most)}.`);
  if (form.kind === "numbers") parts.push("Numbers with commas between them.");
  if (form.optional && form.choices.length === 0 && form.kind !== "switch") parts.push(`Empty: ${empty}.`);
  parts.push(`Default: ${form.default === null ? empty : describeValue(form.default)}.`);
  return parts.filter((part) => part !== "").join(" ");
}

/** Words for a field, where those of its form will not do. */
export interface FieldWords {
  label?: string;
  /** What no value at all means. */
  empty?: string;
}

/** `committed` is called when the user has ended a change, of a right value or a wrong one. */
export function makeField(form: OptionForm, action: string, committed: () => void, words: FieldWords = {}): Field {
  const empty = words.empty ?? "none";
  const about = describeField(form, empty);
  const id = uniqueId();
  const control = makeControl(form, empty);
  const input = control.element;
  const mark = make("span", { class: "field-default" });
  const error = make("p", { class: "field-error", id: `${id}-error`, role: "alert" });
  const doc = make("span", { class: "unseen", id: `${id}-doc` }, about);
  const caption = make("label", { for: id }, words.label ?? form.name);
  input.id = id;
  input.dataset["action"] = action;
  input.setAttribute("aria-describedby", `${doc.id} ${error.id}`);
  const row = make("div", { class: `field field-${form.kind}` }, caption, input, mark, error, doc);
  addHint(row, about);

  let stands = form.default;
  const judge = (): OptionValue | undefined => {
    const parsed = control.parse();
    const message = "error" in parsed ? parsed.error : "";
    setText(error, message);
    if (message === "") input.removeAttribute("aria-invalid");
    else input.setAttribute("aria-invalid", "true");
    if ("error" in parsed) return undefined;
    const isChanged = !sameValue(parsed.value, form.default);
    row.classList.toggle("is-changed", isChanged);
    setText(mark, isChanged ? `default: ${form.default === null ? empty : describeValue(form.default)}` : "");
    return parsed.value;
  };
  const write = (value: OptionValue): void => {
    stands = value;
    control.write(value);
    judge();
  };
  // What is right is marked while it is typed, so that nothing moves when the pointer goes on to a button.
  input.addEventListener("input", () => {
    if ("value" in control.parse()) judge();
  });
  input.addEventListener("change", () => {
    const value = judge();
    if (value !== undefined) write(value);
    committed();
  });
  write(form.default);
  return {
    form,
    element: row,
    read: judge,
    write,
    isEdited: () =>
      document.activeElement === input && input instanceof HTMLInputElement && input.type === "text" && input.value !== writeValue(stands),
    focus: () => input.focus(),
  };
}

/** Several fields that are read and written together. */
export class FieldSet {
  readonly fields: Field[];

  constructor(fields: Field[]) {
    this.fields = fields;
  }

  /** What differs from the defaults; null where a field has no right value. */
  read(): Record<string, OptionValue> | null {
    const values: Record<string, OptionValue> = {};
    let isRight = true;
    for (const field of this.fields) {
      const value = field.read();
      if (value === undefined) isRight = false;
      else values[field.form.name] = value;
    }
    return isRight ? changedValues(this.fields.map((field) => field.form), values) : null;
  }

  /** Defaults stand where nothing else is said. Fields that are being edited stay as they are. */
  write(values: Record<string, OptionValue>): void {
    for (const field of this.fields) {
      const value = values[field.form.name];
      if (!field.isEdited()) field.write(value === undefined ? field.form.default : value);
    }
  }

  reset(): void {
    for (const field of this.fields) field.write(field.form.default);
  }

  isEdited(): boolean {
    return this.fields.some((field) => field.isEdited());
  }

  focusWrong(): void {
    this.fields.find((field) => field.read() === undefined)?.focus();
  }
}
