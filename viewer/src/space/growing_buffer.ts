// Arrays whose length changes from frame to frame: they grow by doubling, and are made again only then.

import { BufferAttribute, type BufferGeometry, DynamicDrawUsage } from "three";

type Numbers = Float32Array | Uint8Array;

export class GrowingBuffer<T extends Numbers> {
  array: T;
  private attribute: BufferAttribute | null = null;

  /** One row of `width` numbers a vertex. Bytes stand for 0..1. */
  constructor(
    private readonly geometry: BufferGeometry,
    private readonly name: string,
    private readonly width: number,
    private readonly make: (length: number) => T,
  ) {
    this.array = make(0);
  }

  /** Room for so many rows; what was there is lost where that needs more of it. */
  reserve(rows: number): void {
    if (this.attribute && this.array.length >= rows * this.width) return;
    const room = Math.max(64, rows, Math.ceil((1.5 * this.array.length) / this.width));
    this.array = this.make(room * this.width);
    const normalized = this.array instanceof Uint8Array;
    this.attribute = new BufferAttribute(this.array, this.width, normalized);
    this.attribute.setUsage(DynamicDrawUsage);
    this.geometry.setAttribute(this.name, this.attribute);
  }

  /** The first `rows` rows were written. */
  changed(rows: number): void {
    if (!this.attribute) return;
    this.attribute.clearUpdateRanges();
    this.attribute.addUpdateRange(0, rows * this.width);
    this.attribute.needsUpdate = true;
  }
}
