// Arrays whose length changes from frame to frame: they grow by doubling, and are made again only then.

import { BufferAttribute, type BufferGeometry, DynamicDrawUsage, InstancedBufferAttribute } from "three";

type Numbers = Float32Array | Uint8Array;

export class GrowingBuffer<T extends Numbers> {
  array: T;
  private attribute: BufferAttribute | null = null;

  /** One row of `width` numbers a vertex, or an instance. Bytes stand for 0..1. */
  constructor(
    private readonly geometry: BufferGeometry,
    private readonly name: string,
    private readonly width: number,
    private readonly make: (length: number) => T,
    private readonly instanced = false,
  ) {
    this.array = make(0);
  }

  /** Room for so many rows; what was there is lost. True where the array is another one. */
  reserve(rows: number): boolean {
    if (this.attribute && this.array.length >= rows * this.width) return false;
    const room = Math.max(64, rows, Math.ceil((1.5 * this.array.length) / this.width));
    this.array = this.make(room * this.width);
    const normalized = this.array instanceof Uint8Array;
    this.attribute = this.instanced
      ? new InstancedBufferAttribute(this.array, this.width, normalized)
      : new BufferAttribute(this.array, this.width, normalized);
    this.attribute.setUsage(DynamicDrawUsage);
    this.geometry.setAttribute(this.name, this.attribute);
    return true;
  }

  /** The first `rows` rows were written. */
  changed(rows: number): void {
    if (!this.attribute) return;
    this.attribute.clearUpdateRanges();
    this.attribute.addUpdateRange(0, rows * this.width);
    this.attribute.needsUpdate = true;
  }
}
