import { STATUS_CODES } from "node:http";
import type { Clock } from "../../lib/clock.ts";
import { JSON_TYPE } from "../envelope.ts";

export interface Answer {
  status: number;
  headers: ReadonlyMap<string, string> | null;
  /** JSON. */
  text: string;
}

/** Writes answers with the headers that Node gives its own: the same door, as far as a client can tell. */
export function createAnswerWriter(clock: Clock, keepAliveMs: number): (answer: Answer, last: boolean) => string {
  const kept = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`;
  let date = "";
  let second = 0;
  return ({ status, headers, text }, last) => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      second = now;
      date = new Date(now * 1000).toUTCString();
    }
    let head = status === 200 ? "HTTP/1.1 200 OK\r\n" : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
    if (headers) for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
    return `${head}content-type: ${JSON_TYPE}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nDate: ${date}\r\n${last ? "Connection: close\r\n\r\n" : kept}${text}`;
  };
}
