// Contacts as dots, coloured by what they do or by how badly they are solved.

import { cssColour, logShare, plainColour, residualColour, stateColour } from "../colours";
import { ContactNumber, type Frame } from "../layout";
import { cssRamp, levelOf } from "./colour_tables";
import type { Picture } from "./picture";
import type { ValueRange } from "./value_range";

const HEAT_LEVELS = 32;
const DOT = 3.2; // px

/** Where the residuals of contacts stand in their numbers. */
export function residualPlace(frame: Frame): number {
  return 2 * frame.dimension + ContactNumber.RESIDUAL;
}

export function paintContacts(picture: Picture, range: ValueRange): void {
  const { context, camera, frame, style, palette } = picture;
  if (style.contacts === "hidden" || frame.contactCount === 0) return;
  const cssOf = colourChooser(picture, range);
  const radius = dotRadius(picture);
  for (const [seam, isSeam] of [[Math.min(1, 0.5 * radius), true], [0, false]] as const) {
    if (isSeam) context.fillStyle = palette.paper;
    for (let contact = 0, at = 0; contact < frame.contactCount; contact++, at += frame.contactWidth) {
      const [x, y] = [camera.screenX(frame.contacts[at]!), camera.screenY(frame.contacts[at + 1]!)];
      if (!(x > -radius && y > -radius && x < camera.width + radius && y < camera.height + radius)) continue;
      if (!isSeam) context.fillStyle = cssOf(contact);
      context.beginPath();
      context.arc(x, y, radius + seam, 0, 2 * Math.PI);
      context.fill();
    }
  }
}

/** Dots of a crowd are smaller: they leave most of a body free. */
export function dotRadius({ camera, shapes }: Picture): number {
  const first = shapes.discs[Math.floor(shapes.discs.length / 2)];
  return first ? Math.min(DOT, Math.max(1, 0.22 * first.radius * camera.scale)) : DOT;
}

function colourChooser({ frame, style }: Picture, { low, high }: ValueRange): (contact: number) => string {
  if (style.contacts === "plain") {
    const css = cssColour(plainColour(style.dark));
    return () => css;
  }
  if (style.contacts === "state") {
    const known = [0, 1, 2, 3].map((state) => cssColour(stateColour(state, style.dark)));
    const unknown = cssColour(stateColour(-1, style.dark));
    return (contact) => known[frame.contactValue(contact, "STATE")] ?? unknown;
  }
  const ramp = cssRamp((share) => residualColour(10 ** share, 1, 10, style.dark), HEAT_LEVELS);
  const unknown = cssColour(residualColour(NaN, 1, 10, style.dark));
  return (contact) => {
    const share = logShare(frame.contactValue(contact, "RESIDUAL"), low, high);
    return Number.isNaN(share) ? unknown : ramp[levelOf(share, HEAT_LEVELS)]!;
  };
}
