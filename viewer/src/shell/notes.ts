// What the server has to say, in a corner of the page. Errors stay until they are read; the rest goes by itself.

import type { Note } from "../messages";
import { make } from "../panels/panel";
import type { Store } from "../store";
import { button } from "./controls";

const SECONDS: Record<Note["level"], number | null> = { info: 6, warning: 15, error: null };
const MOST = 5;

export function addNote(store: Store, level: Note["level"], text: string): void {
  store.set("notes", [...store.get("notes"), { type: "note", level, text }]);
}

export function makeNotes(store: Store): HTMLElement {
  const list = make("div", { class: "notes", "data-testid": "notes", role: "region", "aria-label": "Messages" });
  const drawn = new Map<Note, HTMLElement>();
  const dismiss = (note: Note): void => store.set("notes", store.get("notes").filter((other) => other !== note));

  function draw(note: Note): HTMLElement {
    const close = button("dismiss", { "aria-label": "Dismiss", title: "Dismiss" }, () => dismiss(note), "×");
    const role = note.level === "info" ? "status" : "alert";
    const node = make("div", { class: "note", role, "data-level": note.level }, make("p", {}, note.text), close);
    const seconds = SECONDS[note.level];
    if (seconds !== null) goLater(node, seconds, () => dismiss(note));
    return node;
  }

  store.on(["notes"], () => {
    const notes = newestOf(store.get("notes"));
    if (notes.length < store.get("notes").length) return store.set("notes", notes);
    for (const [note, node] of drawn) {
      if (notes.includes(note)) continue;
      node.remove();
      drawn.delete(note);
    }
    for (const note of notes) {
      if (drawn.has(note)) continue;
      drawn.set(note, draw(note));
      list.append(drawn.get(note)!);
    }
  });
  return list;
}

/** The same words are said once, and only a few notes stand at a time. */
export function newestOf(notes: readonly Note[]): Note[] {
  const single = notes.filter((note, place) => !notes.slice(place + 1).some((later) => later.text === note.text));
  return single.slice(-MOST);
}

/** Who reads it (pointer over it, focus in it) has more time. */
function goLater(node: HTMLElement, seconds: number, go: () => void): void {
  let timer = window.setTimeout(go, 1e3 * seconds);
  const stay = (): void => clearTimeout(timer);
  const leave = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(go, 1e3 * seconds);
  };
  for (const event of ["pointerenter", "focusin"]) node.addEventListener(event, stay);
  for (const event of ["pointerleave", "focusout"]) node.addEventListener(event, leave);
}
