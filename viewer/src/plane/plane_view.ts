// The picture of a world in the plane, on a canvas: discs and their contacts, or a liquid.

import { LIQUID, type Frame } from "../layout";
import type { SceneMessage } from "../messages";
import { DEFAULT_STYLE, type Camera, type Selection, type Style, type View } from "../view";
import { BodySpeeds } from "../body_speeds";
import { listenToGestures } from "./gestures";
import { paintBodies } from "./paint_bodies";
import { paintCaption } from "./paint_caption";
import { paintContacts, residualPlace } from "./paint_contacts";
import { paintForces } from "./paint_forces";
import { LiquidPainter } from "./paint_liquid";
import { paintSelection } from "./paint_selection";
import { paintWalls } from "./paint_walls";
import { pickAt } from "./picking";
import { paletteOf, type Picture } from "./picture";
import { type Box, PlaneCamera } from "./plane_camera";
import { type PlaneShapes, readShapes } from "./plane_shapes";
import { rangeWords } from "./range_words";
import { sceneBox } from "./scene_box";
import { decades, linearRange } from "./value_range";

/**
 * Painted by the processor: a picture of small shapes and images that change with each frame gains nothing on a
 * graphics card, and on one that is only simulated it takes twenty times as long.
 */
const SOFTWARE: CanvasRenderingContext2DSettings = { alpha: false, willReadFrequently: true };

/** In a camera's numbers: nobody is followed. */
const NOBODY = -1;

export class PlaneView implements View {
  readonly element = document.createElement("div");
  onPick: (selection: Selection | null) => void = () => {};
  onCamera: () => void = () => {};

  private readonly canvas = document.createElement("canvas");
  private readonly view = new PlaneCamera();
  private readonly speeds = new BodySpeeds();
  private readonly ended = new AbortController();
  private scene: SceneMessage | null = null;
  private shapes: PlaneShapes = { discs: [], segments: [], halfPlanes: [] };
  private liquid: LiquidPainter | null = null;
  private frame: Frame | null = null;
  private style: Style = DEFAULT_STYLE;
  private selection: Selection | null = null;
  private followed: number | null = null;
  /** Nobody has moved the camera since it was fitted to this box, so that it fits again when the size changes. */
  private isFitted = true;
  private fittedBox: Box = { low: [0, 0], high: [1, 1] };
  private request = 0;

  constructor() {
    Object.assign(this.element.style, { position: "relative", width: "100%", height: "100%", overflow: "hidden" });
    Object.assign(this.canvas.style, { position: "absolute", inset: "0", width: "100%", height: "100%" });
    this.canvas.style.touchAction = "none"; // fingers move the picture, not the page
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Picture of the scene");
    this.element.append(this.canvas);
    const events = {
      drag: (right: number, down: number) => this.moveByUser(() => this.view.shift(right, down)),
      magnify: (x: number, y: number, factor: number) => this.moveByUser(() => this.view.zoomAt(x, y, factor)),
      click: (x: number, y: number) => this.pick(x, y),
    };
    listenToGestures(this.canvas, events, this.ended.signal);
  }

  setScene(scene: SceneMessage): void {
    this.scene = scene;
    this.shapes = readShapes(scene);
    this.liquid = scene.grid ? new LiquidPainter(scene.grid) : null;
    this.frame = null;
    this.speeds.clear();
    this.fit();
  }

  show(frame: Frame | null): void {
    const before = this.followedPlace();
    this.frame = frame;
    if (frame && frame.kind !== LIQUID) this.speeds.see(frame);
    const after = this.followedPlace();
    if (after) {
      this.view.x = before ? this.view.x + after[0] - before[0] : after[0];
      this.view.y = before ? this.view.y + after[1] - before[1] : after[1];
      this.isFitted = false;
    }
    this.requestDrawing();
  }

  setStyle(style: Style): void {
    this.style = { ...style };
    this.requestDrawing();
  }

  select(selection: Selection | null): void {
    this.selection = selection;
    this.requestDrawing();
  }

  follow(body: number | null): void {
    if (body === this.followed) return;
    this.followed = body;
    const place = this.followedPlace();
    if (!place) return;
    [this.view.x, this.view.y] = place;
    this.isFitted = false;
    this.requestDrawing();
  }

  fit(): void {
    if (!this.scene) return;
    this.isFitted = true;
    this.fittedBox = sceneBox(this.scene, this.shapes, this.frame);
    this.measure();
    if (this.view.isVisible) this.view.fit(this.fittedBox);
    this.requestDrawing();
  }

