// Words over the picture while nothing comes, and when the connection is gone.

import { make, setText } from "../panels/panel";
import type { Store } from "../store";
import { button } from "./controls";
import type { Session } from "./session";
import { waitWords } from "./wait_words";

const REFRESH = 250; // [ms]

export function makeWaiting(store: Store, session: Session): HTMLElement {
  const words = make("span");
  const sign = make("div", { class: "waiting", role: "status", "data-testid": "waiting", hidden: true }, words);
  const refresh = (): void => {
    const text = store.get("lost") === null ? waitWords(session.waits()) : null;
    sign.hidden = text === null;
    setText(words, text ?? "");
  };
  store.on(["frames", "scene", "state", "lost"], refresh);
  setInterval(refresh, REFRESH);
  return sign;
}

export function makeLostSign(store: Store): HTMLElement {
  const reason = make("p");
  const reload = button("reload", {}, () => void tryAgain(reason), "Reload");
  const sign = make("div", { class: "lost", role: "alert", "data-testid": "lost", hidden: true }, reason, reload);
  store.on(["lost"], () => {
    const lost = store.get("lost");
    sign.hidden = lost === null;
    setText(reason, lost ?? "");
  });
  return sign;
}

const GONE = "There is no server at this address any more: start perp view again, which prints a new one.";

/** A page that cannot be had any more would take the last picture away. */
async function tryAgain(words: HTMLElement): Promise<void> {
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (answer.ok) return location.reload();
  } catch {
    // nobody answers
  }
  setText(words, GONE);
}
