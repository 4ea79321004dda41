// The page as a whole.

import type { Frame } from "../layout";
import { Panes } from "../panes";
import { make } from "../panels/panel";
import { offerFile, showCode } from "../panels/step_panel";
import type { Source } from "../source";
import { Store } from "../store";
import { startTheme } from "../theme";
import { DEFAULT_STYLE, type View } from "../view";
import { KeyActions } from "./actions";
import { makeHeader } from "./header";
import { makeHelp } from "./help";
import { makeLegend } from "./legend";
import { makeNotes } from "./notes";
import { Session } from "./session";
import { makeSide, type PanelMakers } from "./side";
import { makeStyleBar } from "./style_bar";
import { makeTransport } from "./transport";
import { makeLostSign, makeWaiting } from "./waiting";

export interface Makers {
  view(dimension: 2 | 3): View;
  panels: PanelMakers;
}

function makeStore(): Store {
  return new Store({
    welcome: null,
    scene: null,
    state: null,
    frames: [null],
    history: [],
    style: DEFAULT_STYLE,
    selection: null,
    follow: null,
    notes: [],
    lost: null,
    theme: "light",
  });
}

/** Puts the page into the document, and begins to listen to the source; `known` are frames that it will send. */
export function startPage(makers: Makers, source: Source, known: readonly Frame[] = []): void {
  const store = makeStore();
  const theme = startTheme(store);
  const help = makeHelp(store);
  const session = new Session(store, source, { code: showCode, file: offerFile }, known);
  const page = { help: help.toggle, theme: theme.toggle };
  const panes = new Panes(store, (lane, place) => session.methods.methodAt(lane, place), makers.view);
  const stage = make("div", { class: "stage" }, panes.element, makeWaiting(store, session), makeLostSign(store));
  const picture = make("section", { class: "show", "aria-label": "Picture" },
    makeStyleBar(store), stage, makeLegend(store), makeTransport(store, session));
  document.body.append(
    makeHeader(store, page),
    make("main", {}, picture, makeSide(store, makers.panels)),
    makeNotes(store), help.element);
  new KeyActions(store, session, panes, page).listen();
  session.start();
}
