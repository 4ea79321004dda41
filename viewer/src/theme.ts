// Light or dark: what the system asks for, until the user chooses.

import type { Store } from "./store";

type Theme = "light" | "dark";

/** Keeps the page's theme in the store and on the root element, where the style sheets look for it. */
export function startTheme(store: Store): { toggle(): void } {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen: Theme | null = null;
  const apply = (): void => {
    const theme: Theme = chosen ?? (system.matches ? "dark" : "light");
    document.documentElement.dataset["theme"] = theme;
    store.set("theme", theme);
    store.set("style", { ...store.get("style"), dark: theme === "dark" });
  };
  system.addEventListener("change", apply);
  apply();
  return {
    toggle(): void {
      chosen = store.get("theme") === "dark" ? "light" : "dark";
      apply();
    },
  };
}
