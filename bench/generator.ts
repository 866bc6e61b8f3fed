import { setTimeout as pause } from "node:timers/promises";
import { serveLoads } from "./load-process.ts";
import { openLine } from "./open-line.ts";

/**
 * A load generator as a process of its own: raw sockets, request bytes made once, answers skimmed for status and length
 * where the kernel has put them. It takes far less per request than any server it measures, so the server is what is measured.
 */

export interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** The whole request, head and body; of several, each connection sends whichever is next. */
  request: string | readonly string[];
  /** The first digit of a status that is a success: 2 unless given. */
  success?: 2 | 3;
}

export interface Measured {
  answers: number;
  refused: number;
  /** From the first request to the last answer. */
  elapsedMs: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

const NOTHING = Buffer.alloc(0);
const HEAD_END = Buffer.from("\r\n\r\n");
const BUCKET_MS = 0.05;
const DIGIT_0 = 0x30;
/** Kannel lets ten wait at its door and is deaf to whoever else comes, who tries again after a second. */
const OPENED_AT_ONCE = 8;
const OPENED_EVERY_MS = 3;

/** Keeps every connection busy with one request at a time until the time is over, which begins when all of them are open. */
async function generate({ port, connections, seconds, request, success = 2 }: Load): Promise<Measured> {
  const requests = [request].flat().map((text) => Buffer.from(text));
  let next = 0;
  const buckets = new Uint32Array(400_000);
  let answers = 0;
  let refused = 0;
  let endsAt = 0;

  /** Opens a connection. It asks once it is told to, and says when it has ended. */
  const open = (): Promise<() => Promise<void>> =>
    new Promise((opened) => {
      const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
      let unread: Buffer = NOTHING;
      let usualLength = 0;
      let sentAt = 0;
      const send = (): void => {
        sentAt = performance.now();
        if (sentAt >= endsAt) return void socket.end(resolve);
        socket.write(requests[next++ % requests.length] ?? "");
      };
      const onBytes = (bytes: Buffer, count: number): void => {
        // Answers to requests of one kind are all of one length: most are known whole by their size, without a look inside.
        const isUsual = count === usualLength && unread.length === 0 && bytes[9] === DIGIT_0 + success;
        if (!isUsual) {
          unread = Buffer.concat([unread, bytes.subarray(0, count)]);
          const headEnd = unread.indexOf(HEAD_END);
          if (headEnd < 0) return;
          const head = unread.toString("latin1", 0, headEnd);
          const length = headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
          if (unread.length < length) return;
          usualLength = length;
          unread = unread.subarray(length);
          if (!head.startsWith(`HTTP/1.1 ${success}`)) refused += 1;
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
      const socket = openLine(port, () => opened(begin), onBytes, reject);
    });
  const lines: (() => Promise<void>)[] = [];
  while (lines.length < connections) {
    lines.push(
      ...(await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, connections - lines.length) }, open))),
    );
    await pause(OPENED_EVERY_MS);
  }
  const startedAt = performance.now();
  endsAt = startedAt + seconds * 1000;
  await Promise.all(lines.map((begin) => begin()));
  const elapsedMs = performance.now() - startedAt;
  return {
    answers,
    refused,
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
