import { setTimeout as pause } from "node:timers/promises";
import { serveLoads } from "./load-process.ts";
import { openRawConnection } from "./raw-connection.ts";

/**
 * HTTP load generator in its own process: raw sockets, precomputed request bytes, responses parsed in place for status
 * and length only. It needs far less CPU per request than any server, so the server is the bottleneck.
 */

export interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** Whole requests, head and body. With several, each send takes the next one in rotation. */
  request: string | readonly string[];
  /** First digit of the expected status; default 2. */
  success?: 2 | 3;
}

export interface Measured {
  answers: number;
  refused: number;
  /** The start of the first unexpected response. */
  firstRefused?: string;
  /** From the first request to the last response. */
  elapsedMs: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

const NOTHING = Buffer.alloc(0);
const HEAD_END = Buffer.from("\r\n\r\n");
const BUCKET_MS = 0.05;
const DIGIT_0 = 0x30;
/** The head, and the code of the error. */
const SHOWN_BYTES = 1000;
/** Kannel's listen backlog holds ten connections; a client beyond that retries its SYN after a second. */
const CONNECT_BATCH = 8;
const CONNECT_INTERVAL_MS = 3;

/** Keeps one request in flight per connection until the time is over. The time starts when all connections are open. */
async function generate({ port, connections, seconds, request, success = 2 }: Load): Promise<Measured> {
  const requests = [request].flat().map((text) => Buffer.from(text));
  let next = 0;
  const buckets = new Uint32Array(400_000);
  let answers = 0;
  let refused = 0;
  let firstRefused: string | undefined;
  let endsAt = 0;

  /** Opens a connection. The returned function starts its load and resolves at the end. */
  const open = (): Promise<() => Promise<void>> =>
    new Promise((opened) => {
      const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
      let unread: Buffer = NOTHING;
      let expectedLength = 0;
      let sentAt = 0;
      const send = (): void => {
        sentAt = performance.now();
        if (sentAt >= endsAt) return void socket.end(resolve);
        socket.write(requests[next++ % requests.length] ?? "");
      };
      const onBytes = (bytes: Buffer, count: number): void => {
        // Responses of one kind have the same length. A chunk of that length is complete, so its head is not parsed.
        const isExpectedLength = count === expectedLength && unread.length === 0 && bytes[9] === DIGIT_0 + success;
        if (!isExpectedLength) {
          unread = Buffer.concat([unread, bytes.subarray(0, count)]);
          const headEnd = unread.indexOf(HEAD_END);
          if (headEnd < 0) return;
          const head = unread.toString("latin1", 0, headEnd);
          const length = headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
          if (unread.length < length) return;
          expectedLength = length;
          const response = unread.subarray(0, length);
          unread = unread.subarray(length);
          if (!head.startsWith(`HTTP/1.1 ${success}`)) {
            refused += 1;
            firstRefused ??= response.toString("utf8", 0, SHOWN_BYTES);
          }
        }
        answers += 1;
        const bucket = Math.min(buckets.length - 1, Math.floor((performance.now() - sentAt) / BUCKET_MS));
        buckets[bucket] = (buckets[bucket] ?? 0) + 1;
        send();
      };
      const begin = (): Promise<void> => {
        send();
        return ended;
      };
      const socket = openRawConnection(port, () => opened(begin), onBytes, reject);
    });
  const starts: (() => Promise<void>)[] = [];
  while (starts.length < connections) {
    starts.push(
      ...(await Promise.all(Array.from({ length: Math.min(CONNECT_BATCH, connections - starts.length) }, open))),
    );
    await pause(CONNECT_INTERVAL_MS);
  }
  const startedAt = performance.now();
  endsAt = startedAt + seconds * 1000;
  await Promise.all(starts.map((begin) => begin()));
  const elapsedMs = performance.now() - startedAt;
  return {
    answers,
    refused,
    ...(firstRefused !== undefined && { firstRefused }),
    elapsedMs,
    perSecond: (answers * 1000) / elapsedMs,
    p50Ms: quantile(buckets, answers, 0.5),
    p99Ms: quantile(buckets, answers, 0.99),
  };
}

function quantile(buckets: Uint32Array, total: number, share: number): number {
  let seen = 0;
  for (const [index, count] of buckets.entries()) {
    seen += count;
    if (seen >= total * share) return (index + 1) * BUCKET_MS;
  }
  return 0;
}

serveLoads(generate);
