// A line chart: what it shows, where the reader points at, by pointer or keyboard, and when to draw it again.

import { describeContent, nearestX, neighbourX, readOut, type ChartKind, type Content, type Level, type Series } from "./chart_content";
import { drawChart, pixelToX, planPlot, type Paints, type Plot } from "./chart_drawing";
import { make, oncePerPicture, setText } from "./panel";

const HELP = "Arrow keys go from point to point.";

export class LineChart {
  readonly element: HTMLElement;
  /** Called with the x of the point that was clicked, or where Enter was pressed. */
  onChoose: ((x: number) => void) | null = null;
  private readonly kind: ChartKind;
  private readonly canvas: HTMLCanvasElement;
  private readonly legend = make("ul", { class: "chart-legend" });
  private readonly readout: HTMLElement;
  private readonly message = make("p", { class: "empty", hidden: true });
  private content: Content = { series: [], levels: [], marker: null, message: "" };
  private plot: Plot | null = null;
  private cursor: number | null = null;
  private told = "";

  /** Draws anew before the browser shows its next picture. */
  readonly redraw = oncePerPicture(() => this.draw());

  constructor(kind: ChartKind) {
    this.kind = kind;
    this.canvas = make("canvas", {
      tabindex: 0, role: "application", "aria-roledescription": "chart", "data-action": kind.action,
    });
    this.readout = make("p", { class: "chart-readout", "aria-live": "off" });
    const caption = make("figcaption", {}, make("span", { class: "chart-title" }, kind.yTitle), this.readout);
    this.element = make("figure", { class: "chart" }, caption, this.canvas, this.message, this.legend);
    this.listen();
    new ResizeObserver(this.redraw).observe(this.canvas);
  }

  show(content: Content): void {
    this.content = content;
    this.redraw();
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this.point(this.xOf(event)));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("click", (event) => {
      const x = this.xOf(event);
      if (x !== null) this.onChoose?.(x);
    });
    // Only those who go by keyboard hear what the crosshair reads: a hovering pointer would talk without end.
    canvas.addEventListener("focus", () => this.readout.setAttribute("aria-live", "polite"));
    canvas.addEventListener("blur", () => {
      this.readout.setAttribute("aria-live", "off");
      this.point(null);
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.press(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** Whether the key means something here. */
  private press(key: string): boolean {
    if (this.plot === null) return false;
    const { series, marker } = this.content;
    const { low, high } = this.plot.x;
    const from = this.cursor ?? nearestX(series, marker ?? high);
    if (key === "Enter" && this.cursor !== null && this.onChoose !== null) this.onChoose(this.cursor);
    else if (key === "Escape" && this.cursor !== null) this.point(null);
    else if (key === "Home") this.point(nearestX(series, low));
    else if (key === "End") this.point(nearestX(series, high));
    else if (key === "ArrowLeft") this.point(neighbourX(series, from, -1));
    else if (key === "ArrowRight") this.point(neighbourX(series, from, 1));
    else return false;
    return true;
  }

  private xOf(event: MouseEvent): number | null {
    if (this.plot === null) return null;
    const x = nearestX(this.content.series, pixelToX(this.plot, event.clientX - this.canvas.getBoundingClientRect().left));
    return Number.isNaN(x) ? null : x;
  }

  private point(x: number | null): void {
    if (x === this.cursor) return;
    this.cursor = x;
    this.redraw();
  }

  private draw(): void {
    const { canvas, content, kind } = this;
    this.label();
    const hasMessage = content.message !== "";
    canvas.hidden = hasMessage;
    this.message.hidden = !hasMessage;
    setText(this.message, content.message);
    if (this.cursor !== null && nearestX(content.series, this.cursor) !== this.cursor) this.cursor = null;
    setText(this.readout, this.cursor === null ? "" : readOut(kind, content, this.cursor));
    const context = this.prepare();
    if (context === null) return;
    const widest = (texts: string[]): number => Math.max(0, ...texts.map((text) => context.measureText(text).width));
    this.plot = planPlot(kind, content, canvas.clientWidth, canvas.clientHeight, widest);
    if (this.plot !== null) drawChart(context, kind, content, this.plot, readPaints(canvas), this.cursor);
  }

  /** An empty canvas with as many pixels as the screen has there; null where it is not to be seen. */
  private prepare(): CanvasRenderingContext2D | null {
    const { canvas } = this;
    // By the processor: for small pictures it is as quick as a graphics card, and far quicker than an emulated one.
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (context === null || canvas.clientWidth === 0) return null;
    const density = devicePixelRatio || 1;
    const [width, height] = [Math.round(canvas.clientWidth * density), Math.round(canvas.clientHeight * density)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    context.font = "11px system-ui, sans-serif";
    return context;
  }

  private label(): void {
    const choose = this.onChoose === null ? "" : ` Enter goes to that ${this.kind.point}.`;
    this.canvas.setAttribute("aria-label", `${describeContent(this.kind, this.content)} ${HELP}${choose}`);
    const entries: (Series | Level)[] = [...this.content.series, ...this.content.levels];
    const told = JSON.stringify(entries.map(({ label, colour, dash }) => [label, colour, dash]));
    if (told === this.told) return;
    this.told = told;
    this.legend.hidden = entries.length < 2;
    this.legend.replaceChildren(...entries.map(legendEntry));
  }
}

function legendEntry({ label, colour, dash }: Series | Level): HTMLLIElement {
  const swatch = make("span", { class: "chart-swatch", "aria-hidden": "true" });
  swatch.style.borderTopColor = `var(${colour})`;
  swatch.style.borderTopStyle = dash.length === 0 ? "solid" : dash[0]! > 3 ? "dashed" : "dotted";
  return make("li", {}, swatch, label);
}

function readPaints(element: HTMLElement): Paints {
  const style = getComputedStyle(element);
  const of = (variable: string): string => style.getPropertyValue(variable).trim() || "gray";
  return { ink: of("--ink"), muted: of("--muted"), line: of("--line"), paper: of("--paper"), of };
}
