// How a frame lies in its message; `src/perp/viewer/layout.py` has the words, and a test compares the two.

export const LAYOUT = 1;
export const HEADER = 32;
export const BODIES = 1;
export const LIQUID = 2;

export const Header = {
  LAYOUT: 0,
  KIND: 1,
  LANE: 2,
  SERIAL: 3,
  STEP: 4,
  TIME: 5,
  DIMENSION: 6,
  BODIES: 7,
  CONTACTS: 8,
  CELLS: 9,
  CURVE: 10,
  ROWS: 11,
  ITERATIONS: 12,
  STATUS: 13,
  RESIDUAL: 14,
  SOLVE_SECONDS: 15,
  STEP_SECONDS: 16,
  ENERGY: 17,
  ENERGY_MEAN: 18,
  ENERGY_MAX: 19,
  PENETRATION: 20,
  ISLANDS: 21,
  WARM: 22,
  TOL: 23,
  PLACE: 24,
  VOLUME: 25,
  CONVERGED: 26,
} as const;

export const ContactNumber = {
  BODY_A: 0,
  BODY_B: 1,
  STATE: 2,
  NORMAL_IMPULSE: 3,
  GAP: 4,
  OPENING: 5,
  SLIP: 6,
  RESIDUAL: 7,
  ENERGY_ERROR: 8,
} as const;

const CONTACT_NUMBERS = 9;
export const CELL_NUMBERS = 3;
export const CURVE_NUMBERS = 2;

/** Contact states, in the order of `perp.ContactState`. */
export const CONTACT_STATES = ["sticking", "sliding", "separating", "grazing"] as const;

/** One frame, read in place: nothing is copied. */
export class Frame {
  readonly header: Float32Array;
  readonly kind: number;
  readonly lane: number;
  readonly serial: number;
  readonly step: number;
  readonly time: number;
  readonly dimension: number;
  readonly place: number;
  readonly bodyCount: number;
  readonly contactCount: number;
  readonly cellCount: number;
  readonly curveCount: number;
  readonly bodyWidth: number;
  readonly contactWidth: number;
  readonly bodies: Float32Array;
  readonly contacts: Float32Array;
  readonly cells: Float32Array;
  readonly curve: Float32Array;
  /** Numbers of the whole frame. */
  readonly length: number;

  /** Reads the frame that begins at `offset` (in numbers); throws where it does not fit. */
  constructor(numbers: Float32Array, offset = 0) {
    if (numbers.length < offset + HEADER) throw new Error("a frame is shorter than its header");
    this.header = numbers.subarray(offset, offset + HEADER);
    if (this.value("LAYOUT") !== LAYOUT) throw new Error(`layout ${this.value("LAYOUT")} is not the page's, ${LAYOUT}`);
    this.kind = this.value("KIND");
    this.lane = this.value("LANE");
    this.serial = this.value("SERIAL");
    this.step = this.value("STEP");
    this.time = this.value("TIME");
    this.dimension = this.value("DIMENSION");
    this.place = this.value("PLACE");
    this.bodyCount = this.value("BODIES");
    this.contactCount = this.value("CONTACTS");
    this.cellCount = this.value("CELLS");
    this.curveCount = this.value("CURVE");
    this.bodyWidth = this.kind === LIQUID ? this.dimension + 1 : this.dimension === 2 ? 4 : 8;
    this.contactWidth = 2 * this.dimension + CONTACT_NUMBERS;
    let place = offset + HEADER;
    const section = (count: number, width: number): Float32Array => {
      const end = place + count * width;
      if (!(end <= numbers.length)) throw new Error("a frame is shorter than its header says");
      const part = numbers.subarray(place, end);
      place = end;
      return part;
    };
    this.bodies = section(this.bodyCount, this.bodyWidth);
    this.contacts = section(this.contactCount, this.contactWidth);
    this.cells = section(this.cellCount, CELL_NUMBERS);
    this.curve = section(this.curveCount, CURVE_NUMBERS);
    this.length = place - offset;
  }

  /** A number of the header, by name. */
  value(name: keyof typeof Header): number {
    return this.header[Header[name]]!;
  }

  /** A number of a contact, by name. */
  contactValue(contact: number, name: keyof typeof ContactNumber): number {
    return this.contacts[contact * this.contactWidth + 2 * this.dimension + ContactNumber[name]]!;
  }

  /** The number of the island that a body belongs to; -1 without one. */
  island(body: number): number {
    return this.kind === LIQUID ? -1 : this.bodies[(body + 1) * this.bodyWidth - 1]!;
  }
}
