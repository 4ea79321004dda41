// What keys mean. The page carries it out (`actions.ts`), and the help shows it (`help.ts`).

export type Action =
  | { do: "play-pause" | "reset" | "fit" | "help" | "escape" | "compare" | "newest" | "theme" }
  | { do: "forward" | "back"; frames: number }
  | { do: "speed"; direction: 1 | -1 }
  | { do: "method"; number: number; lane: number }
  | { do: "forces" | "islands" | "residual" | "follow" }
  | { do: "turn" | "shift"; right: number; up: number }
  | { do: "zoom"; factor: number }
  | { do: "next-body" | "next-contact"; direction: 1 | -1 }
  | { do: "go-to"; part: Part };

/** A part of the side, by its `data-part`. */
export type Part = "scene" | "method-0" | "method-1" | "step";

/** The part of a `KeyboardEvent` that matters here. */
export interface Key {
  key: string;
  code: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
}

/** Where the focus is: the name of the element, in capitals as the DOM has it, and the type of an input. */
export interface Focus {
  tag: string;
  type: string;
  editable: boolean;
}

const TURN = 0.06; // of a picture, a press
const ZOOM = 1.15;

const SLIDER_KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];
const PRESS_KEYS = [" ", "Enter"];

/** Whether the element in focus needs this key itself: a text field every key, a button only those that press it. */
export function focusTakes(focus: Focus, key: string): boolean {
  if (focus.editable || focus.tag === "TEXTAREA" || focus.tag === "SELECT") return true;
  if (focus.tag === "INPUT") {
    if (focus.type === "range") return SLIDER_KEYS.includes(key);
    if (focus.type === "checkbox") return PRESS_KEYS.includes(key);
    if (focus.type === "radio") return PRESS_KEYS.includes(key) || SLIDER_KEYS.includes(key);
    return true;
  }
  return ["BUTTON", "SUMMARY", "A"].includes(focus.tag) && PRESS_KEYS.includes(key);
}

const CAMERA: Record<string, readonly [right: number, up: number]> = {
  KeyW: [0, TURN], KeyA: [-TURN, 0], KeyS: [0, -TURN], KeyD: [TURN, 0],
};

const LETTERS: Record<string, Action> = {
  " ": { do: "play-pause" },
  ArrowUp: { do: "speed", direction: 1 },
  ArrowDown: { do: "speed", direction: -1 },
  Home: { do: "fit" },
  End: { do: "newest" },
  Escape: { do: "escape" },
  "?": { do: "help" },
  h: { do: "help" },
  c: { do: "compare" },
  f: { do: "forces" },
  i: { do: "islands" },
  r: { do: "residual" },
  b: { do: "follow" },
  t: { do: "theme" },
  n: { do: "go-to", part: "scene" },
  p: { do: "go-to", part: "step" },
  "+": { do: "zoom", factor: ZOOM },
  "=": { do: "zoom", factor: ZOOM },
  "-": { do: "zoom", factor: 1 / ZOOM },
  "[": { do: "next-body", direction: -1 },
  "]": { do: "next-body", direction: 1 },
  ",": { do: "next-contact", direction: -1 },
  ".": { do: "next-contact", direction: 1 },
};

/** What a key asks for; null where it means nothing to the page. */
export function actionFor(key: Key): Action | null {
  if (key.ctrlKey || key.altKey || key.metaKey) return null;
  const frames = key.shiftKey ? 10 : 1;
  if (key.key === "ArrowRight") return { do: "forward", frames };
  if (key.key === "ArrowLeft") return { do: "back", frames };
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(key.code);
  if (digit !== null && (key.shiftKey || /^[1-9]$/.test(key.key))) {
    return { do: "method", number: Number(digit[1]), lane: key.shiftKey ? 1 : 0 };
  }
  if (key.key.toLowerCase() === "m") return { do: "go-to", part: key.shiftKey ? "method-1" : "method-0" };
  if (/^[1-9]$/.test(key.key)) return { do: "method", number: Number(key.key), lane: 0 };
  const camera = CAMERA[key.code];
  if (camera !== undefined) return { do: key.shiftKey ? "shift" : "turn", right: camera[0], up: camera[1] };
  return LETTERS[key.key.length === 1 ? key.key.toLowerCase() : key.key] ?? null;
}

/** For the help: keys, and what they do. */
export const KEY_HELP: readonly (readonly [title: string, rows: readonly (readonly [keys: string, words: string])[]])[] = [
  ["Time", [
    ["space", "play, pause"],
    ["→", "one step; the next frame after going back"],
    ["←", "the frame before"],
    ["shift → ←", "ten at once"],
    ["end", "back to the newest frame"],
    ["↑ ↓", "faster, slower"],
  ]],
  ["Picture", [
    ["w a s d", "turn the camera; in the plane shift it"],
    ["shift w a s d", "shift the camera"],
    ["+ −", "magnify"],
    ["home", "the whole scene"],
    ["f", "forces as arrows"],
    ["i", "islands by colour"],
    ["r", "residual as heat"],
    ["t", "light or dark"],
  ]],
  ["Selection", [
    ["] [", "next body, the one before"],
    [". ,", "contact (or cell) with the next smaller, next larger residual"],
    ["b", "follow the selected body"],
    ["esc", "close, leave a field, select nothing"],
  ]],
  ["Methods", [
    ["c", "two methods side by side"],
    ["1 … 9", "choose the method"],
    ["shift 1 … 9", "choose the second method"],
  ]],
  ["Panels", [
    ["n", "choose the scene"],
    ["m", "choose the method and its options"],
    ["shift m", "those of the second method"],
    ["p", "this step: save it, copy the Python"],
    ["h ?", "this help"],
  ]],
];
