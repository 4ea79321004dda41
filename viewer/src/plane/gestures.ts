// What pointers and wheel ask for: drag, pinch, click, magnify. Places in CSS pixels from the corner of the element.

export interface GestureEvents {
  /** The picture is to move by so much. */
  drag(right: number, down: number): void;
  /** The picture is to grow around this place. */
  magnify(x: number, y: number, factor: number): void;
  click(x: number, y: number): void;
}

/** A pointer that moves further was no click [px]. */
const CLICK_REACH = 4;
/** A notch of a wheel, of about 100, magnifies by a fifth. */
const WHEEL = 0.0018;
/** Pinching on a touchpad comes as a wheel with small numbers and the control key. */
const PINCH_WHEEL = 0.01;
const LINE = 33; // px of a line, for wheels that count lines

type Place = { x: number; y: number };

/** Listens until the signal ends it. */
export function listenToGestures(element: HTMLElement, events: GestureEvents, signal: AbortSignal): void {
  const pointers = new Map<number, Place>();
  let mayBeClick = false;
  let begin: Place = { x: 0, y: 0 };

  const placeOf = (event: MouseEvent): Place => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const down = (event: PointerEvent): void => {
    if (event.pointerType === "mouse" && event.button > 1) return;
    element.setPointerCapture(event.pointerId);
    begin = placeOf(event);
    mayBeClick = pointers.size === 0 && event.button === 0;
    pointers.set(event.pointerId, begin);
  };

  const move = (event: PointerEvent): void => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = placeOf(event);
    if (mayBeClick && Math.hypot(now.x - begin.x, now.y - begin.y) <= CLICK_REACH) return;
    mayBeClick = false;
    element.style.cursor = "grabbing";
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, now);
    if (other) pinch(before, now, other);
    else events.drag(now.x - before.x, now.y - before.y);
  };

  /** One of two fingers moves: the middle drags, the distance magnifies. */
  const pinch = (before: Place, now: Place, other: Place): void => {
    const distance = Math.max(Math.hypot(before.x - other.x, before.y - other.y), 1);
    const factor = Math.max(Math.hypot(now.x - other.x, now.y - other.y), 1) / distance;
    events.drag((now.x - before.x) / 2, (now.y - before.y) / 2);
    events.magnify((now.x + other.x) / 2, (now.y + other.y) / 2, factor);
  };

  const up = (event: PointerEvent): void => {
    if (!pointers.delete(event.pointerId)) return;
    element.style.cursor = "";
    const { x, y } = placeOf(event);
    if (mayBeClick && event.type === "pointerup") events.click(x, y);
    mayBeClick = false;
  };

  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { x, y } = placeOf(event);
    const turned = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * LINE;
    events.magnify(x, y, Math.exp(-turned * (event.ctrlKey ? PINCH_WHEEL : WHEEL)));
  };

  element.addEventListener("pointerdown", down, { signal });
  element.addEventListener("pointermove", move, { signal });
  element.addEventListener("pointerup", up, { signal });
  element.addEventListener("pointercancel", up, { signal });
  element.addEventListener("wheel", wheel, { signal, passive: false });
}
