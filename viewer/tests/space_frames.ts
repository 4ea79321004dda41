// Frames of a few bodies and contacts, as the server would send them.

import { BODIES, Frame, HEADER, Header, LAYOUT } from "../src/layout";

const CONTACT_WIDTH = 15;

/** Rows of bodies (x y z, w x y z, island) and of contacts (point, impulse, then state and residual). */
export function makeFrame(
  bodies: number[][],
  contacts: { point: number[]; impulse: number[]; state?: number; residual?: number }[] = [],
  time = 0,
): Frame {
  const header = new Array<number>(HEADER).fill(0);
  header[Header.LAYOUT] = LAYOUT;
  header[Header.KIND] = BODIES;
  header[Header.TIME] = time;
  header[Header.STEP] = Math.round(2 * time);
  header[Header.DIMENSION] = 3;
  header[Header.BODIES] = bodies.length;
  header[Header.CONTACTS] = contacts.length;
  const rows = contacts.map(({ point, impulse, state = 0, residual = NaN }) => {
    const row = [...point, ...impulse, 0, 1, state, 0, 0, 0, 0, residual, 0];
    if (row.length !== CONTACT_WIDTH) throw new Error("a contact has fifteen numbers");
    return row;
  });
  return new Frame(new Float32Array([...header, ...bodies.flat(), ...rows.flat()]));
}
