import { STATUS_CODES } from "node:http";
import type { Clock } from "../../lib/clock.ts";

/** What a request is told, as soon as that is known. */
export interface Answer {
  /** Zero until there is an answer. */
  readonly status: number;
  /** The type of its text. */
  readonly type: string;
  /** Headers beyond those that every answer has. */
  readonly headers: Iterable<readonly [name: string, value: string]> | null;
  readonly text: string;
}

/** Writes answers with the headers that Node gives its own: the same door, as far as a client can tell. */
export function createAnswerWriter(clock: Clock, keepAliveMs: number): (answer: Answer, last: boolean) => string {
  const kept = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`;
  let date = "";
  let second = 0;
  return ({ status, type, headers, text }, last) => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      second = now;
      date = new Date(now * 1000).toUTCString();
    }
    let head = status === 200 ? "HTTP/1.1 200 OK\r\n" : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
    if (headers) for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
    return `${head}content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nDate: ${date}\r\n${last ? "Connection: close\r\n\r\n" : kept}${text}`;
  };
}
