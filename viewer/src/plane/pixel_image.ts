// An image that is written pixel by pixel, and then drawn like any other.

import type { Pixels } from "./particle_stamps";

export class PixelImage {
  readonly canvas = document.createElement("canvas");
  private image: ImageData | null = null;

  /** Clear pixels of this size, four bytes each. */
  begin(width: number, height: number): Pixels {
    if (this.image?.width !== width || this.image.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = new ImageData(width, height);
    }
    const data = new Uint32Array(this.image.data.buffer);
    data.fill(0);
    return { width, height, data };
  }

  /** Brings the pixels to the canvas. */
  finish(): void {
    // Read often: pixels then stay where they were written, and do not travel to a graphics card and back.
    if (this.image) this.canvas.getContext("2d", { willReadFrequently: true })!.putImageData(this.image, 0, 0);
  }
}
