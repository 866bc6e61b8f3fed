import { connect } from "node:net";

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

export async function generatePairs(load: PairLoad): Promise<MeasuredPairs> {
  const { port, key, configId, seconds, otp, status } = load;
  const request = (path: string, body: string): string =>
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\napikey: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  let pairs = 0;
  let refused = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;

  const run = (numbers: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      socket.setNoDelay(true).setEncoding("latin1");
      let unread = "";
      let place = 0;
      let isSecond = false;
      const begin = (): void => {
        if (performance.now() >= endsAt) return void socket.end(resolve);
        isSecond = false;
        const to = numbers[place++ % numbers.length] ?? "";
        socket.write(request("/v1/verify", `{"configId":"${configId}","to":"${to}"}`));
      };
      socket.on("connect", begin);
      socket.on("error", reject);
      socket.on("data", (chunk: string) => {
        unread += chunk;
        const headEnd = unread.indexOf(HEAD_END);
        if (headEnd < 0) return;
        const at = unread.toLowerCase().indexOf("content-length: ") + 16;
        const length = headEnd + 4 + Number.parseInt(unread.slice(at, at + 8), 10);
        if (unread.length < length) return;
        const answered = Number(unread.slice(9, 12));
        const id = unread.slice(headEnd + 13, headEnd + 49);
        unread = unread.slice(length);
        if (isSecond) {
          pairs += 1;
          if (answered !== status) refused += 1;
          return begin();
        }
        if (answered !== 200) refused += 1;
        isSecond = true;
        socket.write(request("/v1/verify/validate", `{"verifyId":"${id}","otp":"${otp}"}`));
      });
    });
  await Promise.all(load.numbers.map(run));
  return { pairs, refused, perSecond: (pairs * 1000) / (performance.now() - startedAt) };
}

if (process.send) {
  process.once("message", (load: PairLoad) => {
    void generatePairs(load).then((measured) => process.send?.(measured, () => process.disconnect()));
  });
}
