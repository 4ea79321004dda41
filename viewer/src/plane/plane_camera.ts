// Which part of the plane is seen. Lengths of the world in metres with y up, of the picture in CSS pixels with y down.

/** The picture never magnifies more, nor shrinks more, than these multiples of its fit. */
const CLOSEST = 5000;
const FARTHEST = 1 / 200;

/** Room around a scene that was fitted: a share of the shorter side, at least so many pixels, more for the caption. */
const MARGIN = 0.04;
const LEAST_MARGIN = 14;
const BOTTOM_MARGIN = 46;

export interface Box {
  readonly low: readonly [number, number];
  readonly high: readonly [number, number];
}

export class PlaneCamera {
  /** The point in the middle [m]. */
  x = 0;
  y = 0;
  /** Pixels of a metre. */
  scale = 1;
  /** Of the picture [px]. */
  width = 0;
  height = 0;
  private fitted = 1;

  /** Whether there is a picture at all. */
  get isVisible(): boolean {
    return this.width > 0 && this.height > 0;
  }

  /** The shorter side of the picture [m]; unlike the scale it means the same in pictures of any size. */
  get span(): number {
    return Math.min(this.width, this.height) / this.scale;
  }

  /** What is seen. */
  get box(): Box {
    const [right, up] = [this.width / (2 * this.scale), this.height / (2 * this.scale)];
    return { low: [this.x - right, this.y - up], high: [this.x + right, this.y + up] };
  }

  screenX(x: number): number {
    return this.width / 2 + (x - this.x) * this.scale;
  }

  screenY(y: number): number {
    return this.height / 2 - (y - this.y) * this.scale;
  }

  /** The point of the plane that is seen at a pixel. */
  pointAt(screenX: number, screenY: number): [number, number] {
    return [this.x + (screenX - this.width / 2) / this.scale, this.y - (screenY - this.height / 2) / this.scale];
  }

  /** Another size of the picture: the middle stays, and as much of the plane as before fits the shorter side. */
  setSize(width: number, height: number): void {
    const [before, now] = [Math.min(this.width, this.height), Math.min(width, height)];
    if (before > 0 && now > 0) this.rescale(now / before);
    this.width = width;
    this.height = height;
  }

  setSpan(span: number): void {
    if (this.isVisible && span > 0) this.scale = this.clamp(Math.min(this.width, this.height) / span);
  }

  /** What is drawn moves by so many pixels, right and down. */
  shift(right: number, down: number): void {
    this.x -= right / this.scale;
    this.y += down / this.scale;
  }

  /** Magnifies; the point under this pixel stays where it is. */
  zoomAt(screenX: number, screenY: number, factor: number): void {
    if (!(factor > 0 && Number.isFinite(factor))) return;
    const [x, y] = this.pointAt(screenX, screenY);
    this.scale = this.clamp(this.scale * factor);
    const [newX, newY] = this.pointAt(screenX, screenY);
    this.x += x - newX;
    this.y += y - newY;
  }

  /** The whole box comes into sight, in the middle of the room above the caption. */
  fit(box: Box): void {
    const margin = Math.max(MARGIN * Math.min(this.width, this.height), LEAST_MARGIN);
    const [across, along] = [box.high[0] - box.low[0], box.high[1] - box.low[1]];
    this.x = (box.low[0] + box.high[0]) / 2;
    this.y = (box.low[1] + box.high[1]) / 2;
    const horizontal = Math.max(this.width - 2 * margin, 1) / Math.max(across, 1e-9);
    const below = Math.max(margin, Math.min(BOTTOM_MARGIN, 0.2 * this.height));
    const vertical = Math.max(this.height - margin - below, 1) / Math.max(along, 1e-9);
    this.scale = this.fitted = Math.min(horizontal, vertical);
    this.y -= (below - margin) / (2 * this.scale);
  }

  private rescale(factor: number): void {
    this.scale *= factor;
    this.fitted *= factor;
  }

  private clamp(scale: number): number {
    return Math.min(Math.max(scale, this.fitted * FARTHEST), this.fitted * CLOSEST);
  }
}
