// What shaders look up by number: one record of a few texels for each shape or arrow.
//
// Instances of their own would be the usual way, but each costs a renderer without a graphics card as much as a whole
// draw call. So an instance here is a batch of many copies of the unit geometry, and copies look up their records.

import { BufferAttribute, BufferGeometry, DataTexture, FloatType, InstancedBufferGeometry, RGBAFormat } from "three";

/** Records side by side in the texture. */
const IN_A_ROW = 256;
/** Vertices of a batch: at most so many, so that short indices do. */
const BATCH_VERTICES = 16_384;

/** In a shader: texel `part` of record `number`; `recordTexels` are those of a record. */
export const RECORD_SHADER = `
in float copy;
uniform highp sampler2D records;
uniform int recordTexels, recordCount, batch;

int recordNumber() { return gl_InstanceID * batch + int(copy + 0.5); }
vec4 record(int number, int part) {
  return texelFetch(records, ivec2((number % ${IN_A_ROW}) * recordTexels + part, number / ${IN_A_ROW}), 0);
}
vec3 unpacked(float colour) {
  int bits = int(colour + 0.5);
  return vec3(bits >> 16, (bits >> 8) & 255, bits & 255) / 255.0;
}
`;

/** A colour of three bytes as a whole number, which a float holds exactly. */
export function packColour(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 65_536 + bytes[at + 1]! * 256 + bytes[at + 2]!;
}

export class Records {
  /** Four numbers a texel. */
  numbers: Float32Array<ArrayBuffer>;
  readonly stride: number;
  readonly uniforms: {
    records: { value: DataTexture };
    recordTexels: { value: number };
    recordCount: { value: number };
    batch: { value: number };
  };
  private room: number;

  constructor(texels: number, count: number, batch: number) {
    this.stride = 4 * texels;
    this.room = Math.max(Math.ceil(count / IN_A_ROW), 1) * IN_A_ROW;
    this.numbers = new Float32Array(this.room * this.stride);
    this.uniforms = {
      records: { value: this.makeTexture() },
      recordTexels: { value: texels },
      recordCount: { value: count },
      batch: { value: batch },
    };
  }

  /** Room for so many; what was there is lost where that needs more of it. */
  resize(count: number): void {
    this.uniforms.recordCount.value = count;
    if (count <= this.room) return;
    this.room = Math.ceil((1.5 * count) / IN_A_ROW) * IN_A_ROW;
    this.numbers = new Float32Array(this.room * this.stride);
    this.uniforms.records.value.dispose();
    this.uniforms.records.value = this.makeTexture();
  }

  changed(): void {
    this.uniforms.records.value.needsUpdate = true;
  }

  private makeTexture(): DataTexture {
    const [width, height] = [(IN_A_ROW * this.stride) / 4, this.room / IN_A_ROW];
    return new DataTexture(this.numbers, width, height, RGBAFormat, FloatType);
  }

  dispose(): void {
    this.uniforms.records.value.dispose();
  }
}

/** Copies of a geometry in a batch, for so many records. */
export function batchSize(unit: BufferGeometry, count: number): number {
  return Math.max(Math.min(count, Math.floor(BATCH_VERTICES / unit.getAttribute("position").count)), 1);
}

/** Copies of a geometry `batch` to an instance, numbered by the attribute `copy`: for `count` records. */
export function batchGeometry(unit: BufferGeometry, batch: number, count: number): InstancedBufferGeometry {
  const geometry = new InstancedBufferGeometry();
  geometry.instanceCount = Math.ceil(count / batch);
  const vertices = unit.getAttribute("position").count;
  for (const [name, attribute] of Object.entries(unit.attributes)) {
    const one = attribute.array as Float32Array;
    const all = new Float32Array(one.length * batch);
    for (let copy = 0; copy < batch; copy++) all.set(one, copy * one.length);
    geometry.setAttribute(name, new BufferAttribute(all, attribute.itemSize));
  }
  const copies = new Float32Array(vertices * batch);
  for (let copy = 0; copy < batch; copy++) copies.fill(copy, copy * vertices, (copy + 1) * vertices);
  geometry.setAttribute("copy", new BufferAttribute(copies, 1));
  const index = unit.index!.array;
  const all = vertices * batch > 65_535 ? new Uint32Array(index.length * batch) : new Uint16Array(index.length * batch);
  for (let copy = 0; copy < batch; copy++) {
    const at = copy * index.length;
    for (let place = 0; place < index.length; place++) all[at + place] = index[place]! + copy * vertices;
  }
  geometry.setIndex(new BufferAttribute(all, 1));
  return geometry;
}
