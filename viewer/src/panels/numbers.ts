// How numbers are written: three digits that matter, e-notation beyond 1e-3 and 1e5, units after a space.

export const NOT_RECORDED = "not recorded";

/** Three significant digits; whole numbers below 1e5 keep all of theirs. */
export function formatNumber(value: number, digits = 3): string {
  if (Number.isNaN(value)) return NOT_RECORDED;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 99999.5 || size < 1e-3) return shortExponent(value.toExponential(digits - 1));
  if (Number.isInteger(value) || size >= 10 ** digits) return String(Math.round(value));
  const text = value.toPrecision(digits);
  return text.includes("e") ? String(Math.round(value)) : text;
}

/** "1.20e-8" as "1.20e-8", "1.00e+6" as "1.00e6". */
function shortExponent(text: string): string {
  return text.replace("e+", "e");
}

/** A number with its unit; what is not known has none. */
export function formatQuantity(value: number, unit: string, digits = 3): string {
  const text = formatNumber(value, digits);
  return text === NOT_RECORDED || unit === "" ? text : `${text} ${unit}`;
}

/** "(0.100, -2, 3.50) m"; parts that are nothing but rounding beside the largest are written as 0. */
export function formatVector(values: ArrayLike<number>, unit = ""): string {
  const parts = Array.from(values);
  if (parts.some(Number.isNaN)) return NOT_RECORDED;
  const floor = 1e-7 * Math.max(...parts.map(Math.abs));
  const text = `(${parts.map((part) => formatNumber(Math.abs(part) < floor ? 0 : part)).join(", ")})`;
  return unit === "" ? text : `${text} ${unit}`;
}

/** A whole number with its thousands set apart. */
export function formatCount(value: number): string {
  return Number.isNaN(value) ? NOT_RECORDED : Math.round(value).toLocaleString("en");
}

/** As people type and read tolerances: "1e-8", "0.5", "2.5e-6"; no digit is lost. */
export function formatExactly(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(value)) return String(value);
  return size < 1e-3 || size >= 1e6 ? shortExponent(value.toExponential()) : String(value);
}
