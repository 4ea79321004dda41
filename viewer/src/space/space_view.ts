// A world in space, drawn with three.js.

import { Vector3 } from "three";
import { BODIES, type Frame, LIQUID } from "../layout";
import type { SceneMessage } from "../messages";
import { DEFAULT_STYLE, type Camera, type Selection, type Style, type View } from "../view";
import { CameraRig } from "./camera_rig";
import { PictureCanvas } from "./canvas";
import { Clicks } from "./clicks";
import { growBox } from "./framing";
import { Painter } from "./painter";
import { pickBody, pickPoint } from "./picking";
import { Stage } from "./stage";

/** A contact is picked from so far [CSS pixels]. */
const REACH = 7;

export class SpaceView implements View {
  onPick: (selection: Selection | null) => void = () => {};
  onCamera: () => void = () => {};
  private readonly picture = new PictureCanvas(() => this.request());
  private readonly stage = new Stage();
  private readonly rig = new CameraRig(this.picture.canvas, () => this.request(), () => this.onCamera());
  private readonly clicks = new Clicks(this.picture.canvas, (x, y) => this.onPick(this.pick(x, y)));
  private readonly painter: Painter | null;
  private style: Style = DEFAULT_STYLE;
  private scene: SceneMessage | null = null;
  private frame: Frame | null = null;
  private selection: Selection | null = null;
  private followed: { body: number; place: Vector3 | null } | null = null;
  private size = { width: 0, height: 0 };
  /** The size of the canvas that was drawn last. */
  private drawn = { width: 0, height: 0 };
  private isStale = false;
  private isFitDue = false;

  constructor() {
    const { context } = this.picture;
    this.painter = context ? new Painter(context, (ratio) => this.draw(ratio)) : null;
  }

  get element(): HTMLElement {
    return this.picture.element;
  }

  setScene(scene: SceneMessage): void {
    this.scene = scene;
    this.frame = null;
    this.followed = this.followed && { body: this.followed.body, place: null };
    this.rig.setScale(this.stage.build(scene));
    this.fit();
  }

  show(frame: Frame | null): void {
    this.frame = frame;
    this.isStale = true;
    this.keepInTheMiddle();
    this.request();
  }

  setStyle(style: Style): void {
    if (style.dark !== this.style.dark) this.stage.setDark(style.dark);
    this.style = style;
    this.isStale = true;
    this.request();
  }

  select(selection: Selection | null): void {
    this.selection = selection;
    this.isStale = true;
    this.request();
  }

  follow(body: number | null): void {
    this.followed = body === null ? null : { body, place: null };
    this.keepInTheMiddle();
  }

  fit(): void {
    this.isFitDue = this.size.width === 0;
    if (!this.scene || this.isFitDue) return;
    const { low, high } = this.scene;
    const box = this.frame?.kind === BODIES ? growBox(low, high, this.frame.bodies, this.frame.bodyWidth) : this.scene;
    this.rig.fit(box.low, box.high);
    if (this.followed) this.followed.place = null;
    this.keepInTheMiddle();
  }

  orbit(right: number, up: number): void {
    this.rig.orbit(right, up);
  }

  pan(right: number, up: number): void {
    this.rig.pan(right, up);
  }

  zoom(factor: number): void {
    this.rig.zoom(factor);
  }

  camera(): Camera {
    return this.rig.numbers();
  }

  setCamera(camera: Camera): void {
    this.isFitDue = false;
    this.rig.set(camera);
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    this.size = { width, height };
    if (width === 0 || height === 0) return;
    this.rig.setAspect(width / height);
    if (this.isFitDue) this.fit();
    this.request();
  }

  dispose(): void {
    this.painter?.stop();
    this.clicks.dispose();
    this.rig.dispose();
    this.stage.dispose();
    this.picture.dispose();
  }

  private request(): void {
    this.painter?.request();
  }

  /** The camera goes along with what the followed body has moved since the last frame. */
  private keepInTheMiddle(): void {
    const [followed, frame] = [this.followed, this.frame];
    if (!followed || !frame || followed.body >= frame.bodyCount) return;
    const at = followed.body * frame.bodyWidth;
    const place = new Vector3().fromArray(frame.bodies, at);
    this.rig.carry(place.clone().sub(followed.place ?? this.rig.target));
    followed.place = place;
  }

  private draw(ratio: number): void {
    const { renderer } = this.picture;
    const { width, height } = this.size;
    if (!renderer || width === 0 || height === 0) return;
    if (this.isStale) {
      if (this.frame) this.stage.show(this.frame, this.style, this.selection);
      else this.stage.clear();
      this.isStale = false;
    }
    if (renderer.getPixelRatio() !== ratio) renderer.setPixelRatio(ratio);
    if (this.drawn.width !== width || this.drawn.height !== height) renderer.setSize(width, height, false);
    this.drawn = this.size;
    const { uniforms } = this.stage.look;
    uniforms.ratio.value = ratio;
    uniforms.pixel.value = this.rig.project(uniforms.projection.value, height * ratio);
    this.stage.seeFrom(this.rig.camera.position);
    renderer.setClearColor(uniforms.background.value);
    renderer.render(this.stage.scene, this.rig.camera);
  }

  /** What is at this place of the picture [CSS pixels]. */
  private pick(x: number, y: number): Selection | null {
    const { frame, size } = this;
    if (!frame || size.width === 0) return null;
    const { projection } = this.stage.look.uniforms;
    const pointer = { x, y };
    if (frame.kind === LIQUID) {
      const pixels = (this.stage.liquid.particleRadius * size.height) / this.heightAtTarget();
      const reach = Math.max(pixels, 3);
      const index = pickPoint(frame.bodies, frame.bodyWidth, projection.value, size, pointer, reach, true);
      return index < 0 ? null : { kind: "particle", index };
    }
    if (this.style.contacts !== "hidden") {
      const index = pickPoint(frame.contacts, frame.contactWidth, projection.value, size, pointer, REACH, false);
      if (index >= 0) return { kind: "contact", index };
    }
    const origin = this.rig.camera.position;
    const direction = new Vector3((2 * x) / size.width - 1, 1 - (2 * y) / size.height, 0.5);
    direction.unproject(this.rig.camera).sub(origin).normalize();
    const ray = { origin: origin.toArray(), direction: direction.toArray() };
    const found = pickBody(ray, this.stage.bodies.groups, this.stage.bodies.meshes);
    return found && found.body >= 0 ? { kind: "body", index: found.body } : null;
  }

  /** What the picture shows there from bottom to top [m]. */
  private heightAtTarget(): number {
    const { pixel, ratio } = this.stage.look.uniforms;
    return pixel.value * this.size.height * ratio.value * this.rig.camera.position.distanceTo(this.rig.target);
  }
}
