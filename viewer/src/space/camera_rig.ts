// The camera: turned, shifted and brought nearer by mouse, touch, keys or numbers; z is up.

import { type Matrix4, PerspectiveCamera, Spherical, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Camera } from "../view";
import { frameBox } from "./framing";

/** Vertical angle of the camera [degrees]. */
const ANGLE = 35;
const SLOPE = Math.tan((ANGLE * Math.PI) / 360);

export class CameraRig {
  readonly camera = new PerspectiveCamera(ANGLE, 1, 0.1, 100);
  private readonly controls: OrbitControls;
  private readonly shift = new Vector3();
  private readonly sideways = new Vector3();
  private readonly spherical = new Spherical();
  private radius = 1;
  private isQuiet = false;

  /** `changed` is called at every move, `moved` only when the user made it. */
  constructor(
    canvas: HTMLElement,
    private readonly changed: () => void,
    moved: () => void,
  ) {
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(3, -4, 2);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.screenSpacePanning = true;
    this.controls.addEventListener("change", () => {
      if (this.isQuiet) return;
      changed();
      moved();
    });
  }

  get target(): Vector3 {
    return this.controls.target;
  }

  /** Radius of the scene [m]: how near and how far is drawn. */
  setScale(radius: number): void {
    this.radius = radius;
    this.controls.minDistance = 1e-3 * radius;
    this.controls.maxDistance = 60 * radius;
  }

  setAspect(aspect: number): void {
    this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }

  fit(low: readonly number[], high: readonly number[]): void {
    const { eye, target } = frameBox(low, high, SLOPE, this.camera.aspect);
    this.set([...eye, ...target]);
  }

  numbers(): Camera {
    return [...this.camera.position.toArray(), ...this.target.toArray()];
  }

  set(numbers: Camera): void {
    if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return;
    this.camera.position.fromArray(numbers, 0);
    this.target.fromArray(numbers, 3);
    this.update();
  }

  /** By shares of the picture: half a turn for its whole height. */
  orbit(right: number, up: number): void {
    this.shift.subVectors(this.camera.position, this.target);
    this.spherical.setFromCartesianCoords(this.shift.y, this.shift.z, this.shift.x); // its pole is y
    this.spherical.theta += Math.PI * right;
    this.spherical.phi = Math.min(Math.max(this.spherical.phi - Math.PI * up, 1e-3), Math.PI - 1e-3);
    this.shift.setFromSpherical(this.spherical);
    this.camera.position.set(this.shift.z, this.shift.x, this.shift.y).add(this.target);
    this.update();
  }

  pan(right: number, up: number): void {
    const height = 2 * SLOPE * this.camera.position.distanceTo(this.target);
    this.camera.updateMatrix();
    this.shift.setFromMatrixColumn(this.camera.matrix, 0).multiplyScalar(right * height * this.camera.aspect);
    this.sideways.setFromMatrixColumn(this.camera.matrix, 1).multiplyScalar(up * height);
    this.carry(this.shift.add(this.sideways));
  }

  zoom(factor: number): void {
    this.shift.subVectors(this.camera.position, this.target);
    const length = this.shift.length() / factor;
    this.shift.setLength(Math.min(Math.max(length, this.controls.minDistance), this.controls.maxDistance));
    this.camera.position.addVectors(this.target, this.shift);
    this.update();
  }

  /** Eye and target move together. */
  carry(by: Vector3): void {
    if (!Number.isFinite(by.lengthSq())) return;
    this.camera.position.add(by);
    this.target.add(by);
    this.update();
  }

  /** From the world to the picture; and metres per pixel at 1 m, of a picture so many pixels high. */
  project(into: Matrix4, pixels: number): number {
    const distance = this.camera.position.distanceTo(this.target);
    this.camera.near = Math.max(0.02 * distance, 1e-3 * this.radius);
    this.camera.far = distance + 30 * this.radius;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    into.multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse);
    return (2 * SLOPE) / pixels;
  }

  private update(): void {
    this.isQuiet = true; // or two views that follow each other would never end
    this.controls.update();
    this.isQuiet = false;
    this.changed();
  }

  dispose(): void {
    this.controls.dispose();
  }
}
