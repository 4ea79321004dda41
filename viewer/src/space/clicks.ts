// Clicks, told apart from drags: the camera moves by dragging.

/** A pointer that moved no farther than this [CSS pixels] has clicked. */
const STEADY = 4;

export class Clicks {
  private down: { id: number; x: number; y: number } | null = null;

  /** `clicked` is told where, in CSS pixels of the element. */
  constructor(
    private readonly element: HTMLElement,
    private readonly clicked: (x: number, y: number) => void,
  ) {
    element.addEventListener("pointerdown", this.onDown);
    element.addEventListener("pointerup", this.onUp);
    element.addEventListener("pointercancel", this.onCancel);
  }

  private readonly onDown = (event: PointerEvent): void => {
    // A second finger makes a gesture of it, and no click.
    const isClick = event.isPrimary && event.button === 0;
    this.down = isClick ? { id: event.pointerId, x: event.clientX, y: event.clientY } : null;
  };

  private readonly onUp = (event: PointerEvent): void => {
    const down = this.down;
    this.down = null;
    if (!down || down.id !== event.pointerId) return;
    if (Math.hypot(event.clientX - down.x, event.clientY - down.y) > STEADY) return;
    const box = this.element.getBoundingClientRect();
    this.clicked(event.clientX - box.left, event.clientY - box.top);
  };

  private readonly onCancel = (): void => {
    this.down = null;
  };

  dispose(): void {
    this.element.removeEventListener("pointerdown", this.onDown);
    this.element.removeEventListener("pointerup", this.onUp);
    this.element.removeEventListener("pointercancel", this.onCancel);
  }
}
