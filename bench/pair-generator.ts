import { serveLoads } from "./load-process.ts";
import { openRawConnection } from "./raw-connection.ts";
import { postRequest } from "./requests.ts";

/**
 * Load generator for OTP pairs in its own process: each connection requests a one-time password, then submits a code
 * for the returned id, until the time is over.
 */

export interface PairLoad {
  port: number;
  key: string;
  configId: string;
  seconds: number;
  /** Numbers per connection; each pair takes the next one. */
  numbers: readonly (readonly string[])[];
  otp: string;
  /** Expected status of the second response. */
  status: number;
}

export interface MeasuredPairs {
  pairs: number;
  refused: number;
  perSecond: number;
}

const HEAD_END = "\r\n\r\n";
/** The response to a code request begins with its id. */
const ID_AT = '{"data":"'.length;
const ID_LENGTH = 36;

/** The pending request of a connection and the shape of its last response. */
interface PendingRequest {
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
      let next = 0;
      let pending: PendingRequest = { status: "200", length: 0, idAt: 0 };
      const [code, check] = [pending, { ...pending, status: String(status) }];
      const begin = (): void => {
        if (performance.now() >= endsAt) return void socket.end(resolve);
        pending = code;
        const to = numbers[next++ % numbers.length] ?? "";
        socket.write(postRequest(key, "/v1/verify", `{"configId":"${configId}","to":"${to}"}`), "latin1");
      };
      const onResponse = (id: string): void => {
        if (pending === check) {
          pairs += 1;
          return begin();
        }
        pending = check;
        socket.write(postRequest(key, "/v1/verify/validate", `{"verifyId":"${id}","otp":"${otp}"}`), "latin1");
      };
      const onBytes = (bytes: Buffer, count: number): void => {
        // Responses of one kind have the same length. A chunk of that length is complete, so its head is not parsed.
        if (count === pending.length && unread === "" && bytes.toString("latin1", 9, 12) === pending.status)
          return onResponse(bytes.toString("latin1", pending.idAt, pending.idAt + ID_LENGTH));
        unread += bytes.toString("latin1", 0, count);
        const headEnd = unread.indexOf(HEAD_END);
        if (headEnd < 0) return;
        const length = headEnd + 4 + Number(/content-length: (\d+)/i.exec(unread.slice(0, headEnd))?.[1] ?? 0);
        if (unread.length < length) return;
        if (unread.slice(9, 12) !== pending.status) refused += 1;
        pending.length = length;
        pending.idAt = headEnd + HEAD_END.length + ID_AT;
        const id = unread.slice(pending.idAt, pending.idAt + ID_LENGTH);
        unread = unread.slice(length);
        onResponse(id);
      };
      const socket = openRawConnection(port, begin, onBytes, reject);
    });
  await Promise.all(load.numbers.map(run));
  return { pairs, refused, perSecond: (pairs * 1000) / (performance.now() - startedAt) };
}

serveLoads(generatePairs);
