// Frames for the tests of the shell: only what is asked for is set.

import { BODIES, ContactNumber, Frame, Header, HEADER, LAYOUT } from "../src/layout";

type Numbers = Partial<Record<keyof typeof Header, number>>;
type Contact = { point: [number, number]; bodies: [number, number]; residual: number };

const WIDTH = 2 * 2 + 9;

/** The numbers of a frame of bodies in the plane. */
export function frameNumbers(header: Numbers, contacts: Contact[] = []): Float32Array {
  const bodies = header.BODIES ?? 0;
  const numbers = new Float32Array(HEADER + 4 * bodies + WIDTH * contacts.length);
  const all: Numbers = { LAYOUT, KIND: BODIES, DIMENSION: 2, CONTACTS: contacts.length, ...header };
  for (const [name, value] of Object.entries(all)) numbers[Header[name as keyof typeof Header]] = value;
  contacts.forEach(({ point, bodies: [a, b], residual }, index) => {
    const at = HEADER + 4 * bodies + WIDTH * index;
    numbers.set(point, at);
    numbers[at + 4 + ContactNumber.BODY_A] = a;
    numbers[at + 4 + ContactNumber.BODY_B] = b;
    numbers[at + 4 + ContactNumber.RESIDUAL] = residual;
  });
  return numbers;
}

export function makeFrame(header: Numbers, contacts: Contact[] = []): Frame {
  return new Frame(frameNumbers(header, contacts));
}
