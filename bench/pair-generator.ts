import { connect } from "node:net";
import { serveLoads } from "./load-process.ts";

/**
 * A load of pairs as a process of its own: each connection asks for a one-time password, then submits one for the id it
 * was answered, and so on until the time is over.
 */

export interface PairLoad {
  port: number;
  key: string;
  configId: string;
  seconds: number;
  /** Of each connection; it takes the next one for each pair. */
  numbers: readonly (readonly string[])[];
  otp: string;
  /** The status that the second answer has. */
  status: number;
}

export interface MeasuredPairs {
  pairs: number;
  refused: number;
  perSecond: number;
}

const HEAD_END = "\r\n\r\n";
const READ_BYTES = 65_536;

async function generatePairs(load: PairLoad): Promise<MeasuredPairs> {
  const { port, key, configId, seconds, otp, status } = load;
  const request = (path: string, body: string): string =>
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\napikey: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  let pairs = 0;
  let refused = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;

  // All connections read into the same bytes: what has come is copied before anything else comes.
  const come = Buffer.alloc(READ_BYTES);
  const run = (numbers: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      let unread = "";
      let place = 0;
      let isSecond = false;
      const begin = (): void => {
        if (performance.now() >= endsAt) return void socket.end(resolve);
        isSecond = false;
        const to = numbers[place++ % numbers.length] ?? "";
        socket.write(request("/v1/verify", `{"configId":"${configId}","to":"${to}"}`), "latin1");
      };
      const onCome = (count: number): boolean => {
        unread += come.toString("latin1", 0, count);
        const headEnd = unread.indexOf(HEAD_END);
        if (headEnd < 0) return true;
        const length = headEnd + 4 + Number(/content-length: (\d+)/i.exec(unread)?.[1] ?? 0);
        if (unread.length < length) return true;
        const answered = Number(unread.slice(9, 12));
        const id = unread.slice(headEnd + 13, headEnd + 49);
        unread = unread.slice(length);
        if (isSecond) {
          pairs += 1;
          if (answered !== status) refused += 1;
          begin();
          return true;
        }
        if (answered !== 200) refused += 1;
        isSecond = true;
        socket.write(request("/v1/verify/validate", `{"verifyId":"${id}","otp":"${otp}"}`), "latin1");
        return true;
      };
      const socket = connect(
        { host: "127.0.0.1", port, noDelay: true, onread: { buffer: come, callback: onCome } },
        begin,
      );
      socket.on("error", reject);
    });
  await Promise.all(load.numbers.map(run));
  return { pairs, refused, perSecond: (pairs * 1000) / (performance.now() - startedAt) };
}

serveLoads(generatePairs);
