// What stands in a field, as a value: parsed, checked against the form, and compared with the default.

import type { OptionForm, OptionValue } from "../messages";
import { formatExactly } from "./numbers";

export type Parsed = { value: OptionValue } | { error: string };

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function toNumber(text: string): number {
  const plain = text.trim().replace(/^([+-]?)(∞|inf|infinity)$/i, "$1Infinity");
  if (/^[+-]?Infinity$/.test(plain)) return Number(plain);
  return NUMBER.test(plain) ? Number(plain) : NaN;
}

function describeRange(form: OptionForm): string {
  const { at_least: least, at_most: most } = form;
  if (least !== null && most !== null) return `from ${formatExactly(least)} to ${formatExactly(most)}`;
  return least !== null ? `at least ${formatExactly(least)}` : `at most ${formatExactly(most ?? Infinity)}`;
}

function checkNumber(form: OptionForm, text: string): { value: number } | { error: string } {
  const value = toNumber(text);
  const wanted = form.kind === "integer" ? "a whole number" : "a number";
  if (Number.isNaN(value)) return { error: `“${text.trim()}” is not ${wanted}` };
  // JSON has no infinity.
  if (!Number.isFinite(value)) return { error: "a finite number is needed" };
  if (form.kind === "integer" && !Number.isInteger(value)) return { error: `${formatExactly(value)} is not a whole number` };
  if ((form.at_least !== null && value < form.at_least) || (form.at_most !== null && value > form.at_most)) {
    return { error: `must be ${describeRange(form)}` };
  }
  return { value };
}

/** The value that a text means. Empty: none where the option may have none, else the default. */
export function parseText(form: OptionForm, text: string): Parsed {
  const trimmed = text.trim();
  if (trimmed === "") return { value: form.optional ? null : form.default };
  if (form.kind === "number" || form.kind === "integer") return checkNumber(form, trimmed);
  if (form.kind === "numbers") {
    const values: number[] = [];
    for (const part of trimmed.replace(/^[([]|[)\]]$/g, "").split(/[,;\s]+/).filter((one) => one !== "")) {
      const parsed = checkNumber(form, part);
      if ("error" in parsed) return parsed;
      values.push(parsed.value);
    }
    return { value: values };
  }
  return { value: text };
}

/** The text that stands for a value in a field. */
export function writeValue(value: OptionValue): string {
  if (value === null) return "";
  if (Array.isArray(value)) return value.map(formatExactly).join(", ");
  return typeof value === "number" ? formatExactly(value) : String(value);
}

/** The same for reading: nothing is "none", switches are "on" and "off". */
export function describeValue(value: OptionValue): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  return value === null ? "none" : writeValue(value) || "empty";
}

export function sameValue(a: OptionValue, b: OptionValue): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => one === b[i]);
  return a === b;
}

/** The values of options by name; those that are the defaults are left out. */
export function changedValues(forms: OptionForm[], values: Record<string, OptionValue>): Record<string, OptionValue> {
  const changed: Record<string, OptionValue> = {};
  for (const form of forms) {
    const value = values[form.name];
    if (value !== undefined && !sameValue(value, form.default)) changed[form.name] = value;
  }
  return changed;
}

/** The line above folded options: "12 options; linear=cg". */
export function foldWords(count: number, changed: Record<string, OptionValue>): string {
  const parts = Object.entries(changed).map(([key, value]) => `${key}=${describeValue(value)}`);
  return [count === 1 ? "1 option" : `${count} options`, ...(parts.length === 0 ? [] : [parts.join(", ")])].join("; ");
}

/** A method with its options, as in Python: "psor(relaxation=1.4)". */
export function describeCall(name: string, options: Record<string, OptionValue>): string {
  const parts = Object.entries(options).map(([key, value]) => `${key}=${describeValue(value)}`);
  return parts.length === 0 ? name : `${name}(${parts.join(", ")})`;
}
