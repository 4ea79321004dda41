// The canvas of a picture in space, or the sentence that stands in its place.

import { LinearSRGBColorSpace, WebGLRenderer } from "three";
import { isSoftwareDrawn } from "./graphics";

const NO_WEBGL =
  "This browser shows no pictures in space: WebGL 2 is missing or switched off. All numbers are right nevertheless.";
const LOST = "The graphics card was taken away from this page. The picture comes back when the browser gives it back.";

export class PictureCanvas {
  readonly element = document.createElement("div");
  readonly canvas = document.createElement("canvas");
  /** Null where the browser has no WebGL 2. */
  readonly renderer: WebGLRenderer | null;
  readonly context: WebGL2RenderingContext | null;
  private readonly sentence = document.createElement("p");

  /** `restored`: everything has to be drawn again. */
  constructor(private readonly restored: () => void) {
    Object.assign(this.element.style, { position: "relative", width: "100%", height: "100%", overflow: "hidden" });
    Object.assign(this.canvas.style, { display: "block", width: "100%", height: "100%", touchAction: "none" });
    Object.assign(this.sentence.style, {
      position: "absolute",
      inset: "0",
      margin: "auto",
      padding: "1rem",
      maxWidth: "28rem",
      height: "fit-content",
      textAlign: "center",
    });
    this.sentence.setAttribute("role", "alert");
    const options: WebGLContextAttributes = { antialias: !isSoftwareDrawn(), stencil: true, alpha: false };
    this.context = this.canvas.getContext("webgl2", options);
    this.renderer = this.context ? this.makeRenderer(this.context) : null;
    if (this.renderer) this.element.append(this.canvas);
    else this.say(NO_WEBGL);
  }

  private makeRenderer(context: WebGL2RenderingContext): WebGLRenderer {
    const renderer = new WebGLRenderer({ canvas: this.canvas, context, stencil: true });
    renderer.outputColorSpace = LinearSRGBColorSpace; // as it is: shaders write what the screen takes
    renderer.sortObjects = false; // the scene is put together in the order that it is drawn in
    this.canvas.addEventListener("webglcontextlost", this.onLost);
    this.canvas.addEventListener("webglcontextrestored", this.onRestored);
    return renderer;
  }

  private readonly onLost = (event: Event): void => {
    event.preventDefault(); // or it would never come back
    this.say(LOST);
  };

  private readonly onRestored = (): void => {
    this.sentence.remove();
    this.restored();
  };

  private say(words: string): void {
    this.sentence.textContent = words;
    this.element.append(this.sentence);
  }

  /** Browsers allow a page few contexts: this one is given back at once. */
  dispose(): void {
    this.canvas.removeEventListener("webglcontextlost", this.onLost);
    this.canvas.removeEventListener("webglcontextrestored", this.onRestored);
    this.renderer?.dispose();
    this.context?.getExtension("WEBGL_lose_context")?.loseContext();
    this.element.remove();
  }
}
