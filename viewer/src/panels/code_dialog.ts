// Shows a text that is to be copied, and copies it where the browser lets it.

import type { Code } from "../messages";
import { make, setText } from "./panel";

let dialog: HTMLDialogElement | null = null;
const text = (): HTMLTextAreaElement => dialog!.querySelector("textarea")!;
const said = (): HTMLElement => dialog!.querySelector("[role=status]")!;

function makeDialog(): HTMLDialogElement {
  const copy = make("button", { type: "button", class: "primary", "data-action": "copy-again" }, "Copy");
  const close = make("button", { type: "button", "data-action": "close-code" }, "Close");
  const made = make(
    "dialog",
    { class: "panel-dialog", "aria-labelledby": "code-title", "data-testid": "code-dialog" },
    make("h2", { id: "code-title" }, "The Python that reproduces this step"),
    make("textarea", { readonly: true, spellcheck: "false", wrap: "off", "aria-label": "Python", "data-testid": "code" }),
    make("div", { class: "buttons" }, copy, close, make("span", { role: "status" })),
  );
  copy.addEventListener("click", () => void copyText());
  close.addEventListener("click", () => made.close());
  // A click beside the dialog closes it. Keys within it are not for the page.
  made.addEventListener("click", (event) => event.target === made && made.close());
  made.addEventListener("keydown", (event) => event.stopPropagation());
  return made;
}

/** By the clipboard where the page may use it; else by the browser's own command for what is selected. */
async function copyText(): Promise<void> {
  let isCopied = false;
  try {
    await navigator.clipboard.writeText(text().value);
    isCopied = true;
  } catch {
    text().select();
    isCopied = document.execCommand("copy");
  }
  setText(said(), isCopied ? "Copied to the clipboard." : "The browser does not let the page copy: press Ctrl+C.");
  if (!isCopied) {
    text().focus();
    text().select();
  }
}

/** Opens the dialog with this text, all of it selected, and copies it. */
export function showCode(message: Code): void {
  if (dialog === null) {
    dialog = makeDialog();
    document.body.append(dialog);
  }
  text().value = message.text;
  setText(said(), "");
  if (!dialog.open) dialog.showModal();
  text().focus();
  text().select();
  text().scrollTop = 0;
  void copyText();
}
