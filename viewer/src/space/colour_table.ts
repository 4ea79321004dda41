// Colours as bytes, looked up without making anything: loops over contacts and bodies run once a frame.

import type { Rgb } from "../colours";

const STEPS = 128;

export function writeColour(colour: Rgb, into: Uint8Array, at: number): void {
  into[at] = 255 * colour[0];
  into[at + 1] = 255 * colour[1];
  into[at + 2] = 255 * colour[2];
}

/** A ramp over shares 0..1, with one more colour for what is not known (NaN). */
export class ColourRamp {
  private readonly bytes = new Uint8Array(3 * (STEPS + 1));

  constructor(colourOf: (share: number) => Rgb) {
    for (let step = 0; step < STEPS; step++) writeColour(colourOf(step / (STEPS - 1)), this.bytes, 3 * step);
    writeColour(colourOf(NaN), this.bytes, 3 * STEPS);
  }

  write(share: number, into: Uint8Array, at: number): void {
    const step = Number.isNaN(share) ? STEPS : Math.round(Math.min(Math.max(share, 0), 1) * (STEPS - 1));
    into[at] = this.bytes[3 * step]!;
    into[at + 1] = this.bytes[3 * step + 1]!;
    into[at + 2] = this.bytes[3 * step + 2]!;
  }
}

/** Colours of whole numbers, kept once made. */
export class ColourList {
  private bytes = new Uint8Array(0);
  private made = 0;

  constructor(private readonly colourOf: (number: number) => Rgb) {}

  /** 0 and above; anything else, NaN too, has the colour of -1. */
  write(number: number, into: Uint8Array, at: number): void {
    const place = number >= 0 ? Math.floor(number) + 1 : 0;
    if (place >= this.made) this.makeUpTo(place);
    into[at] = this.bytes[3 * place]!;
    into[at + 1] = this.bytes[3 * place + 1]!;
    into[at + 2] = this.bytes[3 * place + 2]!;
  }

  private makeUpTo(place: number): void {
    const made = Math.max(2 * this.made, place + 1, 8);
    this.bytes = new Uint8Array(3 * made);
    for (let number = 0; number < made; number++) writeColour(this.colourOf(number - 1), this.bytes, 3 * number);
    this.made = made;
  }
}
