// A simulation behind a WebSocket: texts are messages, everything else is a frame.

import { Frame } from "./layout";
import type { Command, ServerMessage } from "./messages";
import type { Source, SourceEvents } from "./source";

export class LiveSource implements Source {
  readonly live = true;
  private readonly address: string;
  private socket: WebSocket | null = null;
  private gone = false;

  /** `page` is the address of the page: the socket lies beside it. */
  constructor(page: string = location.href) {
    const address = new URL("socket", page);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.search = address.hash = "";
    this.address = address.href;
  }

  start(events: SourceEvents): void {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    const lose = (reason: string): void => {
      if (this.gone) return;
      this.gone = true;
      socket.close();
      events.lost(reason);
    };
    socket.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.gone) return;
      if (typeof data === "string") return events.message(JSON.parse(data) as ServerMessage);
      let frame: Frame;
      try {
        frame = new Frame(new Float32Array(data));
      } catch (error) {
        return lose(`A frame cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
      }
      events.frame(frame);
    });
    socket.addEventListener("close", ({ code, reason }) => lose(reason || closeWords(code)));
  }

  send(command: Command): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  acknowledge(frame: Frame): void {
    this.send({ type: "ack", serial: frame.serial });
  }
}

/** What the code of a closed socket means to a person (RFC 6455, section 7.4). */
export function closeWords(code: number): string {
  switch (code) {
    case 1000: case 1001: return "The server has ended.";
    case 1006: return "The server does not answer any more: perp view was ended, or the address is an old one.";
    case 1008: case 1007: case 1003: return "The server refused a message of this page.";
    case 1009: return "The server refused a message of this page: it was too long.";
    case 1011: return "The server met an error; its terminal says more.";
    default: return `The connection was closed (code ${code}).`;
  }
}
