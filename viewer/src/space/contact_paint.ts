// The colours of contacts, by what the page asks for.

import { logShare, plainColour, residualColour, stateColour } from "../colours";
import type { Frame } from "../layout";
import type { Style } from "../view";
import { ColourList, ColourRamp, writeColour } from "./colour_table";

/** Colours of contacts as bytes, four a contact; the last one is free. */
export class ContactPaint {
  private style: Style | null = null;
  private states = new ColourList(() => [0, 0, 0]);
  private heat = new ColourRamp(() => [0, 0, 0]);

  paint(frame: Frame, style: Style, into: Uint8Array): void {
    if (style.dark !== this.style?.dark) {
      this.states = new ColourList((state) => stateColour(state, style.dark));
      this.heat = new ColourRamp((share) => residualColour(10 ** (share - 1), 0.1, 1, style.dark));
    }
    this.style = style;
    const count = frame.contactCount;
    if (style.contacts === "residual") {
      const [low, high] = residualRange(frame);
      for (let k = 0; k < count; k++) {
        this.heat.write(logShare(frame.contactValue(k, "RESIDUAL"), low, high), into, 4 * k);
      }
    } else if (style.contacts === "plain") {
      const colour = plainColour(style.dark);
      for (let k = 0; k < count; k++) writeColour(colour, into, 4 * k);
    } else {
      for (let k = 0; k < count; k++) this.states.write(frame.contactValue(k, "STATE"), into, 4 * k);
    }
  }
}

/** The smallest and the largest residual among contacts, over at most eight powers of ten. */
export function residualRange(frame: Frame): [number, number] {
  let [low, high] = [Infinity, 0];
  for (let k = 0; k < frame.contactCount; k++) {
    const value = frame.contactValue(k, "RESIDUAL");
    if (value > 0 && value < low) low = value;
    if (value > high && value < Infinity) high = value;
  }
  return [Math.max(Math.min(low, high), 1e-8 * high), high];
}
