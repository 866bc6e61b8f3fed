import { serveLoads } from "./load-process.ts";
import { openLine } from "./open-line.ts";
import { postRequest } from "./requests.ts";

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
/** An answer to a code that is sent begins with its id. */
const ID_AT = '{"data":"'.length;
const ID_LENGTH = 36;

/** What a connection waits for, and what the last answer to it was like. */
interface Asked {
  readonly status: string;
  length: number;
  idAt: number;
}

async function generatePairs(load: PairLoad): Promise<MeasuredPairs> {
  const { port, key, configId, seconds, otp, status } = load;
  let pairs = 0;
  let refused = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;

  const run = (numbers: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      let unread = "";
      let place = 0;
      let asked: Asked = { status: "200", length: 0, idAt: 0 };
      const [code, check] = [asked, { ...asked, status: String(status) }];
      const begin = (): void => {
        if (performance.now() >= endsAt) return void socket.end(resolve);
        asked = code;
        const to = numbers[place++ % numbers.length] ?? "";
        socket.write(postRequest(key, "/v1/verify", `{"configId":"${configId}","to":"${to}"}`), "latin1");
      };
      const onAnswer = (id: string): void => {
        if (asked === check) {
          pairs += 1;
          return begin();
        }
        asked = check;
        socket.write(postRequest(key, "/v1/verify/validate", `{"verifyId":"${id}","otp":"${otp}"}`), "latin1");
      };
      const onBytes = (bytes: Buffer, count: number): void => {
        // Answers of one kind are all of one length: most are known whole by their size, without another look inside.
        if (count === asked.length && unread === "" && bytes.toString("latin1", 9, 12) === asked.status)
          return onAnswer(bytes.toString("latin1", asked.idAt, asked.idAt + ID_LENGTH));
        unread += bytes.toString("latin1", 0, count);
        const headEnd = unread.indexOf(HEAD_END);
        if (headEnd < 0) return;
        const length = headEnd + 4 + Number(/content-length: (\d+)/i.exec(unread.slice(0, headEnd))?.[1] ?? 0);
        if (unread.length < length) return;
        if (unread.slice(9, 12) !== asked.status) refused += 1;
        asked.length = length;
        asked.idAt = headEnd + HEAD_END.length + ID_AT;
        const id = unread.slice(asked.idAt, asked.idAt + ID_LENGTH);
        unread = unread.slice(length);
        onAnswer(id);
      };
      const socket = openLine(port, begin, onBytes, reject);
    });
  await Promise.all(load.numbers.map(run));
  return { pairs, refused, perSecond: (pairs * 1000) / (performance.now() - startedAt) };
}

serveLoads(generatePairs);
