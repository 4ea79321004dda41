// Which contact or body comes next by keyboard, and what a selected contact is called in the next frame.

import type { Frame } from "../layout";
import type { Selection } from "../view";

function squaredDistance(a: Frame, contact: number, b: Frame, other: number): number {
  let sum = 0;
  for (let axis = 0; axis < a.dimension; axis++) {
    const gap = a.contacts[contact * a.contactWidth + axis]! - b.contacts[other * b.contactWidth + axis]!;
    sum += gap * gap;
  }
  return sum;
}

/**
 * The number that a contact of one frame has in another: contacts have no names of their own, so it is the nearest one
 * between the same two bodies. -1 where they touch no more.
 */
export function sameContact(before: Frame, contact: number, after: Frame): number {
  const [first, second] = [before.contactValue(contact, "BODY_A"), before.contactValue(contact, "BODY_B")];
  let best = -1;
  let smallest = Infinity;
  for (let other = 0; other < after.contactCount; other++) {
    if (after.contactValue(other, "BODY_A") !== first || after.contactValue(other, "BODY_B") !== second) continue;
    const distance = squaredDistance(before, contact, after, other);
    if (distance < smallest) [best, smallest] = [other, distance];
  }
  return best;
}

/** What is selected, as the next frame numbers it; null where it is gone. */
export function keepSelection(selection: Selection, before: Frame | null, after: Frame): Selection | null {
  if (selection.kind === "body" || selection.kind === "particle") {
    return selection.index < after.bodyCount ? selection : null;
  }
  if (selection.kind === "cell") return selection.index < after.cellCount ? selection : null;
  if (before === null || before === after || selection.index >= before.contactCount) {
    return selection.index < after.contactCount ? selection : null;
  }
  const index = sameContact(before, selection.index, after);
  return index < 0 ? null : { kind: "contact", index };
}

/** Numbers of contacts (of cells, in a liquid) that have a residual, the worst first. */
export function worstFirst(frame: Frame): Selection[] {
  const [kind, count] = frame.contactCount > 0 ? ["contact", frame.contactCount] as const : ["cell", frame.cellCount] as const;
  const residual = (index: number): number =>
    kind === "contact" ? frame.contactValue(index, "RESIDUAL") : frame.cells[3 * index + 2]!;
  const all = Array.from({ length: count }, (_, index) => ({ kind, index, size: residual(index) }));
  const known = all.filter(({ size }) => !Number.isNaN(size));
  const rows = known.length > 0 ? known.sort((a, b) => b.size - a.size) : kind === "contact" ? all : [];
  return rows.map(({ kind, index }) => ({ kind, index }));
}

/** The one after or before the selected one in a list that goes round; the first or last where none is selected. */
export function neighbour(list: readonly Selection[], selected: Selection | null, direction: 1 | -1): Selection | null {
  if (list.length === 0) return null;
  const at = selected === null ? -1 : list.findIndex((item) => item.kind === selected.kind && item.index === selected.index);
  if (at < 0) return direction > 0 ? list[0]! : list.at(-1)!;
  return list[(at + direction + list.length) % list.length]!;
}
