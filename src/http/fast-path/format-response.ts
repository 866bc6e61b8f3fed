import { STATUS_CODES } from "node:http";
import type { Clock } from "../../lib/clock.ts";

/** The response to a request of the fast path. */
export interface FastPathResponse {
  /** 0 until the response is ready. */
  readonly status: number;
  readonly contentType: string;
  /** Headers beyond those of every response. */
  readonly headers: Iterable<readonly [name: string, value: string]> | null;
  readonly text: string;
}

/** Formats responses with the same headers as Node's server, so that clients see no difference between the paths. */
export function createResponseFormatter(
  clock: Clock,
  keepAliveMs: number,
): (response: FastPathResponse, isLast: boolean) => string {
  const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`;
  let date = "";
  let dateSecond = 0;
  return ({ status, contentType, headers, text }, isLast) => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== dateSecond) {
      dateSecond = now;
      date = new Date(now * 1000).toUTCString();
    }
    let head = status === 200 ? "HTTP/1.1 200 OK\r\n" : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
    if (headers) for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
    return `${head}content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nDate: ${date}\r\n${isLast ? "Connection: close\r\n\r\n" : keepAlive}${text}`;
  };
}