  orbit(right: number, up: number): void {
    this.pan(right, up);
  }

  pan(right: number, up: number): void {
    this.move(() => this.view.shift(-right * this.view.width, up * this.view.height));
  }

  zoom(factor: number): void {
    this.move(() => this.view.zoomAt(this.view.width / 2, this.view.height / 2, factor));
  }

  /**
   * The middle [m], seen from the body that is followed where there is one; the shorter side [m]; that body; 1 where
   * the picture is to fit by itself. So a second picture follows its own body, and fits as long as the first one does.
   */
  camera(): Camera {
    const place = this.followedPlace();
    const [x, y] = place ?? [0, 0];
    return [this.view.x - x, this.view.y - y, this.view.span, place ? this.followed! : NOBODY, +this.isFitted];
  }

  setCamera(camera: Camera): void {
    const [x = 0, y = 0, span = 0, body = NOBODY, isFitted = 0] = camera;
    this.measure();
    if (!(span > 0) || !this.view.isVisible) return; // nobody has seen the one picture or the other yet
    const [shiftX, shiftY] = this.placeOf(body) ?? [0, 0];
    this.move(() => {
      [this.view.x, this.view.y] = [x + shiftX, y + shiftY];
      this.view.setSpan(span);
    });
    this.isFitted = isFitted === 1;
  }

  resize(): void {
    this.requestDrawing();
  }

  dispose(): void {
    this.ended.abort();
    cancelAnimationFrame(this.request);
    this.element.remove();
  }

  private moveByUser(change: () => void): void {
    this.move(change);
    this.onCamera();
  }

  private move(change: () => void): void {
    this.measure();
    change();
    this.isFitted = false;
    this.requestDrawing();
  }

  private followedPlace(): [number, number] | null {
    return this.followed === null ? null : this.placeOf(this.followed);
  }

  private placeOf(body: number): [number, number] | null {
    const { frame } = this;
    if (!frame || frame.kind === LIQUID || body < 0 || body >= frame.bodyCount) return null;
    const at = body * frame.bodyWidth;
    const [x, y] = [frame.bodies[at]!, frame.bodies[at + 1]!];
    return Number.isFinite(x) && Number.isFinite(y) ? [x, y] : null;
  }

  private pick(screenX: number, screenY: number): void {
    if (!this.frame || !this.scene) return;
    const [x, y] = this.view.pointAt(screenX, screenY);
    this.onPick(pickAt({ x, y, scale: this.view.scale }, this.frame, this.shapes, this.scene.grid, this.style));
  }

  private requestDrawing(): void {
    if (this.request === 0) this.request = requestAnimationFrame(() => this.draw());
  }

  /** Takes over the size of the element, which may be 0 as long as it is not in a page. */
  private measure(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === this.view.width && clientHeight === this.view.height) return;
    this.view.setSize(clientWidth, clientHeight);
    if (this.isFitted && this.view.isVisible) this.view.fit(this.fittedBox);
  }

  private draw(): void {
    this.request = 0;
    this.measure();
    if (!this.view.isVisible) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.view.width * ratio), Math.round(this.view.height * ratio)];
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    const context = this.canvas.getContext("2d", SOFTWARE)!;
    const palette = paletteOf(this.style.dark);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, this.view.width, this.view.height);
    const { view, scene, frame, shapes, style, selection } = this;
    if (scene && frame) this.paint({ context, ratio, camera: view, scene, shapes, frame, style, selection, palette });
  }

  private paint(picture: Picture): void {
    const { frame } = picture;
    const words = frame.kind === LIQUID ? this.paintLiquid(picture) : this.paintBodies(picture);
    paintSelection(picture);
    paintCaption(picture, words.filter((word) => word !== null));
  }

  private paintLiquid(picture: Picture): (string | null)[] {
    const range = this.liquid?.paint(picture);
    const { liquid } = picture.style;
    return range && liquid !== "separating" ? [rangeWords(liquid, range)] : [];
  }

  private paintBodies(picture: Picture): (string | null)[] {
    const { frame, style } = picture;
    const hasHeat = style.contacts === "residual";
    const residuals = hasHeat ? decades(frame.contacts, frame.contactWidth, residualPlace(frame)) : { low: 0, high: 0 };
    paintWalls(picture);
    const { values } = this.speeds;
    const speeds = style.bodies === "speed" ? { values, range: linearRange(values) } : null;
    paintBodies(picture, speeds);
    paintForces(picture);
    paintContacts(picture, residuals);
    return [speeds && rangeWords("speed", speeds.range), rangeWords("residual", residuals)];
  }
}
