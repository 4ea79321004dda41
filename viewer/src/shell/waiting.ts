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
  const reload = button("reload", {}, () => location.reload(), "Reload");
  const sign = make("div", { class: "lost", role: "alert", "data-testid": "lost", hidden: true }, reason, reload);
  store.on(["lost"], () => {
    const lost = store.get("lost");
    sign.hidden = lost === null;
    setText(reason, lost ?? "");
  });
  return sign;
}
