// What a field means, beside it: while it has the focus, or the pointer rests on it. Escape puts it away.

import { make } from "./panel";

const REST = 350; // [ms] before the pointer rests
const LEAVE = 200; // [ms] to reach the hint with the pointer
const WIDTH = 280; // [px], as in the style sheet
const SPACE = 10; // [px] between field and hint

let bubble: HTMLElement | null = null;
let timer = 0;

/** One bubble for all fields. Screen readers read the field's own description instead. */
function theBubble(): HTMLElement {
  if (bubble === null) {
    bubble = make("div", { class: "panel-hint", popover: "manual", "aria-hidden": "true" });
    bubble.addEventListener("pointerenter", () => clearTimeout(timer));
    bubble.addEventListener("pointerleave", hideLater);
  }
  return bubble;
}

function show(beside: HTMLElement, text: string): void {
  if (!beside.isConnected || text === "") return;
  const element = theBubble();
  // Within an open dialog's own tree it would be inert elsewhere.
  const home = beside.closest("dialog") ?? document.body;
  if (element.parentElement !== home) home.append(element);
  element.textContent = text;
  if (!element.matches(":popover-open")) element.showPopover();
  const field = beside.getBoundingClientRect();
  const own = element.getBoundingClientRect();
  let left = field.left - WIDTH - SPACE;
  let top = field.top;
  if (left < 0) left = field.right + SPACE;
  if (left + WIDTH > innerWidth) {
    left = Math.max(0, Math.min(field.left, innerWidth - WIDTH));
    top = field.bottom + 2;
  }
  element.style.left = `${left}px`;
  element.style.top = `${Math.max(0, Math.min(top, innerHeight - own.height - SPACE))}px`;
}

function hide(): void {
  clearTimeout(timer);
  if (bubble?.matches(":popover-open")) bubble.hidePopover();
}

/** Goes away, unless the pointer reaches the bubble in time. */
function hideLater(): void {
  clearTimeout(timer);
  timer = window.setTimeout(hide, LEAVE);
}

/** Shows the text beside the element that it belongs to. */
export function addHint(element: HTMLElement, text: string): void {
  element.addEventListener("focusin", () => {
    clearTimeout(timer);
    show(element, text);
  });
  element.addEventListener("focusout", hide);
  element.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "touch") return;
    clearTimeout(timer);
    timer = window.setTimeout(() => show(element, text), REST);
  });
  element.addEventListener("pointerleave", () => {
    clearTimeout(timer);
    if (!element.contains(document.activeElement)) hideLater();
  });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !bubble?.matches(":popover-open")) return;
    hide();
    event.stopPropagation();
  });
}
