// The numbers of what was clicked: of a body, a contact, a cell or a particle; with two lanes side by side.

import type { Frame } from "../layout";
import type { SceneMessage } from "../messages";
import type { Store } from "../store";
import type { Selection } from "../view";
import { contactsOf } from "./contact_forces";
import { bodyFacts, bodyName, cellFacts, contactFacts, particleFacts, stateName, type Facts, type Seen } from "./inspected";
import { NumberTable } from "./number_table";
import { formatQuantity } from "./numbers";
import { make, makeSection, oncePerPicture, setText } from "./panel";

const LISTED = 40; // contacts of a body

function sizeOf(frame: Frame, kind: Selection["kind"]): number {
  if (kind === "contact") return frame.contactCount;
  return kind === "cell" ? frame.cellCount : frame.bodyCount;
}

function factsOf(seen: Seen, scene: SceneMessage, what: Selection): Facts {
  if (what.kind === "body") return bodyFacts(seen, scene, what.index);
  if (what.kind === "contact") return contactFacts(seen.frame, scene, what.index);
  if (what.kind === "cell") return cellFacts(seen.frame, scene, what.index);
  return particleFacts(seen.frame, what.index);
}

function titleOf(scene: SceneMessage, what: Selection): string {
  if (what.kind === "body") return bodyName(scene, what.index);
  return `${what.kind} ${what.index}`;
}

/** Rows of two lanes: a lane that has no such thing says so in each of them. */
function besideEachOther(facts: (Facts | null)[]): { label: string; values: string[] }[] {
  const labels = facts.find((one) => one !== null)?.map(([label]) => label) ?? [];
  return labels.map((label, i) => ({ label, values: facts.map((one) => one?.[i]?.[1] ?? "none") }));
}

function invitation(scene: SceneMessage | null): string {
  if (scene?.kind !== "liquid") return "Click a body or a contact to see its numbers; by keyboard, press ] or the full stop.";
  return scene.dimension === 2 ? "Click a cell or a particle to see its numbers." : "Click a particle to see its numbers.";
}

/** A name that may go on in the next line after an underscore. */
function breakable(name: string): string {
  return name.replaceAll("_", "_\u200b");
}

export function makeInspector(store: Store): HTMLElement {
  const section = makeSection("Inspector", { "data-testid": "inspector" });
  const hint = make("p", { class: "empty" });
  const title = make("h3", { "data-testid": "inspected" });
  const follow = make("button", { type: "button", "data-action": "follow" });
  const close = make("button", { type: "button", "data-action": "deselect" }, "Clear");
  const numbers = new NumberTable("Numbers of what was picked");
  const listTitle = make("h4", {}, "Contacts on it");
  const list = new NumberTable("Contacts on this body", "list");
  const listFrame = make("div", { class: "list-frame" }, list.element);
  const remark = make("p", { class: "remark" });
  const buttons = make("div", { class: "buttons" }, follow, close);
  const head = make("div", { class: "picked" }, title, buttons);
  section.append(hint, head, numbers.element, listTitle, listFrame, remark);

  // The frames that were shown last, and those before them: two that follow each other give speeds.
  const shown: (Frame | null)[] = [];
  const before: (Frame | null)[] = [];

  function remember(): void {
    store.get("frames").forEach((frame, lane) => {
      if (frame === shown[lane]) return;
      // The same step comes again when a second lane begins beside it.
      if (frame?.place !== shown[lane]?.place) before[lane] = shown[lane] ?? null;
      shown[lane] = frame;
    });
  }

  function showNothing(text: string): void {
    setText(hint, text);
    hint.hidden = false;
    for (const element of [title, buttons, numbers.element, listTitle, list.element, remark]) element.hidden = true;
  }

  /** What the lane knows of it; of contacts, only where the number means the same two bodies. */
  function laneFacts(scene: SceneMessage, what: Selection, lane: number, own: Frame): Facts | null {
    const frame = store.get("frames")[lane];
    if (!frame || what.index >= sizeOf(frame, what.kind)) return null;
    const differs = (name: "BODY_A" | "BODY_B"): boolean => frame.contactValue(what.index, name) !== own.contactValue(what.index, name);
    if (what.kind === "contact" && frame !== own && (differs("BODY_A") || differs("BODY_B"))) return null;
    return factsOf({ frame, before: before[lane] ?? null }, scene, what);
  }

  function listContacts(scene: SceneMessage, frame: Frame, body: number, lane: number): void {
    const contacts = contactsOf(frame, body);
    const rows = contacts.slice(0, LISTED).map((one) => ({
      label: String(one.contact),
      values: [
        bodyName(scene, one.other),
        stateName(frame.contactValue(one.contact, "STATE")),
        formatQuantity(Math.hypot(...one.impulse), "N s"),
      ],
    }));
    list.show(["contact", "with", "state", "impulse"], rows, (row) => {
      store.set("selection", { lane, what: { kind: "contact", index: contacts[row]!.contact } });
    });
    listTitle.hidden = list.element.hidden = contacts.length === 0;
    remark.hidden = contacts.length <= LISTED;
    setText(remark, `and ${contacts.length - LISTED} more`);
  }

  const update = oncePerPicture(() => {
    const selection = store.get("selection");
    const scene = store.get("scene");
    if (selection === null || scene === null) return showNothing(invitation(scene));
    const { lane, what } = selection;
    const own = store.get("frames")[lane];
    if (!own) return showNothing("There is no frame yet.");
    if (what.index >= sizeOf(own, what.kind)) return showNothing(`There is no ${what.kind} ${what.index} in this step.`);
    for (const element of [title, buttons, numbers.element]) element.hidden = false;
    hint.hidden = true;
    setText(title, titleOf(scene, what));
    const lanes = store.get("state")?.lanes ?? [];
    const facts = lanes.length > 1 ? lanes.map((_, i) => laneFacts(scene, what, i, own)) : [laneFacts(scene, what, lane, own)];
    const columns = lanes.length > 1 ? ["", ...lanes.map((one, i) => `${i + 1}: ${breakable(one.method)}`)] : [""];
    numbers.show(columns, besideEachOther(facts));
    follow.hidden = what.kind !== "body";
    const isFollowed = store.get("follow") === what.index;
    setText(follow, isFollowed ? "Stop following" : "Follow");
    follow.setAttribute("aria-pressed", String(isFollowed));
    if (what.kind === "body") listContacts(scene, own, what.index, lane);
    else listTitle.hidden = list.element.hidden = remark.hidden = true;
  });

  follow.addEventListener("click", () => {
    const what = store.get("selection")?.what;
    if (what?.kind === "body") store.set("follow", store.get("follow") === what.index ? null : what.index);
  });
  close.addEventListener("click", () => store.set("selection", null));
  store.on(["scene"], () => {
    shown.length = before.length = 0;
  });
  store.on(["frames"], remember);
  store.on(["selection", "scene", "frames", "state", "follow"], update);
  return section;
}
